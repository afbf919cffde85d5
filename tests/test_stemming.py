"""Stems are the same from any thread: a stemmer keeps the word it works on in itself."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import snowballstemmer

from memory_core.stemming import porter, stem

WORDS = [f"{head}{tail}" for head in ("run", "nation", "relat", "hope", "swimm", "generous") for tail in
         ("s", "ing", "ed", "ational", "fulness", "ly", "er", "ization")] * 40  # fmt: skip


def test_many_threads_get_what_one_gets() -> None:
    alone = snowballstemmer.stemmer("english").stemWords(WORDS)
    stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(stem, WORDS)) == alone


def test_porters_first_algorithm_differs() -> None:
    assert (porter("generously"), stem("generously")) == ("gener", "generous")
