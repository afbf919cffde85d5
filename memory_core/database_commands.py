"""`ask --in-database` and `forget --in-database`: the server computes, this process holds what is returned."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Any

from memory_core import policies
from memory_core.errors import InputError
from memory_core.forgetting.documents import parse_sets
from memory_core.in_database import InDatabase
from memory_core.retrieval.tuning import read_values, tuned
from memory_core.retrievers.graph import GraphRetriever
from memory_core.trace import ask_document

Result = dict[str, Any]


def ask_in_database(options: argparse.Namespace) -> Result:
    """Answer by the graph retriever. Raises InputError for what only a memory in RAM can do, MemoryFileError."""
    if options.retriever != "graph" or options.k:
        raise InputError("--in-database asks by the graph retriever alone: leave out --retriever and --k.")
    if options.touch:
        raise InputError("--in-database changes nothing: leave out --touch.")
    with InDatabase.open(options.memory) as memory:
        if options.index:
            memory.index()
        part = tuned(memory, "graph", read_values(memory, "graph", options.set))
        assert isinstance(part, GraphRetriever)
        return ask_document(memory, memory.ask(options.question, part), part)


def forget_in_database(options: argparse.Namespace, threshold: float | None, at: datetime | None) -> Result:
    """Plan by importance or budgeted, and apply with --apply. Raises InputError, MemoryFileError."""
    for given, name in ((options.bytes, "--bytes"), (options.where, "--where"), (options.turns != "keep", "--turns")):
        if given:
            raise InputError(f"--in-database cuts by --threshold or --keep, and keeps the turns: leave out {name}.")
    policy = policies.make(options.policy, parse_sets(options.set))
    with InDatabase.open(options.memory) as memory:
        plan = memory.plan(policy, threshold=threshold, keep=options.keep, at=at)
        applied = {"id": memory.apply(plan)} if options.apply else {}
        return {**plan.to_json(), "applied": options.apply, **applied}
