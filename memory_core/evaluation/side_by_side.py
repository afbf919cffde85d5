"""Every retriever on one question at one context size: what each brings, what only one brings, and at what price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from memory_core.context import line_tokens, within
from memory_core.memory import Memory
from memory_core.protocols import Line, RankedTurn, Retrieval, Retriever

_DEEP = 200  # turns asked for, so that the context size decides


@dataclass(frozen=True)
class Side:
    """One retriever at the given context size. `brought` are the turns its context rests on, best first.

    `verbatim` are those of them whose words stand there; the others stand there as facts read from them. `recall` is
    the share of the evidence turns brought, None without evidence; `ms` is what the retrieval itself counted.
    """

    name: str
    brought: tuple[RankedTurn, ...]
    verbatim: frozenset[str]
    only: frozenset[str]
    recall: float | None
    tokens: int
    ms: float


def side_by_side(
    memory: Memory, question: str, parts: Mapping[str, Retriever], tokens: int, evidence: Sequence[str] = ()
) -> list[Side]:
    """The retrievers in the order given; `tokens` is the size every context may have, `evidence` turn ids."""
    sides = [side(_warm(memory, question, roomy(part, tokens)), tokens, evidence) for part in parts.values()]
    held = [{turn.id for turn in one.brought} for one in sides]
    only = [own - set().union(*held[:place], *held[place + 1 :]) for place, own in enumerate(held)]
    return [replace(one, only=frozenset(own)) for one, own in zip(sides, only, strict=True)]


def _warm(memory: Memory, question: str, part: Retriever) -> Retrieval:
    """The second of two retrievals, so that no time counts what is made once for a memory."""
    memory.retrieve(question, part)
    return memory.retrieve(question, part)


def rests_on(lines: Sequence[Line]) -> set[str]:
    """The turns that lines rest on, of each its newest three (design, section 4): a speaker's node cites every turn."""
    return {turn for line in lines for turn in line.turns[-3:]}


def roomy(part: Retriever, tokens: int) -> Retriever:
    """The retriever asked for more turns than fit, with the budget as its own where it has one."""
    made: Any = part
    wanted = {"k": _DEEP, "tokens": tokens}
    changed = {one.name: wanted[one.name] for one in fields(made) if one.name in wanted}
    return replace(made, **changed) if changed else part


def side(found: Retrieval, tokens: int, evidence: Sequence[str] = ()) -> Side:
    """One retrieval cut to the context size, whole lines."""
    lines, _ = within(found.lines, tokens)
    told = rests_on(lines)
    brought = tuple(turn for turn in found.turns if turn.id in told)
    recall = sum(turn in {one.id for one in brought} for turn in evidence) / len(evidence) if evidence else None
    verbatim = frozenset(line.item for line in lines if line.turns == (line.item,))
    return Side(
        found.retriever, brought, verbatim, frozenset(), recall, sum(map(line_tokens, lines)), sum(found.ms.values())
    )
