"""What a person should know before they read the result of a retrieval: why it found little, or cannot be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from memory_core.memory import Memory
from memory_core.memory.checks import MAX_QUESTION
from memory_core.protocols import Embedder, Retrieval

_SURE = 0.7  # of 1,294 English questions of two benchmarks and the demo none is taken for another language
_LONG = 1000  # characters; the embedded embedder reads about as much
_NAMES = {
    "ar": "Arabic", "de": "German", "en": "English", "es": "Spanish", "fr": "French", "it": "Italian",
    "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ru": "Russian",
    "th": "Thai", "tr": "Turkish", "zh": "Chinese",
}  # fmt: skip


@dataclass(frozen=True)
class Concern:
    """One sentence, and what it is about, so that a page can offer what helps."""

    about: Literal["language", "length", "memory", "turns", "entities", "floor", "vector", "nothing"]
    text: str


def language_of(text: str) -> str:
    """ISO 639-1 code of a text's language, among those a multilingual embedder covers; empty when it cannot be told.

    >>> language_of("¿Dónde vive mi hermana?"), language_of("Where does my sister live?"), language_of("Porto")
    ('es', 'en', '')
    """
    code, sure = _identifier().classify(text[:2000])
    return str(code) if sure >= _SURE else ""


@lru_cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    made = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    made.set_languages(list(_NAMES))
    return made


def language_concern(embedder: Embedder, question: str) -> Concern | None:
    """When the question's language is none the embedder was made for."""
    code = language_of(question)
    if not code or "*" in embedder.languages or code in embedder.languages:
        return None
    covers = ", ".join(_NAMES.get(one, one) for one in embedder.languages)
    return Concern(
        "language",
        f"This looks like {_NAMES[code]}. The embedder of this memory, {embedder.id}, covers {covers}: its "
        "similarities mean little here. Words in common are still found.",
    )


def concerns(memory: Memory, question: str, found: Retrieval) -> tuple[Concern, ...]:
    """Everything worth saying about one retrieval, the gravest first; empty when all is well."""
    if not memory.graph.turns and not memory.graph.node_count:
        return (
            Concern("memory", "This memory is empty: there is nothing to retrieve. Say something on the Chat page."),
        )
    said = [language_concern(memory.embedder, question), _length(question), _turns(memory, found)]
    said += [_graph(found)] if found.retriever in ("graph", "hybrid") else []
    if not found.lines and not any(one and one.about not in ("language", "length") for one in said):
        said.append(Concern("nothing", "Nothing was retrieved, so a reader has nothing to answer from."))
    return tuple(one for one in said if one)


def _length(question: str) -> Concern | None:
    if len(question) > MAX_QUESTION:
        return Concern("length", f"Only the first {MAX_QUESTION:,} of {len(question):,} characters were read.")
    if len(question) > _LONG:
        return Concern(
            "length", f"The question has {len(question):,} characters; an embedder reads about the first {_LONG:,}."
        )
    return None


def _turns(memory: Memory, found: Retrieval) -> Concern | None:
    if found.turns or len(memory.turn_columns()):
        return None
    return Concern("turns", "This memory holds no turns (an imported graph, say): only the graph can be searched.")


def _graph(found: Retrieval) -> Concern | None:
    if not found.entities and found.retriever == "graph":
        return Concern("entities", "No entity was read from the question, so the walk has nowhere to start.")
    if found.roots:
        return None
    if not found.candidates:
        return Concern("vector", "No node has a vector that could be compared with the question.")
    best = found.candidates[0]
    if not any(abs(one.score) > 1e-6 for one in found.candidates):
        return Concern("vector", "Every cosine is 0: the question or the nodes have no vector to compare.")
    return Concern(
        "floor",
        f"Nothing stored is near: the best cosine is {best.score:.2f} ({best.title[:60]}), "
        f"the floor {found.floor:.2f}.",
    )
