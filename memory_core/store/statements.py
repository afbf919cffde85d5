"""The SQL of a PostgreSQL store: the core's text translated, and one statement for any number of rows that change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count, groupby

from memory_core.errors import InputError
from memory_core.store.rows import KEYS, REPLACED, RowChange, Value

#: Tables whose rows carry the commit that last wrote them.
DATED = frozenset({"turn", "node", "node_vector", "edge", "access"})
_BYTES = re.compile(r"length\(CAST\((\w+) AS BLOB\)\)")
_MARK = re.compile(r"'[^']*'|\?")


@lru_cache(maxsize=512)
def portable(sql: str) -> str:
    """The core's SQL as PostgreSQL reads it: numbered values, and its word for the length of a text in bytes.

    >>> portable("SELECT length(CAST(text AS BLOB)) FROM turn WHERE id = ? AND role <> '?' AND at > ?")
    "SELECT octet_length(text) FROM turn WHERE id = $1 AND role <> '?' AND at > $2"
    """
    number = count(1)
    return _MARK.sub(lambda found: f"${next(number)}" if found[0] == "?" else found[0],
                     _BYTES.sub(r"octet_length(\1)", sql))  # fmt: skip


def grouped(changes: Sequence[RowChange]) -> Iterator[list[RowChange]]:
    """Changes of one shape, in order within each table; of a row that one group changes twice only the last state.

    No table looks at another, so a turn's thirty changes become a statement or two a table.
    """

    def shape(change: RowChange) -> tuple[str, bool, tuple[str, ...] | None]:
        return change.table, change.before is None, tuple(change.after) if change.after is not None else None

    for _, run in groupby(sorted(changes, key=lambda change: change.table), key=shape):
        group = list(run)
        fresh = group[0].before is None and group[0].after is not None and group[0].table not in REPLACED
        yield group if fresh else list({change.key: change for change in group}.values())


def _types(table: str) -> dict[str, str]:
    """Column types by name; those that depend on the table are told here."""
    numbers = "position turns_at_creation pinned start stop number tokens_in tokens_out".split()
    numbers += ["id"] if table in ("extraction", "access", "value_history", "question", "pair") else []
    numbers += ["turn"] if table == "access" else []
    return {
        **dict.fromkeys(numbers, "bigint"),
        **dict.fromkeys(("at", "created", "seconds", "similarity"), "float8"),
        **dict.fromkeys(("vector", "report", "raw", "rows"), "bytea"),
        "half": "halfvec",
    }  # fmt: skip


def _unnest(table: str, columns: Sequence[str], first: int) -> str:
    types = _types(table)
    arrays = (f"${first + place}::{types.get(column, 'text')}[]" for place, column in enumerate(columns))
    return f"unnest({', '.join(arrays)})"


@lru_cache(maxsize=256)
def insertion(table: str, columns: tuple[str, ...]) -> str:
    """$1 tenant, $2 revision, then an array a column."""
    keys = ("tenant", *KEYS[table])
    into, values = ("tenant", *columns), "$1::bigint, u.*"
    if table in DATED:
        into, values = ("tenant", "revision", *columns), "$1::bigint, $2::bigint, u.*"
    sql = f"INSERT INTO {table} ({', '.join(into)}) SELECT {values} FROM {_unnest(table, columns, 3)} u"
    if table not in REPLACED:
        return sql
    rest = [f"{column} = excluded.{column}" for column in into if column not in keys]
    return f"{sql} ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {', '.join(rest)}"


@lru_cache(maxsize=256)
def updating(table: str, columns: tuple[str, ...]) -> str:
    """$1 tenant, $2 revision, then an array a key column, then an array a changed column."""
    keys = KEYS[table]
    names = [*(f"key_{key}" for key in keys), *(f"new_{column}" for column in columns)]
    sets = [f"{column} = u.new_{column}" for column in columns] + ["revision = $2::bigint"] * (table in DATED)
    same = [f"{table}.{key} = u.key_{key}" for key in keys]
    return (
        f"UPDATE {table} SET {', '.join(sets)} FROM {_unnest(table, (*keys, *columns), 3)} u ({', '.join(names)}) "
        f"WHERE {table}.tenant = $1::bigint AND {' AND '.join(same)}"
    )


@lru_cache(maxsize=256)
def deletion(table: str) -> str:
    """$1 tenant, $2 revision (unused), then an array a key column."""
    keys = KEYS[table]
    same = [f"{table}.{key} = u.key_{key}" for key in keys]
    return (
        f"DELETE FROM {table} USING {_unnest(table, keys, 3)} u ({', '.join(f'key_{key}' for key in keys)}) "
        f"WHERE {table}.tenant = $1::bigint AND $2::bigint IS NOT NULL AND {' AND '.join(same)}"
    )


def columns_of(table: str, names: Sequence[str], rows: Sequence[Sequence[Value]]) -> list[list[Value]]:
    """Rows as columns, one array each, of numbers of one kind. Raises InputError for a text that no server holds."""
    types = _types(table)
    plain = {"float8": _float, "text": _legible if table == "extraction" else _text}
    return [
        [plain.get(types.get(name, "text"), _same)(value) for value in column]
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    ]


def _float(value: Value) -> Value:
    return None if value is None else float(value)


def _text(value: Value) -> Value:
    if isinstance(value, str) and "\x00" in value:
        raise InputError(f"The text {value[:60]!r} holds a NUL character, which a server cannot store: take it out.")
    return value


def _legible(value: Value) -> Value:
    """What a model server said of its failure is kept all the same."""
    return value.replace("\x00", "\ufffd") if isinstance(value, str) else value


def _same(value: Value) -> Value:
    return value


#: The row of the memory is locked first, so that writers go one after the other.
TAKE = """
    UPDATE memory SET revision = $3, whole = CASE WHEN $4 THEN greatest(whole, $3::bigint) ELSE whole END
    WHERE tenant = $1 AND revision = $2 RETURNING pg_current_xact_id()::text"""
LENGTHS = "INSERT INTO turn_length (tenant, position, words) SELECT $1::bigint, * FROM unnest($2::bigint[], $3::int[])"
WORDS = """
    INSERT INTO turn_word (tenant, word, position, times)
    SELECT $1::bigint, * FROM unnest($2::text[], $3::bigint[], $4::int[])"""
SIZE = """
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
    WHERE relnamespace = 'forgetting_lab'::regnamespace AND relkind = 'r'"""
ALL_TABLES = """
    SELECT oid::regclass::text, EXISTS (
        SELECT FROM pg_index JOIN pg_class AS found ON found.oid = indexrelid JOIN pg_am ON pg_am.oid = found.relam
        WHERE indrelid = held.oid AND amname = 'hnsw')
    FROM pg_class AS held WHERE relnamespace = 'forgetting_lab'::regnamespace AND relkind = 'r'
    AND relname NOT IN ('memory', 'schema', 'secret')"""
#: The next transaction's number; who looks at the rows as they were before it keeps VACUUM from removing them.
NEXT = "SELECT (pg_snapshot_xmax(pg_current_snapshot())::text::numeric % 4294967296)::text"
LOOKING_BACK = """
    SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND (age(backend_xmin) > age($1::text::xid) OR age(backend_xid) > age($1::text::xid)))"""
#: FTS5's bm25(): k1 1.2, b .75, an idf of at least 1e-6, summed in the order of the words.
SEARCH = """
    WITH asked AS (SELECT word, place FROM unnest(?::text[]) WITH ORDINALITY AS asked (word, place)),
    total AS (SELECT count(*)::float8 AS turns, sum(words)::float8 / count(*) AS mean FROM turn_length),
    held AS (SELECT word, count(*)::float8 AS turns FROM turn_word
             WHERE word IN (SELECT word FROM asked) GROUP BY word),
    rare AS (SELECT word, ln((total.turns - held.turns + 0.5::float8) / (held.turns + 0.5::float8)) AS idf
             FROM held, total),
    best AS (
        SELECT position, sum((CASE WHEN idf <= 0 THEN 1e-6::float8 ELSE idf END) * ((times * (1.2::float8 + 1)) /
            (times + 1.2::float8 * (1 - 0.75::float8 + 0.75::float8 * words / mean))) ORDER BY place) AS score
        FROM asked JOIN rare USING (word) JOIN turn_word USING (word) JOIN turn_length USING (position), total
        GROUP BY position ORDER BY score DESC, position LIMIT ?)
    SELECT turn.id, score FROM best JOIN turn USING (position) ORDER BY score DESC, position"""
