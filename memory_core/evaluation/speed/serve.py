"""One system in a process of its own: commands come as JSON lines on stdin, answers with milliseconds go to stdout.

Run by path in the system's own environment, so nothing is imported here but the standard library and `given.py`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from functools import partial
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, TextIO

LOCAL = ("127.0.0.1", "::1", "localhost")


def main() -> None:
    """`serve.py SYSTEM_FILE GIVEN_FOLDER WORK_FOLDER`."""
    system, given, work = map(Path, sys.argv[1:4])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    sys.excepthook = partial(_say_why, answers)
    sys.addaudithook(_refuse_network)
    session = _module(system).Session(_module(Path(__file__).with_name("given.py")).Given.load(given), work)
    for line in sys.stdin:
        _answer(session, json.loads(line), answers)


def _say_why(answers: TextIO, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """The last answer of a process that fails is the reason."""
    sys.__excepthook__(kind, error, trace)
    print(json.dumps({"error": f"{kind.__name__}: {' '.join(str(error).split())[:300]}"}), file=answers, flush=True)


def _answer(session: Any, command: dict[str, Any], answers: TextIO) -> None:
    act = getattr(session, command.pop("do"))
    started = time.perf_counter()
    told = act(**command) or {}
    ms = 1000 * (time.perf_counter() - started)
    print(json.dumps({"ms": ms, **told}), file=answers, flush=True)


def _refuse_network(event: str, arguments: tuple[Any, ...]) -> None:
    """A measurement asks nobody: neither a model, nor a telemetry server."""
    asked = arguments[1] if event == "socket.connect" else arguments if event == "socket.getaddrinfo" else ()
    if isinstance(asked, tuple) and asked and asked[0] not in (*LOCAL, None):
        raise ConnectionRefusedError(f"No network in a measurement: {asked[0]}")


def _module(path: Path) -> ModuleType:
    """A file as a module under a name that shadows no library."""
    spec = importlib.util.spec_from_file_location(f"speed_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
