"""The commands that forget and take back: `forget`, `history`, `undo`, `purge`, `protect`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memory_core import policies
from memory_core.database_commands import forget_in_database
from memory_core.forgetting.documents import forget_document, history_document, parse_sets
from memory_core.memory import Memory
from memory_core.memory.checks import moment_given

Result = dict[str, Any]
Argument = tuple[tuple[str, ...], Mapping[str, Any]]
AT: Argument = (("--at",), {"help": "ISO time of the act; default the memory clock"})
IN_DATABASE: Argument = (
    ("--in-database",),
    {"action": "store_true", "help": "let the server compute: for memories past the RAM of this machine"},
)
THRESHOLD = 0.10  # P1 3.6


def forget_command(options: argparse.Namespace) -> Result:
    """Plan a forgetting pass, and apply exactly that plan with --apply. Raises InputError, MemoryFileError."""
    cuts = (options.threshold, options.keep, options.bytes)
    threshold = THRESHOLD if cuts == (None, None, None) and not options.where else options.threshold
    if options.in_database:
        return forget_in_database(options, threshold, moment_of(options.at))
    with opened(options) as memory:
        plan = memory.plan(
            policies.make(options.policy, parse_sets(options.set)),
            threshold=threshold,
            keep=options.keep,
            bytes=options.bytes,
            turns=options.turns,
            where=options.where or None,
            at=moment_of(options.at),
        )
        return forget_document(plan, memory.apply(plan) if options.apply else None)


def history_command(options: argparse.Namespace) -> Result:
    """Forgetting passes and other changes, oldest first."""
    with opened(options) as memory:
        return history_document(memory)


def undo_command(options: argparse.Namespace) -> Result:
    """Take a change or a pass back. Raises InputError for an unknown or undone id."""
    with opened(options) as memory:
        return memory.undo(options.id, at=_when(options, memory))


def purge_command(options: argparse.Namespace) -> Result:
    """Remove a pass for good. Raises InputError for an unknown, undone or purged id."""
    with opened(options) as memory:
        return memory.purge(options.id, at=_when(options, memory))


def protect_command(options: argparse.Namespace) -> Result:
    """Add or take away a rule that keeps nodes from every pass; without one, list the rules. Raises InputError."""
    with opened(options) as memory:
        if options.rule:
            (memory.unprotect if options.remove else memory.protect)(options.rule)
        return {"rules": [str(rule) for rule in memory.rules()]}


def opened(options: argparse.Namespace) -> Memory:
    """The memory a command works on, which must exist."""
    return Memory.open(options.memory, create=False)


def moment_of(text: str | None) -> datetime | None:
    """A time given on the command line. Raises InputError."""
    return moment_given(text) if text else None


def _when(options: argparse.Namespace, memory: Memory) -> datetime:
    return moment_of(options.at) or memory.clock or datetime.now(UTC)


def _share(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is below 0")
    return number


_CUTS: Sequence[Argument] = (
    (
        ("--threshold",),
        {"type": float, "help": f"forget scores below it; default {THRESHOLD} when no other cut is given"},
    ),
    (("--keep",), {"type": _share, "metavar": "N", "help": "keep the N nodes of greatest score"}),
    (("--bytes",), {"type": _share, "metavar": "N", "help": "keep what fits into N live bytes"}),
)
COMMANDS: dict[str, tuple[Any, str, Sequence[Argument]]] = {
    "forget": (
        forget_command,
        "show what a policy would forget; --apply forgets it",
        [
            (("--policy",), {"default": "importance", "choices": sorted(policies.found())}),
            *_CUTS,
            (("--turns",), {"default": "keep", "choices": ["keep", "with_nodes"]}),
            (
                ("--where",),
                {"action": "append", "metavar": "NAME=VALUE", "help": "person, session, label, after, before, search"},
            ),
            (("--set",), {"action": "append", "default": [], "metavar": "NAME=VALUE", "help": "e.g. half_life=30"}),
            (("--apply",), {"action": "store_true", "help": "do it; `undo` takes it back"}),
            IN_DATABASE,
            AT,
        ],
    ),
    "history": (history_command, "forgetting passes and other changes, oldest first", []),
    "undo": (undo_command, "take a change or a forgetting pass back", [(("id",), {}), AT]),
    "purge": (purge_command, "remove a forgetting pass for good and shrink the file", [(("id",), {}), AT]),
    "protect": (
        protect_command,
        "keep what a rule names from every pass: label=, speaker= or word=",
        [(("rule",), {"nargs": "?"}), (("--remove",), {"action": "store_true", "help": "take the rule away"})],
    ),
}
