"""The JSON of the commands `forget` and `history` (design, section 6)."""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.errors import InputError
from memory_core.forgetting.forgetting import Forgetting
from memory_core.forgetting.plan import ForgettingPlan


def forget_document(plan: ForgettingPlan, pass_id: str | None = None) -> dict[str, object]:
    """A plan, and the pass when it was applied."""
    applied: dict[str, object] = {"applied": pass_id is not None}
    return plan.to_json() | applied | ({"id": pass_id} if pass_id is not None else {})


def history_document(memory: Forgetting) -> dict[str, object]:
    """Forgetting passes and every other change, oldest first; `undo` and `purge` take the ids."""
    return {
        "passes": [done.to_json() for done in memory.passes()],
        "changes": [
            {
                "id": change.id,
                "at": change.at.isoformat(),
                "kind": change.kind,
                "by": change.by,
                "state": change.state,
                "summary": change.summary,
            }
            for change in memory.changes()
            if change.kind != "forget"
        ],
    }


def parse_sets(given: Sequence[str]) -> dict[str, str]:
    """`--set name=value …` as a mapping. Raises InputError.

    >>> parse_sets(["half_life=30", "turns_from=access"])
    {'half_life': '30', 'turns_from': 'access'}
    """
    values = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name.strip() or not equals:
            raise InputError(f"--set {text} is not understood: write it as name=value.")
        values[name.strip()] = value.strip()
    return values
