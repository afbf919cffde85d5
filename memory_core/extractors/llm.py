"""Extraction by a chat model (P1 3.3, A.3, A.4): one call a turn, role-aware, validated, never obeyed."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memory_core.errors import ContextLengthError, ProviderError
from memory_core.prompts import data, prompt
from memory_core.protocols import LLM
from memory_core.schema import LABELS, Extraction, FoundEdge, FoundNode, Status, Turn
from memory_core.tokens import tokens_at_most
from memory_core.validation import OnInvalid, json_object, read_reply, validate

_UNNAMED = frozenset({"", "user", "human", "you", "me", "i", "speaker", "assistant"})
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+|(?<=[。！？])")
_SMALLEST_PIECE = 32  # tokens; below it a context holds no prompt worth asking
_MARGIN = 96  # tokens for the chat template and the markers


def _list_of(most: int, **properties: object) -> dict[str, object]:
    item = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"type": "array", "items": item, "maxItems": most}


def _text(most: int) -> dict[str, object]:
    return {"type": "string", "maxLength": most}


_ATTRIBUTES = _list_of(8, key=_text(40), value=_text(160))
#: Lists with ids and key/value pairs: strict schemas make every object name its keys; a map of ids could only be empty.
#: Everything is bounded, or small models under a grammar write until the limit.
EXTRACTION_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "nodes": _list_of(
            24,
            id=_text(8),
            label={"type": "string", "enum": list(LABELS)},
            title=_text(120),
            content=_text(400),
            attributes=_ATTRIBUTES,
        ),
        "edges": _list_of(
            32, id=_text(8), source=_text(8), target=_text(8), relationship=_text(60), attributes=_ATTRIBUTES
        ),
    },
    "required": ["nodes", "edges"],
    "additionalProperties": False,
}
ENTITIES_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"entities": {"type": "array", "items": _text(80), "maxItems": 8}},
    "required": ["entities"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class LLMExtractor:
    """Reads a turn with `llm`. `on_invalid="reject"` is P1's rule: one bad item rejects the reply.

    A reply that hits its limit is asked for again with twice the room, at most `attempts` times, then `truncated`. A
    turn longer than the model's context is read in pieces cut at sentences and joined again. A provider that fails
    leaves `failed` with the reason: the turn is kept and can be retried.
    """

    llm: LLM
    prompt_version: str = "extraction-v1"
    entities_version: str = "entities-v1"
    on_invalid: OnInvalid = "drop"
    max_tokens: int = 1024
    attempts: int = 3

    @property
    def id(self) -> str:
        return f"llm:{self.llm.id}:{self.prompt_version}"

    def extract(self, turn: Turn) -> Extraction:
        """Nodes and edges of one turn, spans where a title stands in it. Raises Cancelled, and nothing else."""
        begun = time.perf_counter()
        found = self._whole(turn) if turn.text.strip() else Extraction("empty", reason="the turn holds no text")
        return replace(
            found,
            extractor=self.id,
            model=found.model or self.llm.id,
            prompt_version=self.prompt_version,
            seconds=time.perf_counter() - begun,
        )

    def entities(self, question: str) -> list[str]:
        """What to look up for a question (P1 3.5), at most 8; the question itself when the reply names nothing usable.

        Raises ProviderError, Cancelled.
        """
        if not question.strip():
            return []
        system, user = prompt(self.entities_version, question=data("question", question))
        reply = self.llm.reply(system, user, schema=ENTITIES_SCHEMA, max_tokens=256)
        named = (json_object(reply.text) or {}).get("entities")
        if not isinstance(named, list):
            return [question]
        return list(dict.fromkeys(name.strip() for name in named if isinstance(name, str) and name.strip()))[:8]

    def estimate(self, turns: Sequence[Turn]) -> tuple[int, int]:
        """Tokens in and out that reading `turns` may take, on the high side, to be shown before long work.

        In: the prompt with each turn. Out: a graph takes about half again the tokens of what it is read from, and 60.
        """
        said = [tokens_at_most(turn.text) for turn in turns]
        rules = tokens_at_most("".join(prompt(self.prompt_version, role="assistant", turn=""))) + _MARGIN
        return sum(said) + rules * len(said), sum(min(60 + 3 * each // 2, self.max_tokens) for each in said)

    def _whole(self, turn: Turn) -> Extraction:
        room = self._room()
        if room < _SMALLEST_PIECE:
            reason = f"the context of {self.llm.context_window} tokens is too small for {self.prompt_version}"
            return Extraction("failed", reason=reason)
        texts = list(pieces(turn.text, room)) if tokens_at_most(turn.text) > room else [(0, turn.text)]
        return self._joined(turn, texts)

    def _room(self) -> int:
        system, user = prompt(self.prompt_version, role="assistant", turn="")
        return self.llm.context_window - tokens_at_most(system + user) - self.max_tokens - _MARGIN

    def _joined(self, turn: Turn, texts: Sequence[tuple[int, str]]) -> Extraction:
        found: list[Extraction] = []
        for start, text in texts:
            found.append(_moved(self._piece(turn, text), start))
            if found[-1].status == "failed":
                break
        return found[0] if len(found) == 1 else _one_of(found, turn, len(texts))

    def _piece(self, turn: Turn, text: str) -> Extraction:
        try:
            return self._asked(turn, text)
        except ContextLengthError as error:
            halves = list(pieces(text, tokens_at_most(text) // 2))
            if tokens_at_most(text) < 2 * _SMALLEST_PIECE or len(halves) < 2:
                return Extraction("failed", reason=str(error))
            return self._joined(turn, halves)
        except ProviderError as error:
            return Extraction("failed", reason=str(error))

    def _asked(self, turn: Turn, text: str) -> Extraction:
        system, user = prompt(self.prompt_version, role=turn.role, turn=data("turn", text))
        most = max(self.max_tokens, self.llm.context_window - tokens_at_most(system + user) - _MARGIN)
        limit, spent = self.max_tokens, (0, 0)
        for _ in range(self.attempts):
            reply = self.llm.reply(system, user, schema=EXTRACTION_SCHEMA, max_tokens=limit)
            spent = (spent[0] + reply.tokens_in, spent[1] + reply.tokens_out)
            found = read_reply(reply.text, reply.finish, self.on_invalid, speaker=speaker_title(turn), role=turn.role)
            if found.status != "truncated" or limit == most:
                break
            limit = min(limit * 2, most)
        marked = _with_spans(found, text)
        return replace(marked, model=reply.model, tokens_in=spent[0], tokens_out=spent[1])


def speaker_title(turn: Turn) -> str:
    """The title of the Person who is "I" in a user turn and "you" in an assistant's.

    >>> from memory_core.schema import utc
    >>> speaker_title(Turn("user", "Hi", utc("2025-01-01"), speaker="Mira"))
    'Mira'
    """
    name = " ".join(turn.speaker.split())
    return "User" if turn.role == "assistant" or name.casefold() in _UNNAMED else name


def pieces(text: str, most: int) -> Iterator[tuple[int, str]]:
    """`text` cut at sentences into pieces of at most `most` tokens, each with its start; no character is lost.

    A sentence that is too long is cut at a space, and where there is none, in the middle.

    >>> list(pieces("I sail. I ski. I sew.", 9))
    [(0, 'I sail. I ski. '), (15, 'I sew.')]
    """
    start = end = 0
    for stop in _stops(text, most):
        if tokens_at_most(text[start:stop]) > most and end > start:
            yield start, text[start:end]
            start = end
        end = stop
    if text[start:]:
        yield start, text[start:]


def _stops(text: str, most: int) -> Iterator[int]:
    """Where `text` may be cut: sentence ends, and inside a sentence that is itself too long."""
    start = 0
    for stop in [*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]:
        while tokens_at_most(text[start:stop]) > most:
            cut = stop
            while tokens_at_most(text[start:cut]) > most and cut > start + 1:
                cut = start + max(1, (cut - start) * 3 // 4)
            space = text.rfind(" ", start + 1, cut)
            start = space + 1 if space > start else cut
            yield start
        if stop > start:
            yield stop
            start = stop


def _with_spans(found: Extraction, text: str) -> Extraction:
    """Nodes with the place of their title in the turn, edges with the stretch between their two ends."""
    folded = text.casefold() if len(text.casefold()) == len(text) else text
    nodes = tuple(replace(node, span=_place(folded, node.title)) for node in found.nodes)
    edges = tuple(replace(edge, span=_stretch(nodes[edge.source], nodes[edge.target])) for edge in found.edges)
    return replace(found, nodes=nodes, edges=edges)


def _place(folded: str, title: str) -> tuple[int, int] | None:
    match = re.search(rf"(?<!\w){re.escape(title.casefold())}(?!\w)", folded)
    return match.span() if match else None


def _stretch(source: FoundNode, target: FoundNode) -> tuple[int, int] | None:
    spans = [span for span in (source.span, target.span) if span is not None]
    start, end = min((span[0] for span in spans), default=0), max((span[1] for span in spans), default=0)
    return (start, end) if len(spans) == 2 and end - start <= 300 else None


def _moved(found: Extraction, start: int) -> Extraction:
    def at(span: tuple[int, int] | None) -> tuple[int, int] | None:
        return None if span is None else (span[0] + start, span[1] + start)

    nodes = tuple(replace(node, span=at(node.span)) for node in found.nodes)
    return replace(found, nodes=nodes, edges=tuple(replace(edge, span=at(edge.span)) for edge in found.edges))


def _one_of(found: Sequence[Extraction], turn: Turn, asked: int) -> Extraction:
    """The pieces' extractions as one. A piece that failed makes the turn fail: half a turn is not kept in silence."""
    bad = next((part for part in found if part.status in ("failed", "truncated", "refused", "rejected")), None)
    whole = Extraction(bad.status, reason=f"part of {asked}: {bad.reason}") if bad else _union(found, turn)
    return replace(
        whole,
        raw="\n\n".join(part.raw for part in found),
        model=found[-1].model,
        tokens_in=sum(part.tokens_in for part in found),
        tokens_out=sum(part.tokens_out for part in found),
    )


def _union(found: Sequence[Extraction], turn: Turn) -> Extraction:
    nodes: list[FoundNode] = []
    edges: list[FoundEdge] = []
    for part in found:
        shift = len(nodes)
        nodes += part.nodes
        edges += [replace(edge, source=edge.source + shift, target=edge.target + shift) for edge in part.edges]
    whole = validate(nodes, edges, speaker=speaker_title(turn), role=turn.role, limit=False)
    drops = tuple(drop for part in found for drop in part.drops) + whole.drops
    repairs = tuple(repair for part in found for repair in part.repairs)
    status: Status = "empty" if not whole.nodes else "repaired" if drops or repairs else "ok"
    return replace(whole, status=status, drops=drops, repairs=repairs)
