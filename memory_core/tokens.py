"""How many tokens a text takes, bounded from both sides without any model's tokenizer."""

from __future__ import annotations

import re

_PIECE = re.compile(r"\w+|[^\w\s]+")


def tokens_at_least(text: str) -> int:
    """A floor: words and runs of punctuation, which no tokenizer in use joins. Tells a prompt that was cut.

    >>> tokens_at_least("I moved to Porto, at last!")
    8
    """
    return len(_PIECE.findall(text))


def tokens_at_most(text: str) -> int:
    """A ceiling that holds for prose in any script: a token for three bytes of UTF-8, or 1.4 for a word.

    >>> tokens_at_most("I moved to Porto, at last!")
    12
    """
    return max(-(-len(text.encode(errors="replace")) // 3), -(-14 * tokens_at_least(text) // 10))
