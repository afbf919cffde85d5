"""Planned, looked at, then applied; taken back; or removed for good."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from memory_core.errors import InputError, MemoryFileError, StalePlanError
from memory_core.forgetting.ghosts import Ghost, GhostHit, ghost_hits, ghosts_of
from memory_core.forgetting.passes import PASSES, Pass, marks, restoring, summary
from memory_core.forgetting.plan import ForgettingPlan, plan_forgetting
from memory_core.forgetting.purge import REWRITE, Doomed, erasing
from memory_core.forgetting.rules import Rule, dump_rules, load_rules
from memory_core.memory.scoring import Scoring
from memory_core.memory.turns import moment
from memory_core.policies import make
from memory_core.protocols import Policy
from memory_core.schema import utc
from memory_core.store.contract import StaleRevisionError
from memory_core.store.rows import RowChange, Value, insert, pack, update


class Forgetting(Scoring):
    """What a memory does to forget."""

    def plan(self, policy: Policy, **cut: Any) -> ForgettingPlan:
        """`plan_forgetting` of this memory: score, choose, change nothing."""
        return plan_forgetting(self, policy, **cut)

    def apply(self, plan: ForgettingPlan, *, at: datetime | str | None = None, by: str = "user") -> str:
        """Forget exactly what the plan shows; returns the id of the pass. `at` defaults to the plan's time.

        Raises StalePlanError when the memory changed since, or the plan was made for another memory.
        """
        with self.lock:
            self._check_fresh(plan)
            saved = self.counters.change
            number = self.counters.take("change")
            rows = marks(plan, f"c{number}")
            change = insert(
                "change", id=f"c{number}", number=number, at=(utc(at) if at else plan.at).timestamp(), kind="forget",
                made_by=by, state="applied", summary=json.dumps(summary(plan), ensure_ascii=False), rows=pack(rows),
            )  # fmt: skip
            try:
                self.commit([*rows, change])
            except StaleRevisionError:
                self.counters.change = saved
                raise StalePlanError(STALE) from None
            except BaseException:
                self.counters.change = saved
                raise
        return f"c{number}"

    def _check_fresh(self, plan: ForgettingPlan) -> None:
        if plan.memory != self.fingerprint():
            raise StalePlanError(STALE)

    def _undo(self, change_id: str, at: datetime) -> dict[str, object]:
        rows = self.store.query("SELECT kind, state FROM change WHERE id = ?", change_id)
        if not rows or rows[0][0] not in PASSES:
            return super()._undo(change_id, at)
        return self._restore(change_id, rows[0][1], None)

    def restore(self, pass_id: str, nodes: Sequence[str]) -> dict[str, object]:
        """Bring back single nodes of a pass, each with its edges to live nodes and its turns. Raises InputError."""

        def write() -> dict[str, object]:
            rows = self.store.query("SELECT state FROM change WHERE id = ?", pass_id)
            taken = {node for node, by in zip(self.graph.ids, self.graph.forgotten_by, strict=True) if by == pass_id}
            strange = [node for node in nodes if node not in taken]
            if not rows or strange:
                raise InputError(f"Node {(strange or list(nodes))[0]} is not among what pass {pass_id} forgot.")
            return self._restore(pass_id, rows[0][0], nodes)

        return self.retrying(write)

    def _restore(self, pass_id: str, state: str, nodes: Sequence[str] | None) -> dict[str, object]:
        if state != "applied":
            raise InputError(f"Pass {pass_id} is already {state}.")
        changes = restoring(self, pass_id, nodes)
        left = self.graph.forgotten_by.count(pass_id) - sum(change.table == "node" for change in changes)
        done = (
            [update("change", pass_id, {"state": "applied"}, {"state": "undone"})] if nodes is None or not left else []
        )
        self.commit([*changes, *done])
        return {"id": pass_id, "restored": _counted(changes), "kept": 0}

    # -- removing for good -----------------------------------------------------------------------------------------

    def purge(self, pass_id: str, *, at: datetime | str | None = None) -> dict[str, object]:
        """Erase every row a pass took, and what other rows say of them, then rewrite the file; there is no way back.

        Returns {"id", "purged": {nodes, edges, turns}, "receipt"}; the receipt holds counts and no content. Raises
        InputError for an unknown, undone or purged pass. Killed half way, nothing or everything is erased, and the file
        is rewritten when it is opened next.
        """
        receipt = self.retrying(lambda: self._purge(pass_id, utc(at) if at else None))
        before = self.store.bytes_on_disk()
        receipt |= {"rewritten": self.rewrite_when_due(), "bytes_on_disk_before": before}
        receipt["bytes_on_disk"] = self.store.bytes_on_disk()
        counts = {name: receipt[name] for name in ("nodes", "edges", "turns")}
        return {"id": pass_id, "purged": counts, "receipt": receipt}

    def _purge(self, pass_id: str, at: datetime | None) -> dict[str, object]:
        rows = self.store.query("SELECT kind, state, at FROM change WHERE id = ?", pass_id)
        if not rows or rows[0][0] not in PASSES:
            raise InputError(f"There is no forgetting pass {pass_id} in this memory: `history` lists them.")
        kind, state, done_at = rows[0]
        if state != "applied":
            raise InputError(f"Pass {pass_id} is {state}: there is nothing to purge.")
        doomed = Doomed.of(self, pass_id)
        changes, kept = erasing(self, doomed)
        receipt: dict[str, object] = {
            "pass": pass_id, "kind": kind, "at": (at or moment(done_at)).isoformat(), "nodes": len(doomed.nodes),
            "edges": len(doomed.edges), "turns": len(doomed.turns), "turns_kept": kept,
        }  # fmt: skip
        blank: dict[str, Value] = {"state": "purged", "summary": json.dumps(receipt), "rows": pack([])}
        self.commit(
            [*changes, *self._vectors(changes), update("change", pass_id, {"state": state}, blank),
             insert("meta", key="turns", value=str(self.graph.turns)), insert("meta", key=REWRITE, value="due")],
            reload=True,
        )  # fmt: skip
        return receipt

    def rewrite_when_due(self) -> bool:
        """Rewrite the file when a purge asked for it; whether that is done. A full or busy disk leaves it for later."""
        with self.lock:
            if self.store.meta(REWRITE) != "due" or self.store.read_only:
                return self.store.meta(REWRITE) != "due"
            revision = self.revision
            try:
                clean = self.store.rewrite()
            except MemoryFileError:
                return False
            if clean:
                with suppress(StaleRevisionError):  # written meanwhile, perhaps by another purge: it stays due for that
                    self.store.commit([RowChange("meta", (REWRITE,), {}, None)], revision, count=False)
            return clean

    # -- by itself -------------------------------------------------------------------------------------------------

    def forget_when_due(self, turn: str) -> str | None:
        """The automatic pass (P1 3.6), every `settings.forget_every` turns, by the same engine. Returns its id."""
        every = self.settings.forget_every
        return self.retrying(self._forget_now) if every and (self.turn(turn).position + 1) % every == 0 else None

    def _forget_now(self) -> str | None:
        settings = self.settings
        policy = make(settings.forget_policy, settings.forget_parameters)
        idle = None if settings.forget_policy == "importance" else settings.forget_idle_days or None
        plan = plan_forgetting(
            self, policy, threshold=settings.forget_threshold, turns=settings.forget_turns, idle_days=idle
        )
        try:
            return None if plan.nothing else self.apply(plan, by="automatic")
        except StalePlanError:  # another process was faster: plan again
            raise StaleRevisionError from None

    # -- regret ----------------------------------------------------------------------------------------------------

    def ghosts(self, question: str) -> tuple[Ghost, ...]:
        """Forgotten nodes this question would have started from; offer to restore them."""
        _ = self.revision
        return ghosts_of(self, question)

    def ghost_hits(self) -> list[GhostHit]:
        """The stored questions that hit what had been forgotten."""
        return ghost_hits(self)

    def entities(self, question: str) -> list[str]:
        """The entities of a question."""
        raise NotImplementedError

    # -- what was done ---------------------------------------------------------------------------------------------

    def passes(self) -> list[Pass]:
        """Every forgetting pass, oldest first."""
        _ = self.revision
        left = dict(self.store.query("SELECT forgotten_by, count(*) FROM node GROUP BY forgotten_by"))
        rows = self.store.query(
            "SELECT id, at, made_by, state, summary FROM change WHERE kind = 'forget' ORDER BY number"
        )
        return [_pass(*row, left=left.get(row[0], 0)) for row in rows]

    def search_forgotten(self, text: str = "", pass_id: str | None = None) -> list[str]:
        """Ids of forgotten nodes whose title, content or attributes hold every word of `text`, oldest first."""
        words = text.casefold().split()
        with self.lock:
            _ = self.revision
            graph = self.graph
            rows = list(zip(graph.ids, graph.forgotten_by, graph.titles, graph.contents, graph.attributes, strict=True))
        return [
            node
            for node, by, *texts in rows
            if by is not None
            and (pass_id is None or by == pass_id)
            and all(word in "\n".join(texts).casefold() for word in words)
        ]

    # -- protection ------------------------------------------------------------------------------------------------

    def rules(self) -> tuple[Rule, ...]:
        """The protection rules saved with the memory."""
        return load_rules(self.store.meta("protect"))

    def protect(self, rule: str | Rule) -> tuple[Rule, ...]:
        """Save a rule (`label=Preference`, `speaker=Mira`, `word=allergy`): no forgetting takes what it names."""
        return self._set_rules(rule, add=True)

    def unprotect(self, rule: str | Rule) -> tuple[Rule, ...]:
        """Take a rule away. Raises InputError when there is none such."""
        return self._set_rules(rule, add=False)

    def _set_rules(self, rule: str | Rule, *, add: bool) -> tuple[Rule, ...]:
        parsed = Rule.parse(str(rule))

        def write() -> tuple[Rule, ...]:
            known = set(self.rules())
            if not add and parsed not in known:
                raise InputError(f"There is no rule {parsed} to take away.")
            after = tuple(sorted(known | {parsed} if add else known - {parsed}))
            self.commit([insert("meta", key="protect", value=dump_rules(after))])
            return after

        return self.retrying(write)


STALE = "The memory changed since this plan was made, or it is another memory's: plan again and look at the new one."


def _counted(changes: Sequence[RowChange]) -> dict[str, int]:
    """Rows that came back, by kind (an edge that only waits for another pass did not)."""
    return {
        name: sum(change.table == table and (change.after or {}).get("forgotten_by", "") is None for change in changes)
        for name, table in (("nodes", "node"), ("edges", "edge"), ("turns", "turn"))
    }


def _pass(of: str, at: float, by: str, state: str, text: str, *, left: int) -> Pass:
    said: dict[str, Any] = json.loads(text)
    return Pass(
        id=of, at=moment(at), policy=said.get("policy", ""), parameters=said.get("parameters", {}),
        nodes=int(said.get("nodes", 0)), edges=int(said.get("edges", 0)), turns=int(said.get("turns", 0)),
        state=state, left=int(left), by=by, summary=said,
    )  # fmt: skip
