"""The extractor that needs no model server: spaCy's small English model and rules (design, section 4: Extraction)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.clauses import walk
from memory_core.extractors.embedded.confirmed import confirm
from memory_core.extractors.embedded.draft import Draft, tidy_title
from memory_core.extractors.embedded.favourites import changed_favourites
from memory_core.extractors.embedded.kin import read_people
from memory_core.extractors.embedded.lists import read_lists
from memory_core.extractors.embedded.mending import mend
from memory_core.extractors.embedded.model import PACKAGES
from memory_core.extractors.embedded.naming import common_words
from memory_core.extractors.embedded.phrases import head_label, nameable, phrase
from memory_core.extractors.embedded.reading import Reading, Token, read
from memory_core.extractors.embedded.said import asked, own_subjects, stated
from memory_core.extractors.embedded.scene import Scene
from memory_core.extractors.embedded.text import Prepared, prepare
from memory_core.schema import Extraction, Turn, content_words

__all__ = ["PACKAGES", "Embedded"]

UNNAMED_SPEAKERS = frozenset(["", "user", "human", "me", "you", "assistant", "ai", "bot", "system", "speaker"])
_FILLER_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


@dataclass(frozen=True)
class Embedded:
    """Reads English turns by rules; at most `user_nodes` or `assistant_nodes` nodes a turn.

    >>> from memory_core.schema import utc
    >>> found = Embedded().extract(Turn("user", "I live in Porto.", utc("2025-01-01")))
    >>> [(node.label, node.title) for node in found.nodes]
    [('Person', 'User'), ('Location', 'Porto')]
    """

    user_nodes: int = 12
    assistant_nodes: int = 12

    @property
    def id(self) -> str:
        return "embedded-2"

    def extract(self, turn: Turn) -> Extraction:
        """Nodes and edges of one turn; `empty` with a reason for filler, questions and other languages.

        Raises ModelFileError when the English spaCy model is not installed.
        """
        mended = mend(turn.text, common_words("adj", "adv", "verb"))
        turn = replace(turn, text=mended.text)
        prepared = prepare(turn.text, turn.speaker)
        if not prepared.english:
            return self._empty(prepared, "the embedded extractor reads English only; the turn is kept")
        if is_filler(prepared.text):
            return self._empty(prepared, "filler: nothing to remember")
        draft = Draft(self.user_nodes if turn.role == "user" else self.assistant_nodes)
        reading = read(prepared.text, frozenset(line.start for line in prepared.lines))
        (_read_user if turn.role == "user" else _read_assistant)(reading, prepared, draft, turn)
        if not draft.nodes or (
            len(draft.nodes) == 1 and draft.nodes[0].title == speaker_title(turn) and not draft.nodes[0].attributes
        ):
            return self._empty(prepared, "no statement of a fact")
        nodes = tuple(replace(node, span=mended.back(node.span)) for node in draft.nodes)
        edges = tuple(replace(edge, span=mended.back(edge.span)) for edge in draft.edges)
        return Extraction("ok", nodes, edges, repairs=prepared.repairs, extractor=self.id)

    def entities(self, question: str) -> list[str]:
        """Names, noun phrases and dates of a question, as written, each once; filler gives none (P1 3.5).

        A question that names nothing ("Where do I live now?") is itself what is looked for.
        """
        prepared = prepare(mend(question).text)
        if is_filler(prepared.text):
            return []
        reading = read(prepared.text)
        found = [tidy_title(text, named=True) for text in _mentions(reading)]
        named = list(dict.fromkeys(text for text in found if text))
        return named or ([" ".join(question.split()).rstrip("?! .")] if content_words(question) else [])

    def _empty(self, prepared: Prepared, reason: str) -> Extraction:
        return Extraction("empty", repairs=prepared.repairs, reason=reason, extractor=self.id)


def speaker_title(turn: Turn) -> str:
    name = tidy_title(turn.speaker, named=True)
    return "User" if name.lower().rstrip("0123456789 ") in UNNAMED_SPEAKERS or turn.role == "assistant" else name


def is_filler(text: str) -> bool:
    """Whether every word is one of the small change of talk.

    >>> is_filler("hmm, ok then"), is_filler("ok, Porto")
    (True, False)
    """
    return all(word in words.FILLER for word in _FILLER_WORD.findall(text.lower())) and not re.search(r"\d", text)


def _read_user(reading: Reading, prepared: Prepared, draft: Draft, turn: Turn) -> None:
    scene = Scene(reading, draft, speaker_title(turn))
    read_people(scene)
    changed_favourites(scene)
    walk(scene)
    _names(scene)
    _captions(scene, prepared, turn.text)
    scene.settle()
    if all(node.title == scene.me for node in draft.nodes):
        _fallback(scene, 1)


def _read_assistant(reading: Reading, prepared: Prepared, draft: Draft, turn: Turn) -> None:
    scene = Scene(reading, draft, "User", mine=frozenset(["your"]))
    kinds = [line.kind for line in prepared.lines]
    if "item" in kinds or "row" in kinds or "field" in kinds:
        read_lists(scene, prepared.lines)
    read_people(scene)
    confirm(scene)
    scene.names_only = True
    _names(scene)
    scene.mine = words.SECOND_PERSON - {"you"}
    walk(scene)
    scene.settle()
    scene.names_only = False
    if all(node.title in ("User", "Assistant") for node in draft.nodes):
        _fallback(scene, 3)


def _names(scene: Scene) -> None:
    """Every name that no clause took up; a name that is only addressed, or asked about and nothing else, is no fact."""
    statements = len(scene.draft.nodes) > 0
    for token in scene.reading.doc:
        if not scene.reading.named(token) or scene.reading.kind(token) == "NORP" or token.i in scene.told:
            continue
        if token.dep_ in ("compound", "nmod"):
            if token.head.pos_ == "NOUN" and head_label(token.head.lemma_.lower()) == "Location" and not asked(token):
                scene.thing(token.head)
            if scene.places.get(token.head.i) is not None:
                continue
        if (statements or not asked(token)) and not _addressed(token):
            scene.thing(token)


def _addressed(token: Token) -> bool:
    """ "Hey Tim!", "You got this, Jon!": a name that is only called."""
    if token.dep_ in ("pobj", "dobj", "nsubj", "nsubjpass", "poss", "conj", "attr", "oprd", "dative"):
        return token.dep_ == "nsubj" and token.i + 1 < len(token.doc) and token.nbor(1).text in ",!"
    before = token.nbor(-1) if token.i and not token.is_sent_start else None
    after = token.nbor(1) if token.i + 1 < len(token.doc) else None
    if before is None:
        return after is not None and after.text in ",?!"
    called = before.text == "," or before.lower_ in words.GREETINGS
    return called and (after is None or after.is_punct or after.is_space or bool(after.is_sent_start))


def _captions(scene: Scene, prepared: Prepared, text: str) -> None:
    for line in prepared.lines:
        if line.kind == "caption":
            caption = text[line.start : line.end]
            title = re.sub(
                r"^(?:an? )?(?:photo(?:graphy|graph)?|picture|image|close up|screenshot) (?:of )?(?:an? |the )?",
                "",
                caption.strip(),
            )
            shown = title.split()
            place = scene.draft.node(
                "Artifact",
                " ".join(shown[:8]),
                f"A picture: {caption}",
                (line.start, line.end),
                attributes={"kind": "picture", "detail": " ".join(shown[8:14])},
            )
            scene.draft.edge(scene.speaker(), "shared_picture", place, (line.start, line.end))


def _fallback(scene: Scene, count: int) -> None:
    """The first things talked about, when no clause gave a node."""
    told = {s.start for s in scene.reading.doc.sents if not any(_finite(t) for t in s) and not _greeting(s)}
    told |= {
        t.sent.start
        for t in scene.reading.doc
        if t.pos_ in ("VERB", "AUX") and own_subjects(t) and stated(t, scene.mine)
    }
    for token in scene.reading.doc:
        central = token.dep_ in ("nsubj", "dobj", "pobj", "attr", "ROOT", "conj", "nsubjpass") and token.pos_ == "NOUN"
        if count and central and token.sent.start in told and not asked(token) and _told(scene, token):
            count -= scene.thing(token) is not None
    scene.settle()


def _told(scene: Scene, token: Token) -> bool:
    clause = next((t for t in token.ancestors if t.pos_ in ("VERB", "AUX")), None)
    return clause is None or stated(clause, scene.mine) or any(c.lower_ == "can" for c in clause.children)


def _finite(token: Token) -> bool:
    return token.pos_ in ("VERB", "AUX") and token.tag_ != "VBG"


def _greeting(sentence: Sequence[Token]) -> bool:
    if sentence[0].lower_ in ("sorry", "thanks", "thank", "congrats", "congratulations"):
        return True
    short = sum(not t.is_punct for t in sentence) <= 4
    return short and any(t.lower_ in words.GREETINGS | words.WEAK_ADJECTIVES or t.pos_ == "INTJ" for t in sentence)


def _mentions(reading: Reading) -> list[str]:
    found = []
    inside: set[int] = set()
    for token in reading.doc:
        if token.i in inside:
            continue
        if reading.kind(token):
            found.append(token.text)
        elif token.dep_ != "compound" and nameable(reading, token):
            first, last = phrase(reading, token)
            inside |= set(range(first.i, last.i + 1))
            found.append(reading.slice(first, last))
    return found
