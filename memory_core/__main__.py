"""`python -m memory_core …`: what the pages do, for scripts. Exit code 0, 1 (a one-line error) or 2 (usage)."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_core import exporters, forget_commands, server_commands
from memory_core.database_commands import ask_in_database
from memory_core.difference import difference, read_memory
from memory_core.errors import ForgettingLabError, InputError
from memory_core.evaluation.commands import EXTRACTOR_HELP, MEASURES, bench
from memory_core.forget_commands import AT, IN_DATABASE, Argument, moment_of, opened
from memory_core.importers.memories import Imported, fill, read_document
from memory_core.importers.transcripts import FORMATS
from memory_core.ingestion import PARALLEL
from memory_core.memory import Memory
from memory_core.model_commands import EMBEDDER_HELP, ingest_command, reembed_command, retry_command
from memory_core.progress import Meter
from memory_core.retrieval.tuning import read_values, tuned
from memory_core.server_commands import place
from memory_core.trace import ask_document

Result = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = _parser().parse_args(_common_first(list(sys.argv[1:] if arguments is None else arguments)))
    try:
        result = options.run(options)
    except ForgettingLabError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("error: stopped; what was done is kept, the same command goes on from there.", file=sys.stderr)
        return 1
    if result is None:
        return 0
    text = json.dumps(result, ensure_ascii=False, allow_nan=False, default=str) if options.json else _plain(result)
    _print(text)
    return 0


def _print(text: str) -> None:
    """Whoever reads may have read enough and be gone."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is not tried again at the end


def _common_first(given: list[str]) -> list[str]:
    """The options that every command has, moved ahead of a measurement's own, which take all that follows."""
    if given[:1] != ["bench"]:
        return given
    common: list[str] = []
    rest = iter(given[1:])
    left = []
    for word in rest:
        if word == "--json" or word.startswith("--memory="):
            common.append(word)
        elif word == "--memory":
            common += [word, *([value] if (value := next(rest, None)) is not None else [])]
        else:
            left.append(word)
    return ["bench", *common, *left]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m memory_core", description="A long-term memory with forgetting.")
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, (run, describe, arguments) in COMMANDS.items():
        command = commands.add_parser(name, help=describe, description=describe)
        command.add_argument("--json", action="store_true", help="print one JSON object")
        command.add_argument(
            "--memory", type=place, default=None, help="file or postgresql:// address; default $FORGETTING_LAB_MEMORY"
        )
        for flags, keywords in arguments:
            command.add_argument(*flags, **keywords)
        command.set_defaults(run=run)
    return parser


# -- commands ----------------------------------------------------------------------------------------------------------


def _stats(options: argparse.Namespace) -> Result:
    with opened(options) as memory:
        return memory.stats()


def _ask(options: argparse.Namespace) -> Result:
    if options.in_database:
        return ask_in_database(options)
    if options.index:
        raise InputError("--index makes the server's index over vectors: give --in-database with it.")
    with opened(options) as memory:
        touch_at = moment_of(options.at) or memory.clock or datetime.now(UTC)
        values = read_values(memory, options.retriever, options.set) | ({"k": options.k} if options.k else {})
        part = tuned(memory, options.retriever, values, moment_of(options.at))
        asked = memory.ask(options.question, part, touch_at=touch_at if options.touch else None)
        return ask_document(memory, asked, part)


def _export(options: argparse.Namespace) -> Result:
    with opened(options) as memory:
        return exporters.export(memory, options.file, vectors=options.vectors)


def _diff(options: argparse.Namespace) -> Result:
    return difference(read_memory(options.a), read_memory(options.b)).to_json()


def _import(options: argparse.Namespace) -> Result:
    done = Imported()
    document = read_document(options.file, done)  # first: a file that cannot be read leaves no empty memory behind
    with Memory.open(options.memory) as memory, Meter("embedding", 0) as meter:
        fill(memory, document, done, advance=meter.at)
    for problem in [*(done.missing if done.system else ()), *done.problems[:20]]:
        print(f"note: {problem}", file=sys.stderr)
    return asdict(done) | {"labels": dict(done.labels)}


def _bench(options: argparse.Namespace) -> Result:
    return bench(options.what, options.rest)


# -- arguments ---------------------------------------------------------------------------------------------------------


_MOST = 1_000_000


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > len(str(_MOST)) or not 1 <= int(text) <= _MOST:
        raise argparse.ArgumentTypeError(f"{text[:40]} is not a whole number from 1 to {_MOST:,}")
    return int(text)


_PARALLEL = (
    ("--parallel",),
    {"type": _count, "default": PARALLEL, "metavar": "N", "help": f"turns read at once, stored in order ({PARALLEL})"},
)
COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], Result | None], str, Sequence[Argument]]] = {
    "ingest": (
        ingest_command,
        "remember a transcript",
        [
            (("file",), {"type": Path}),
            (("--format",), {"default": "auto", "choices": ["auto", *FORMATS]}),
            (("--extractor",), {"help": EXTRACTOR_HELP}),
            (("--conversation",), {"help": "one conversation of the file, by its id"}),
            (("--pooled",), {"action": "store_true", "help": "every session of the file into one memory"}),
            (("--limit",), {"type": _count, "help": "only the first N turns"}),
            _PARALLEL,
        ],
    ),
    "retry": (
        retry_command,
        "read again the turns whose extraction failed",
        [(("--extractor",), {"help": EXTRACTOR_HELP}), _PARALLEL],
    ),
    "reembed": (
        reembed_command,
        "give the memory another embedder; stopped, the same command goes on from there",
        [(("--embedder",), {"required": True, "help": EMBEDDER_HELP})],
    ),
    "stats": (_stats, "what the memory holds, in counts and bytes", []),
    "ask": (
        _ask,
        "answer a question from the memory, with every step of the retrieval",
        [
            (("question",), {}),
            (("--retriever",), {"default": "graph", "choices": ["graph", "flat", "bm25", "hybrid"]}),
            (("--k",), {"type": _count, "help": "turns of flat, bm25 and hybrid; default as saved, else 5"}),
            (("--set",), {"action": "append", "default": [], "metavar": "NAME=VALUE", "help": "e.g. hops=1"}),
            (("--touch",), {"action": "store_true", "help": "mark the visited nodes and keep the question"}),
            IN_DATABASE,
            (("--index",), {"action": "store_true", "help": "with --in-database: make its vector index first"}),
            AT,
        ],
    ),
    **forget_commands.COMMANDS,
    "export": (
        _export,
        "write the memory to a .json, .graphml, .csv or .html file",
        [(("file",), {"type": Path}), (("--vectors",), {"action": "store_true", "help": "JSON only"})],
    ),
    "import": (
        _import,
        "fill a new memory from a .json, .graphml or .csv file, or an export of Mem0, Graphiti or Letta (.af)",
        [(("file",), {"type": Path})],
    ),
    "diff": (
        _diff,
        "what memory B holds more, less and other than A: memory files or exports",
        [(("a",), {"type": place}), (("b",), {"type": place})],
    ),
    **server_commands.COMMANDS,
    "bench": (
        _bench,
        "measure: see `bench --help`",
        [(("what",), {"choices": list(MEASURES)}), (("rest",), {"nargs": argparse.REMAINDER})],
    ),
}


def _plain(value: object, indent: int = 0) -> str:
    if isinstance(value, Mapping):
        return "\n".join(f"{' ' * indent}{key}: {_inline(item, indent)}" for key, item in value.items())
    return str(value)


def _inline(value: object, indent: int) -> str:
    if isinstance(value, Mapping) and value:
        return "\n" + _plain(value, indent + 2)
    if isinstance(value, list):
        return "".join(f"\n{' ' * (indent + 2)}- {entry}" for entry in value) or "none"
    return str(value)


if __name__ == "__main__":
    sys.exit(main())
