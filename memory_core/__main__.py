"""`python -m memory_core …`: what the pages do, for scripts. Exit code 0, 1 (a one-line error) or 2 (usage)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_core import exporters
from memory_core.errors import ForgettingLabError, FormatError, InputError
from memory_core.evaluation.commands import EXTRACTOR_HELP, MEASURES, bench, extractor_named
from memory_core.importers.memories import Imported, fill, read_document
from memory_core.importers.transcripts import FORMATS, Conversation, pool, read_transcript
from memory_core.ingestion import ingest
from memory_core.memory import Memory
from memory_core.progress import Meter
from memory_core.retrieval.tuning import read_values, tuned
from memory_core.trace import ask_document

Result = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["bench"]:  # what follows belongs to the measurement, but for the options every command has
        given = [
            given[0],
            *(["--json"] if "--json" in given else []),
            *(word for word in given[1:] if word != "--json"),
        ]
    options = _parser().parse_args(given)
    try:
        result = options.run(options)
    except ForgettingLabError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("error: stopped; what was done is kept, the same command goes on from there.", file=sys.stderr)
        return 1
    text = json.dumps(result, ensure_ascii=False, allow_nan=False, default=str) if options.json else _plain(result)
    print(text)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m memory_core", description="A long-term memory with forgetting.")
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, (run, describe, arguments) in COMMANDS.items():
        command = commands.add_parser(name, help=describe, description=describe)
        command.add_argument("--json", action="store_true", help="print one JSON object")
        command.add_argument(
            "--memory", type=Path, default=None, help="the memory file; default $FORGETTING_LAB_MEMORY"
        )
        for flags, keywords in arguments:
            command.add_argument(*flags, **keywords)
        command.set_defaults(run=run)
    return parser


# -- commands ----------------------------------------------------------------------------------------------------------


def _ingest(options: argparse.Namespace) -> Result:
    conversation, problems = _conversation(options)
    with Memory.open(options.memory, extractor=extractor_named(options.extractor)) as memory:
        turns = conversation.turns[: options.limit]
        with Meter("remembering", len(turns)) as meter:
            done = ingest(memory, turns, advance=meter.advance, workers=2)
    result = asdict(done) | {"statuses": dict(done.statuses), "problems": [*problems, *done.problems]}
    for problem in result["problems"]:
        print(f"left out: {problem}", file=sys.stderr)
    return result


def _conversation(options: argparse.Namespace) -> tuple[Conversation, list[str]]:
    transcript = read_transcript(options.file, options.format)
    problems = list(transcript.problems)
    if options.pooled:
        return pool(transcript), problems
    ids = [conversation.id for conversation in transcript.conversations]
    if options.conversation is not None:
        chosen = [one for one in transcript.conversations if one.id == options.conversation]
        if not chosen:
            raise InputError(f"{options.file} has no conversation {options.conversation}; it has {', '.join(ids)}.")
        return chosen[0], problems
    if len(ids) > 1:
        raise InputError(
            f"{options.file} holds {len(ids)} conversations, which never mix by themselves: give --conversation ID "
            f"or --pooled. The ids: {', '.join(ids)}"
        )
    return transcript.conversations[0], problems


def _stats(options: argparse.Namespace) -> Result:
    with _open(options) as memory:
        return memory.stats()


def _ask(options: argparse.Namespace) -> Result:
    with _open(options) as memory:
        touch_at = _moment(options.at) or memory.clock or datetime.now(UTC)
        values = read_values(memory, options.retriever, options.set) | ({"k": options.k} if options.k else {})
        part = tuned(memory, options.retriever, values, _moment(options.at))
        asked = memory.ask(options.question, part, touch_at=touch_at if options.touch else None)
        return ask_document(memory, asked, part)


def _export(options: argparse.Namespace) -> Result:
    with _open(options) as memory:
        return exporters.export(memory, options.file, vectors=options.vectors)


def _import(options: argparse.Namespace) -> Result:
    done = Imported()
    document = read_document(options.file, done)  # first: a file that cannot be read leaves no empty memory behind
    with Memory.open(options.memory) as memory, Meter("embedding", 0) as meter:
        fill(memory, document, done, advance=meter.at)
    for problem in done.problems[:20]:
        print(f"note: {problem}", file=sys.stderr)
    return asdict(done) | {"labels": dict(done.labels)}


def _history(options: argparse.Namespace) -> Result:
    with _open(options) as memory:
        rows: list[Result] = [asdict(change) | {"at": change.at.isoformat()} for change in memory.changes()]
    passes = [row | row.pop("summary") for row in rows if row["kind"] == "forget"]
    return {"passes": passes, "changes": [row for row in rows if row["kind"] != "forget"]}


def _undo(options: argparse.Namespace) -> Result:
    with _open(options) as memory:
        return memory.undo(options.id, at=_moment(options.at) or memory.clock or datetime.now(UTC))


def _bench(options: argparse.Namespace) -> Result:
    return bench(options.what, options.rest)


# -- arguments ---------------------------------------------------------------------------------------------------------


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not 1 or more")
    return number


_AT = (("--at",), {"help": "ISO time of the act; default the memory clock"})
Argument = tuple[tuple[str, ...], Mapping[str, Any]]
COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], Result], str, Sequence[Argument]]] = {
    "ingest": (
        _ingest,
        "remember a transcript",
        [
            (("file",), {"type": Path}),
            (("--format",), {"default": "auto", "choices": ["auto", *FORMATS]}),
            (("--extractor",), {"help": EXTRACTOR_HELP}),
            (("--conversation",), {"help": "one conversation of the file, by its id"}),
            (("--pooled",), {"action": "store_true", "help": "every session of the file into one memory"}),
            (("--limit",), {"type": _count, "help": "only the first N turns"}),
        ],
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
            _AT,
        ],
    ),
    "history": (_history, "forgetting passes and other changes, oldest first", []),
    "undo": (_undo, "take a change or a forgetting pass back", [(("id",), {}), _AT]),
    "export": (
        _export,
        "write the memory to a .json, .graphml, .csv or .html file",
        [(("file",), {"type": Path}), (("--vectors",), {"action": "store_true", "help": "JSON only"})],
    ),
    "import": (_import, "fill a new memory from a .json, .graphml or .csv file", [(("file",), {"type": Path})]),
    "bench": (
        _bench,
        "measure: see `bench --help`",
        [(("what",), {"choices": list(MEASURES)}), (("rest",), {"nargs": argparse.REMAINDER})],
    ),
}


def _open(options: argparse.Namespace) -> Memory:
    return Memory.open(options.memory, create=False)


def _moment(text: str | None) -> datetime | None:
    from memory_core.schema import utc

    try:
        return utc(text) if text else None
    except ValueError as error:
        raise FormatError(f"--at {text} is not an ISO 8601 time such as 2025-06-01T12:00:00Z.") from error


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
