"""The words of a text exactly as SQLite's full-text index has them, for stores that keep that index themselves."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence

#: Unicode words without diacritics, by Porter's stem; `tables.sql` names the same.
TOKENIZER = "porter unicode61 remove_diacritics 2"


class Tokenizer:
    """SQLite's own tokenizer, asked through an index in RAM that is emptied again: no second one that would differ.

    >>> Tokenizer().words(["The sisters moved", "Café"])
    [['the', 'sister', 'move'], ['cafe']]
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._db.execute(f"CREATE VIRTUAL TABLE said USING fts5 (text, content='', tokenize='{TOKENIZER}')")
        self._db.execute("CREATE VIRTUAL TABLE word USING fts5vocab (said, instance)")

    def words(self, texts: Sequence[str]) -> list[list[str]]:
        """The words of each text, in order, as often as they occur."""
        found: list[list[str]] = [[] for _ in texts]
        with self._lock:
            self._db.executemany("INSERT INTO said (rowid, text) VALUES (?, ?)", enumerate(texts))
            for place, term in self._db.execute('SELECT doc, term FROM word ORDER BY doc, "offset"'):
                found[place].append(term)
            self._db.execute("INSERT INTO said (said) VALUES ('delete-all')")
        return found
