"""What no forgetting takes: pinned nodes, and nodes of a protected label, speaker or word."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import numpy as np

from memory_core.errors import InputError
from memory_core.forgetting.cuts import Mask
from memory_core.memory.scoring import Scoring
from memory_core.schema import LABELS, content_words, normalise_title

KINDS = ("label", "speaker", "word")


@dataclass(frozen=True, order=True)
class Rule:
    """`label`: its nodes; `speaker`: every node read from its turns; `word`: nodes with it in title or content."""

    kind: Literal["label", "speaker", "word"]
    value: str

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read `label=Preference`, `speaker=Mira` or `word=allergy`. Raises InputError.

        >>> Rule.parse("label=preference")
        Rule(kind='label', value='Preference')
        """
        kind, _, value = text.partition("=")
        value = value.strip()
        if kind not in KINDS or not value:
            raise InputError(f"The rule {text} is not understood: write label=…, speaker=… or word=….")
        if kind == "label":
            label = next((label for label in LABELS if label.casefold() == value.casefold()), None)
            if label is None:
                raise InputError(f"There is no label {value}: choose one of {', '.join(LABELS)}.")
            value = label
        return cls(kind, value)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"{self.kind}={self.value}"


def load_rules(text: str) -> tuple[Rule, ...]:
    """Rules as stored with the memory."""
    return tuple(Rule.parse(rule) for rule in json.loads(text or "[]"))


def dump_rules(rules: tuple[Rule, ...]) -> str:
    """Rules as one JSON list, sorted, each once."""
    return json.dumps([str(rule) for rule in sorted(set(rules))], ensure_ascii=False)


def protected(memory: Scoring, rules: tuple[Rule, ...]) -> Mask:
    """Rows of the graph that stay whatever their score: shape (rows,)."""
    held: Mask = memory.graph.pinned.values.copy()
    for rule in rules:
        held |= _held(memory, rule)
    return held


def _held(memory: Scoring, rule: Rule) -> Mask:
    graph = memory.graph
    if rule.kind == "label":
        return np.asarray(graph.label.values == LABELS.index(rule.value))
    if rule.kind == "word":
        word = normalise_title(rule.value)
        texts = [f"{title} {content}" for title, content in zip(graph.titles, graph.contents, strict=True)]
        spoken = (normalise_title(text).split() + content_words(text) for text in texts)
        return np.array([word in words for words in spoken], np.bool_)
    rows = memory.store.query(
        "SELECT DISTINCT item FROM provenance JOIN turn ON turn.id = provenance.turn WHERE lower(speaker) = lower(?)",
        rule.value,
    )
    held = np.zeros(len(graph.ids), np.bool_)
    held[[graph.row_of[item] for (item,) in rows if item in graph.row_of]] = True
    return held
