"""Vectors of two bytes a number as pgvector takes them (`halfvec`, big-endian with a head)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types import TypeInfo
from psycopg.types.array import ListBinaryDumper

_MOST = 16_000  # dimensions of a halfvec


@dataclass(frozen=True)
class Half:
    """A vector as pgvector sends and receives it."""

    data: bytes

    @classmethod
    def of(cls, blob: bytes) -> Half | None:
        """From float16 bytes as the core stores them; None for one that pgvector could not hold."""
        numbers = np.frombuffer(blob, np.float16) if len(blob) % 2 == 0 else np.zeros(0, np.float16)
        if not 0 < len(numbers) <= _MOST or not np.isfinite(numbers).all():
            return None
        return cls(struct.pack(">HH", len(numbers), 0) + numbers.astype(">f2").tobytes())


class _HalfDumper(Dumper):
    format = Format.BINARY

    def dump(self, half: Any) -> bytes:
        return bytes(half.data)


def register_halves(db: psycopg.Connection[Any]) -> None:
    """Let the connection send `Half` values, and arrays as bytes: text would double every vector."""
    row = db.execute("SELECT 'halfvec'::regtype::oid::int, typarray::int FROM pg_type WHERE oid = 'halfvec'::regtype")
    found = row.fetchone()
    assert found is not None
    info = TypeInfo("halfvec", *found)
    info.register(db)
    db.adapters.register_dumper(list, ListBinaryDumper)
    db.adapters.register_dumper(Half, type("HalfDumper", (_HalfDumper,), {"oid": info.oid}))
