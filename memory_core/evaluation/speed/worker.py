"""The other end of `serve.py`: starts a system's process, asks it, and says in one line why it could not answer."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from memory_core.evaluation.speed.environments import PeerError, surroundings
from memory_core.evaluation.speed.systems import System

_SERVE = Path(__file__).with_name("serve.py")


class Worker:
    """One system in a process of its own, with its files in `work`."""

    def __init__(self, system: System, python: Path, given: Path, work: Path) -> None:
        self.system, self.work = system, work
        self._errors = (work / "errors.txt").open("wb")
        self._process = subprocess.Popen(
            [str(python), "-P", str(_SERVE), str(system.path), str(given), str(work)], cwd=work, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=surroundings(system, work),
        )  # fmt: skip

    def ask(self, do: str, *, seconds: float = 300.0, **values: object) -> dict[str, Any]:
        """What the system answers, `ms` among it. Raises PeerError when it fails or takes longer than `seconds`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        late = threading.Timer(seconds, self._process.kill)
        late.start()
        try:
            self._process.stdin.write(json.dumps({"do": do, **values}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        finally:
            in_time = late.is_alive()
            late.cancel()
        if not line:
            raise PeerError(f"{do} failed: {self._last_words()}" if in_time else f"{do} took more than {seconds:.0f} s")
        told = cast(dict[str, Any], json.loads(line))
        if "error" in told:
            raise PeerError(f"{do} failed: {told['error']}")
        return told

    def _last_words(self) -> str:
        self._process.wait(10)
        lines = (self.work / "errors.txt").read_text("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else f"exit code {self._process.returncode}"

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue  # what it was never told no longer matters
