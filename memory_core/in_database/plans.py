"""Forgetting where the memory lives: the server scores and marks; this process holds counts and the ids that go."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from memory_core.forgetting.cuts import Cut
from memory_core.forgetting.plan import warning
from memory_core.forgetting.rules import Rule, load_rules
from memory_core.in_database.scores import scored
from memory_core.memory.scoring import QUESTIONS
from memory_core.memory.turns import moment
from memory_core.policies import name_of, values_of
from memory_core.policies.budgeted import Budgeted
from memory_core.protocols import Embedder, Policy
from memory_core.schema import content_words, normalise_title, utc
from memory_core.store.rows import Value

if TYPE_CHECKING:
    from memory_core.store.postgres import PostgresStore

BINS = 20  # bars of the histogram over scores from 0 to 1


@dataclass(frozen=True)
class ServerPlan:
    """What would be forgotten and what decided it; `id` is the one that `plan_forgetting` gives for the same choices.

    `histogram`: of each twentieth of [0, 1], how many nodes score there and how many of them go.
    """

    id: str
    memory: str
    place: str
    revision: int
    policy: Policy
    cut: Cut
    at: datetime
    turn: int
    forgotten: tuple[str, ...]  # worst first
    edges: tuple[str, ...]
    nodes_before: int
    edges_before: int
    turns_before: int
    protected: int
    lowest: float
    bytes_live: int
    bytes_live_freed: int
    histogram: tuple[tuple[int, int], ...]

    def to_json(self) -> dict[str, object]:
        """The plan as `forget --in-database --json` prints it: what a plan made in RAM prints, and the histogram."""
        return {
            "plan": self.id, "memory": self.memory, "revision": self.revision, "policy": name_of(self.policy),
            "parameters": dict(values_of(self.policy)), "cut": str(self.cut), "turns_mode": "keep", "where": None,
            "at": self.at.isoformat(), "turn": self.turn, "nodes_before": self.nodes_before,
            "edges_before": self.edges_before, "turns_before": self.turns_before, "forgotten": list(self.forgotten),
            "edges": len(self.edges), "turns": 0, "protected": self.protected, "bytes_live": self.bytes_live,
            "bytes_live_freed": self.bytes_live_freed, "gap": None, "ranks": False, "warning": self.warning(),
            "histogram": [{"nodes": nodes, "forgotten": gone} for nodes, gone in self.histogram],
        }  # fmt: skip

    def summary(self) -> dict[str, object]:
        """What is kept of a plan in the history."""
        return {
            "plan": self.id, "policy": name_of(self.policy), "parameters": dict(values_of(self.policy)),
            "cut": str(self.cut), "turns_mode": "keep", "where": "", "as_of": self.at.isoformat(), "turn": self.turn,
            "nodes": len(self.forgotten), "edges": len(self.edges), "turns": 0,
            "bytes_live_freed": self.bytes_live_freed,
        }  # fmt: skip

    def warning(self) -> str | None:
        """What a person should know before applying."""
        return warning(self.cut, self.nodes_before, len(self.forgotten), self.lowest)


@dataclass(frozen=True)
class ServerPlanning:
    """Makes plans of one memory as it stands; call it inside a snapshot of its store."""

    store: PostgresStore
    embedder: Embedder

    def plan(self, policy: Policy, cut: Cut, at: datetime | str | None, turn: int | None) -> ServerPlan:
        """Score every live node once and choose what goes; changes nothing."""
        turns, clock = self.store.query(_TURNS)[0]
        now = max(int(turns), int(self.store.meta("turns", "0"))) if turn is None else turn
        when = moment(float(clock or 0.0)) if at is None else utc(at)
        bins = self._bins(policy, cut, when, now)
        forgotten = [node for *_, ids in bins for node in ids or ()]
        revision = self.store.revision()
        marked, memory = self.store.query(_HASHES, forgotten, self.embedder.id, str(revision))[0]
        edges_before, edge_bytes, edges, edge_freed = self.store.query(_EDGES, forgotten, forgotten)[0]
        turns_before, turn_bytes, vector_bytes = self.store.query(_TURN_SIZES)[0]
        place = {int(row[0]): row for row in bins}
        decided = {
            "memory": memory, "policy": name_of(policy), "parameters": values_of(policy), "cut": str(cut),
            "turns": "keep", "where": "", "at": when.isoformat(), "turn": now, "idle_days": None, "forgotten": marked,
        }  # fmt: skip
        return ServerPlan(
            id=hashlib.sha256(json.dumps(decided, sort_keys=True).encode()).hexdigest()[:16],
            memory=memory,
            place=self.store.place,
            revision=revision,
            policy=policy,
            cut=cut,
            at=when,
            turn=now,
            forgotten=tuple(forgotten),
            edges=tuple(edges or ()),
            nodes_before=sum(row[1] for row in bins),
            edges_before=edges_before,
            turns_before=turns_before,
            protected=sum(row[3] for row in bins),
            lowest=float(min((row[4] for row in bins), default=0.0)),
            bytes_live=sum(row[5] for row in bins) + edge_bytes + turn_bytes + turn_bytes // 2 + vector_bytes,
            bytes_live_freed=sum(row[6] for row in bins) + edge_freed,
            histogram=tuple((place[b][1], place[b][2]) if b in place else (0, 0) for b in range(BINS)),
        )

    def _bins(self, policy: Policy, cut: Cut, at: datetime, turn: int) -> list[tuple[Any, ...]]:
        """In order (bin, nodes, going, held, lowest score, bytes, bytes freed, ids that go, worst first)."""
        rules = load_rules(self.store.meta("protect"))
        labels: list[Value] = [rule.value for rule in rules if rule.kind == "label"]
        held: list[Value] = [node for rule in rules for node in self._held(rule)]
        goes = f"{_RANK} <= count(*) OVER () - {int(cut.value)}" if cut.kind == "keep" else f"score < {cut.value!r}"
        sql = f"""
            WITH {scored(policy, at.timestamp(), turn)},
            judged AS (SELECT id, rowid, created, score, NOT (pinned <> 0 OR label = ANY(?) OR id = ANY(?)) AS free
                       FROM scored),
            fated AS (SELECT *, free AND {goes} AS goes FROM judged)
            {_BINS.format(bins=BINS, vector=2 * self.embedder.dim)}"""
        return self.store.query(sql, *asked(self.store, policy), labels, held)

    def _held(self, rule: Rule) -> list[str]:
        if rule.kind == "label":
            return []
        if rule.kind == "speaker":
            return [item for (item,) in self.store.query(_SAID_BY, rule.value)]
        word = normalise_title(rule.value)
        texts = self.store.query(_MAY_HOLD, not word.isascii(), word)
        return [node for node, text in texts if word in normalise_title(text).split() + content_words(text)]


def asked(store: PostgresStore, policy: Policy) -> list[list[Value]]:
    """What the marks in `scored` stand for: with P2 the vectors of the last questions."""
    if not isinstance(policy, Budgeted):
        return []
    blobs = store.query("SELECT vector FROM question ORDER BY id DESC LIMIT ?", QUESTIONS)
    return [[str(np.frombuffer(blob, np.float32).tolist()) for (blob,) in blobs]]


_RANK = "row_number() OVER (PARTITION BY free ORDER BY score, created, rowid DESC)"
_BINS = """
    SELECT CAST(least(floor(score * {bins}), {bins} - 1) AS integer) AS bin, count(*), count(*) FILTER (WHERE goes),
        count(*) FILTER (WHERE NOT free), min(score), CAST(sum(size) AS bigint),
        CAST(coalesce(sum(size) FILTER (WHERE goes), 0) AS bigint),
        array_agg(id ORDER BY score, created, rowid DESC) FILTER (WHERE goes)
    FROM fated JOIN (
        SELECT id, 2 * octet_length(id) + 32 + octet_length(title) + octet_length(content) + octet_length(attributes)
            + CASE WHEN node_vector.node IS NULL THEN 0 ELSE {vector} END AS size
        FROM node LEFT JOIN node_vector ON node_vector.node = id) AS sized USING (id)
    GROUP BY bin ORDER BY bin"""
_TURNS = "SELECT coalesce(max(position) + 1, 0), max(at) FROM turn"
_TURN_SIZES = """
    SELECT count(DISTINCT source_id), CAST(coalesce(sum(octet_length(text)), 0) AS bigint),
        CAST(coalesce(sum(octet_length(vector)), 0) AS bigint)
    FROM turn LEFT JOIN turn_vector ON turn_vector.turn = turn.id WHERE forgotten_by IS NULL"""
_EDGES = """
    SELECT count(*), CAST(coalesce(sum(size), 0) AS bigint), array_agg(id ORDER BY rowid) FILTER (WHERE goes),
        CAST(coalesce(sum(size) FILTER (WHERE goes), 0) AS bigint)
    FROM (
        SELECT id, rowid, 8 + octet_length(id) + octet_length(source) + octet_length(target)
            + octet_length(relationship) + octet_length(attributes) AS size,
            source IN (SELECT unnest(CAST(? AS text[]))) OR target IN (SELECT unnest(CAST(? AS text[]))) AS goes
        FROM edge WHERE forgotten_by IS NULL) AS edges"""
#: The hashes by which `plan_forgetting` and `Memory.fingerprint` tell what goes, and the memory at its revision.
_HASHES = """
    SELECT encode(sha256(coalesce((
            SELECT string_agg(CASE WHEN goes.id IS NULL THEN bytea '\\x00' ELSE bytea '\\x01' END, '' ORDER BY rowid)
            FROM node LEFT JOIN unnest(CAST(? AS text[])) AS goes (id) ON goes.id = node.id), '')), 'hex'),
        left(encode(sha256(convert_to(concat_ws(E'\\x1f', CAST(? AS text), CAST(? AS text),
            (SELECT string_agg(id, E'\\x1f' ORDER BY rowid) FROM node),
            (SELECT string_agg(title, E'\\x1f' ORDER BY rowid) FROM node),
            (SELECT string_agg(id, E'\\x1f' ORDER BY rowid) FROM edge)), 'UTF8')), 'hex'), 16)"""
_SAID_BY = """
    SELECT DISTINCT item FROM provenance JOIN turn ON turn.id = provenance.turn WHERE lower(speaker) = lower(?)"""
_MAY_HOLD = """
    SELECT id, text FROM (SELECT id, title || ' ' || content AS text FROM node WHERE forgotten_by IS NULL) AS texts
    WHERE ? OR octet_length(text) <> length(text) OR strpos(lower(text), ?) > 0"""
