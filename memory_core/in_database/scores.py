"""Importance (P1 3.6) and the budgeted score (P2, eqs. 2 to 5) as SQL: the same numbers as the policies give in RAM."""

from __future__ import annotations

from collections.abc import Mapping

from memory_core.errors import InputError
from memory_core.policies import name_of
from memory_core.policies.budgeted import Budgeted
from memory_core.policies.importance import Importance
from memory_core.protocols import Policy

_LN_11 = "ln(11.0::float8)"  # P1 3.6: ten edges are as central as can be
_LEAST = -1000.0  # PostgreSQL calls 2^-1075 an error; nobody can tell 2^-1000 from it

#: What a score is made of, one row a live node; `asked` holds the last questions' vectors, none or more.
LIVE = """
used AS (
    SELECT node, count(*) AS times, max(ARRAY[at, turn]) AS latest FROM access GROUP BY node),
degrees AS (
    SELECT node, count(*) AS degree FROM (
        SELECT source AS node FROM edge WHERE forgotten_by IS NULL
        UNION ALL
        SELECT target FROM edge WHERE forgotten_by IS NULL AND target <> source) AS ends
    GROUP BY node),
live AS (
    SELECT rowid, id, label, pinned, created, turns_at_creation, coalesce(times, 0) AS accesses,
        coalesce(degree, 0) AS degree, coalesce(latest[1], created) AS accessed,
        coalesce(latest[2], turns_at_creation) AS turns_at_access
    FROM node LEFT JOIN used ON used.node = node.id LEFT JOIN degrees ON degrees.node = node.id
    WHERE forgotten_by IS NULL)"""


def terms(policy: Policy, at: float, turn: int) -> Mapping[str, tuple[float, str]]:
    """Name -> (weight, SQL over `live`) of each term of a policy, at `at` (seconds since the epoch) and `turn`.

    Raises InputError for a policy that has no SQL, or whose weights are zero or negative.
    """
    if isinstance(policy, Importance):
        found = _importance(policy, at, turn)
    elif isinstance(policy, Budgeted):
        found = _budgeted(policy, at)
    else:
        raise InputError(
            f"Policy {name_of(policy)} cannot be computed in the database: choose importance or budgeted, or leave out "
            "--in-database."
        )
    total = sum(weight for weight, _ in found.values())
    if not total > 0 or any(weight < 0 for weight, _ in found.values()):
        raise InputError("All weights are zero or one is negative: give at least one term a positive weight.")
    return {name: (weight / total, term) for name, (weight, term) in found.items()}


def scored(policy: Policy, at: float, turn: int) -> str:
    """Common table expressions, the last of which, `scored`, is `live` with a column a term and their sum, `score`."""
    parts = terms(policy, at, turn)
    columns = ", ".join(f"{weight!r} * {term} AS {name}" for name, (weight, term) in parts.items())
    return f"""{LIVE},
parts AS (SELECT live.*, {columns} FROM live),
scored AS (SELECT parts.*, least(greatest({" + ".join(parts)}, 0), 1) AS score FROM parts)"""


def _importance(policy: Importance, at: float, turn: int) -> dict[str, tuple[float, str]]:
    since = "turns_at_creation" if policy.turns_from == "creation" else "turns_at_access"
    turns = f"CAST(greatest({turn!r} - {since}, 0) AS float8) / {policy.turn_half_life!r}"
    return {
        "recency": (policy.recency, _halved(_days("accessed", at, policy.half_life))),
        "frequency": (policy.frequency, _FREQUENCY),
        "centrality": (policy.centrality, f"least(ln(1 + degree::float8) / {_LN_11}, 1)"),
        "turns": (policy.turns, _halved(turns)),
    }


def _budgeted(policy: Budgeted, at: float) -> dict[str, tuple[float, str]]:
    since = "created" if policy.since == "insertion" else "accessed"
    return {
        "recency": (policy.recency, _halved(_days(since, at, policy.half_life))),
        "frequency": (policy.frequency, _FREQUENCY),
        "similarity": (policy.similarity, _SIMILARITY),
    }


def _days(since: str, at: float, half_life: float) -> str:
    """Half-lives since a time; one in the future is now."""
    return f"greatest({at!r} - {since}, 0) / 86400.0 / {half_life!r}"


def _halved(times: str) -> str:
    return f"power(2.0::float8, greatest(-({times}), {_LEAST!r})::float8)"


_FREQUENCY = "ln(1 + accesses::float8) / ln(2 + (SELECT coalesce(max(accesses), 0) FROM live)::float8)"
_SIMILARITY = """least(greatest(coalesce((
    SELECT max(-(CAST(half AS vector) <#> asked)) FROM node_vector, unnest(CAST(? AS vector[])) AS asked
    WHERE node = live.id), 0), 0), 1)"""
