"""What a clause says beyond its names: the runs of words no node or relationship has taken up."""

from __future__ import annotations

from memory_core.extractors.embedded import vocabulary as words
from memory_core.extractors.embedded.reading import Reading, Token, own_clause
from memory_core.schema import content_words

VALUE_WORDS = 6


def leftovers(reading: Reading, verb: Token) -> list[tuple[str, str]]:
    """Runs of unused content words in a verb's clause, at most `VALUE_WORDS` words each, named by what opens them."""
    runs: list[list[Token]] = [[]]
    for token in own_clause(verb):
        words_in = [t for t in runs[-1] if not t.is_punct]
        broken = runs[-1] and (token.i != runs[-1][-1].i + 1 or len(words_in) >= VALUE_WORDS)
        if (
            token.i in reading.used
            or token.is_space
            or token.text in ",;:.!()"
            or token.dep_ in ("cc", "intj", *_SKIPPED)
        ):
            broken = True
        elif not broken:
            runs[-1].append(token)
            continue
        if broken and runs[-1]:
            runs.append([])
        if (
            token.i not in reading.used
            and not token.is_space
            and token.text not in ",;:.!()"
            and token.dep_ not in ("cc", "intj", *_SKIPPED)
        ):
            runs[-1].append(token)
    found = []
    for run in runs:
        name = _name_of(run[0], verb) if run else ""
        run = _trimmed(run)
        if run and set(content_words(reading.slice(run[0], run[-1]))) - words.FILLER:
            found.append((name, reading.slice(run[0], run[-1])))
            reading.use(run[0], run[-1])
    return found


def _trimmed(run: list[Token]) -> list[Token]:
    while run and (
        run[0].pos_ in ("DET", "PRON", "PART", "SCONJ", "PUNCT")
        or run[0].lower_ in words.EMPTY_OPENERS
        or (run[0].pos_ == "ADP" and run[0].dep_ != "prt")
    ):
        run = run[1:]
    while run and run[-1].pos_ in ("DET", "PRON", "PART", "SCONJ", "PUNCT", "ADP", "CCONJ", "AUX"):
        run = run[:-1]
    return run


_SKIPPED = ("nsubj", "nsubjpass", "expl", "aux", "auxpass", "mark", "neg")


def _name_of(first: Token, verb: Token) -> str:
    if first.dep_ in ("prep", "agent") or first.pos_ == "ADP":
        return str(first.lower_)
    if first.i == verb.i or first.pos_ in ("VERB", "AUX"):
        return "does"
    return "how" if first.pos_ in ("ADV", "ADJ") else "detail"
