"""A file that becomes a memory as work in the background, with progress, an estimate and a stop."""

from __future__ import annotations

import tempfile
from pathlib import Path

from memory_core.errors import InputError
from memory_core.importers.memories import Imported, fill, read_document
from memory_core.jobs import Job, Worker
from memory_core.memory import Memory

NAME = "Import"
_LONGEST = 80  # characters of a file's name


def start(worker: Worker, memory: Memory, filename: str, data: bytes) -> Job:
    """Fill an empty memory from the bytes of a file; the job's result is an `Imported`.

    All is stored in one transaction at the end: of a job that was stopped or failed nothing is. Raises InputError when
    the bytes cannot be put aside; faults of the file end the job.
    """
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name, Path(filename).stem[:_LONGEST] + Path(filename).suffix.lower())  # errors name the file
    try:
        path.write_bytes(data)
    except (OSError, ValueError) as error:
        folder.cleanup()
        raise InputError(f"{filename[:_LONGEST]} cannot be put aside to be read: {error}.") from error

    def work(job: Job) -> Imported:
        result = Imported()
        with folder:
            job.message = f"reading {path.name}"
            document = read_document(path, result)
        job.check()
        job.message = f"storing what {path.name} holds"
        return fill(memory, document, result, lambda done, total: _advance(job, done, total))

    return worker.submit(Job(NAME, work))


def _advance(job: Job, done: int, total: int) -> None:
    job.total = total
    job.advance("embedding nodes" if done < total else "storing all of it", steps=done - job.done)


def latest(worker: Worker) -> Job | None:
    """The import that was started last into this worker's memory."""
    return worker.latest(NAME)
