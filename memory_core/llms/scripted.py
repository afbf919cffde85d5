"""A model whose replies a reader can work out by hand: for tests, and for trying a page without any model."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

from memory_core.errors import ProviderError
from memory_core.protocols import Reply
from memory_core.tokens import tokens_at_least


@dataclass(frozen=True)
class Asked:
    """One call as it arrived."""

    system: str
    user: str
    schema: Mapping[str, object] | None
    max_tokens: int


@dataclass(frozen=True)
class Scripted:
    """Says what it is told: of a mapping the first entry whose key stands in the user prompt, of a sequence the next.

    An entry that is an exception is raised. Raises ProviderError when nothing fits.

    >>> llm = Scripted({"sister": "Mira", "": "nothing"})
    >>> llm.reply("", "Who is my sister?").text, llm.reply("", "And you?").text
    ('Mira', 'nothing')
    """

    replies: Mapping[str, str | Reply | Exception] | Sequence[str | Reply | Exception]
    context_window: int = 8192
    model: str = "scripted"
    asked: list[Asked] = field(default_factory=list, repr=False, compare=False)

    @property
    def id(self) -> str:
        return self.model

    def reply(
        self, system: str, user: str, *, schema: Mapping[str, object] | None = None, max_tokens: int = 1024
    ) -> Reply:
        """The scripted reply; tokens are words and runs of punctuation."""
        said = self._next(user)
        self.asked.append(Asked(system, user, schema, max_tokens))
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Reply):
            return said
        return Reply(said, "stop", tokens_at_least(system + user), tokens_at_least(said), 0.0, self.model)

    def stream(self, system: str, user: str, *, max_tokens: int = 1024) -> Generator[str, None, Reply]:
        """The same reply, word by word."""
        reply = self.reply(system, user, max_tokens=max_tokens)
        yield from (word if place == 0 else f" {word}" for place, word in enumerate(reply.text.split(" ")))
        return reply

    def _next(self, user: str) -> str | Reply | Exception:
        if isinstance(self.replies, Mapping):
            for key, said in self.replies.items():
                if key in user:
                    return said
        elif len(self.asked) < len(self.replies):
            return self.replies[len(self.asked)]
        raise ProviderError("The scripted model has no reply left for this prompt.")
