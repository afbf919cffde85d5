"""Reading by a chat model: the retrieved lines as numbered data, an answer that cites them, or "not in memory"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_core.errors import ContextLengthError
from memory_core.prompts import data, prompt
from memory_core.protocols import LLM, Answer, Line, Reply, Retrieval
from memory_core.schema import Turn
from memory_core.tokens import tokens_at_most
from memory_core.validation import without_reasoning

_MARGIN = 96  # tokens for the chat template and the markers
_CITED = re.compile(r"\s*\[(?:lines?\s*)?(\d{1,4}(?:\s*,\s*\d{1,4})*)\]", re.IGNORECASE)
_NOT_THERE = re.compile(r"\W*not in (the )?memory\b", re.IGNORECASE)


@dataclass(frozen=True)
class LLMReader:
    """Answers from at most `budget` tokens of context, and never more than the model holds.

    Lines that show roots are kept first, then the others in their order; a line is kept whole or left out, and the
    context says how many were. Without lines the retrieved turns themselves are the context.
    """

    llm: LLM
    prompt_version: str = "reading-v1"
    budget: int = 4_000
    max_tokens: int = 256

    def answer(self, question: str, retrieval: Retrieval, turns: Sequence[Turn]) -> Answer:
        """Raises ProviderError, Cancelled."""
        kept, left_out = self.fitting(question, retrieval, turns)
        if not kept:
            return Answer(None, "Not in memory: nothing stored is near this question.")
        system, user = self._prompt(question, kept, left_out)
        return _understood(self.llm.reply(system, user, max_tokens=self.max_tokens), kept)

    def stream(self, question: str, retrieval: Retrieval, turns: Sequence[Turn]) -> Iterator[str | Answer]:
        """The answer's words as they come, then the Answer. Raises as `answer` does."""
        kept, left_out = self.fitting(question, retrieval, turns)
        if not kept:
            yield Answer(None, "Not in memory: nothing stored is near this question.")
            return
        system, user = self._prompt(question, kept, left_out)
        reply = yield from self.llm.stream(system, user, max_tokens=self.max_tokens)
        yield _understood(reply, kept)

    def fitting(self, question: str, retrieval: Retrieval, turns: Sequence[Turn]) -> tuple[list[Line], int]:
        """The lines the budget holds, in the order given, and how many it does not. Raises ContextLengthError."""
        lines = list(retrieval.lines) or [_line(turn) for turn in turns]
        room = min(self.budget, self._room(question))
        roots = {root.id for root in retrieval.roots}
        kept: set[int] = set()
        for place in sorted(range(len(lines)), key=lambda place: lines[place].item not in roots):
            cost = tokens_at_most(_numbered(place, lines[place])) + 1
            if cost <= room:
                room -= cost
                kept.add(place)
        if lines and not kept:
            raise ContextLengthError(f"No line of the context fits {self.llm.id}; choose a model that reads more.")
        return [lines[place] for place in sorted(kept)], len(lines) - len(kept) + retrieval.left_out

    def _room(self, question: str) -> int:
        system, user = prompt(self.prompt_version, memory="", question=data("question", question))
        return self.llm.context_window - tokens_at_most(system + user) - self.max_tokens - _MARGIN

    def _prompt(self, question: str, kept: Sequence[Line], left_out: int) -> tuple[str, str]:
        text = "\n".join(_numbered(place, line) for place, line in enumerate(kept))
        note = f"\n({left_out} more lines did not fit and were left out.)" if left_out else ""
        memory = data("memory", text) + note
        return prompt(self.prompt_version, memory=memory, question=data("question", question))


def _numbered(place: int, line: Line) -> str:
    ended = " (no longer current)" if line.superseded and "no longer current" not in line.text else ""
    return f"[{place + 1}] {' '.join(line.text.split())}{ended}"


def _line(turn: Turn) -> Line:
    return Line(f"{turn.at:%Y-%m-%d} {turn.speaker or turn.role}: {turn.text}", turn.id, (turn.id,))


def _understood(reply: Reply, kept: Sequence[Line]) -> Answer:
    """An Answer of what the model said: its citations as turns, a refusal or an empty reply as None with the reason."""
    said = without_reasoning(reply.text)
    if reply.finish == "refused":
        return Answer(None, f"The model declined to answer: {said[:120]}", reply=reply)
    text = _CITED.sub("", said).strip()
    if not text:
        return Answer(None, "The model gave no answer; perhaps its reasoning used up the limit.", reply=reply)
    if _NOT_THERE.match(text):
        return Answer(None, "Not in memory: the model found no answer in what was retrieved.", reply=reply)
    numbers = [int(number) for cited in _CITED.findall(said) for number in cited.split(",")]
    turns = [turn for number in numbers if 0 < number <= len(kept) for turn in kept[number - 1].turns]
    cut = "The answer was cut where the reply's limit ended it." if reply.finish == "length" else ""
    return Answer(text, cut, turns=tuple(dict.fromkeys(turns)), reply=reply)
