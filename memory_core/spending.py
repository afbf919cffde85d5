"""What is asked of priced models: an estimate before, a running total, the same wherever a call comes from."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memory_core.prices import cost, told
from memory_core.protocols import LLM, Reply


@dataclass
class Spent:
    """Tokens in and out by model. Thread-safe.

    >>> spent = Spent(); spent.add("gpt-4o-mini", 1_000_000, 0); spent.dollars
    0.15
    """

    tokens: dict[str, tuple[int, int]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, model: str, tokens_in: int, tokens_out: int) -> None:
        """One call."""
        with self._lock:
            before = self.tokens.get(model, (0, 0))
            self.tokens[model] = (before[0] + tokens_in, before[1] + tokens_out)

    @property
    def dollars(self) -> float | None:
        """US dollars; None when a model has no known price."""
        each = [cost(model, *tokens) for model, tokens in self.tokens.items()]
        return None if None in each else round(sum(one for one in each if one is not None), 6)

    @property
    def total(self) -> tuple[int, int]:
        """Tokens in and out of all models."""
        return sum(counts[0] for counts in self.tokens.values()), sum(counts[1] for counts in self.tokens.values())

    def __str__(self) -> str:
        return told(*self.total, self.dollars)

    def to_json(self) -> dict[str, object]:
        """Tokens by model and dollars."""
        models = {model: {"in": counts[0], "out": counts[1]} for model, counts in sorted(self.tokens.items())}
        return {"models": models, "dollars": self.dollars}


@dataclass(frozen=True)
class Counted:
    """A chat model that adds each reply to `spent`."""

    llm: LLM
    spent: Spent

    @property
    def id(self) -> str:
        """The model's own."""
        return self.llm.id

    @property
    def context_window(self) -> int:
        """The model's own."""
        return self.llm.context_window

    def reply(
        self, system: str, user: str, *, schema: Mapping[str, object] | None = None, max_tokens: int = 1024
    ) -> Reply:
        """The model's reply, counted. Raises as the model does."""
        reply = self.llm.reply(system, user, schema=schema, max_tokens=max_tokens)
        self.spent.add(self.llm.id, reply.tokens_in, reply.tokens_out)
        return reply

    def stream(self, system: str, user: str, *, max_tokens: int = 1024) -> Generator[str, None, Reply]:
        """The model's stream, counted at its end. Raises as the model does."""
        reply = yield from self.llm.stream(system, user, max_tokens=max_tokens)
        self.spent.add(self.llm.id, reply.tokens_in, reply.tokens_out)
        return reply


def counted(part: Any, spent: Spent) -> Any:
    """The part (extractor, reader, judge) with its model counted; one without a model as it is."""
    return replace(part, llm=Counted(part.llm, spent)) if hasattr(part, "llm") else part
