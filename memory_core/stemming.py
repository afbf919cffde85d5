"""Word stems, one way for the whole project (Snowball), and safe to ask for from any thread."""

from __future__ import annotations

import threading
from functools import lru_cache

import snowballstemmer

from memory_core.schema import content_words

_TURN = threading.Lock()  # a stemmer keeps the word it works on in itself
_ENGLISH = snowballstemmer.stemmer("english")
_PORTER = snowballstemmer.stemmer("porter")


@lru_cache(maxsize=1 << 18)
def stem(word: str) -> str:
    """The English stem of a lower-case word.

    >>> stem("swimming")
    'swim'
    """
    with _TURN:
        return str(_ENGLISH.stemWord(word))


@lru_cache(maxsize=1 << 16)
def porter(word: str) -> str:
    """The stem by Porter's first algorithm, which published scripts use."""
    with _TURN:
        return str(_PORTER.stemWord(word))


def stems(text: str) -> list[str]:
    """Stems of the content words of a text, in order.

    >>> stems("The studies recommended running")
    ['studi', 'recommend', 'run']
    """
    return [stem(word) for word in content_words(text)]
