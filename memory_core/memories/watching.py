"""Listens for what others commit to a memory on a server, so that a page is woken and need not ask again and again."""

from __future__ import annotations

import threading
import time

from memory_core.errors import MemoryFileError
from memory_core.store.contract import Store

_PATIENCE = 20.0  # seconds a connection listens before it is made anew; one that was let go of lives no longer
_PAUSE = 2.0  # seconds before a server that went away is tried again
_UNWATCHED = 120.0  # seconds after which nobody looks any more


class Watch:
    """Tells the newest revision of a memory while somebody asks for it.

    A thread of its own waits for the next one on a connection of its own (LISTEN/NOTIFY). Both end when nobody asked
    for two minutes, and begin anew when somebody does.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._asked = 0.0  # monotonic seconds
        self._revision = 0

    @property
    def revision(self) -> int:
        """The newest revision that the server told of. Raises MemoryFileError when it cannot be asked for the first."""
        with self._lock:
            self._asked = time.monotonic()
            if self._thread is None or not self._thread.is_alive():
                self._revision = self._store.revision()
                self._thread = threading.Thread(target=self._listen, name="watch", daemon=True)
                self._thread.start()
            return self._revision

    def _listen(self) -> None:
        while not self._ended.is_set() and time.monotonic() - self._asked < _UNWATCHED:
            try:
                if self._store.wait_for_change(self._revision, _PATIENCE):
                    self._revision = self._store.revision()
            except MemoryFileError:  # whoever works with the memory is told; here it is enough to try again
                self._ended.wait(_PAUSE)

    def close(self) -> None:
        """Listen no more."""
        self._ended.set()
