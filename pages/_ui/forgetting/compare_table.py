"""The points of a comparison as a table; choosing a row loads it into the controls."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from memory_core.simulator.comparing import Comparison
from memory_core.simulator.pricing import NAMES
from pages._ui.forgetting.state import ForgettingState

_SHORT = {"evidence_survival": "evidence", "answer_survival": "answer", "graph_recall@5": "recall@5"}


def compare_table(state: ForgettingState, found: Comparison) -> None:
    """Draw it."""
    columns: dict[str, list[object]] = {
        "setting": [point.name for point in found.points],
        "kept": [100 * point.share for point in found.points],
    }
    for key in NAMES:
        columns[_SHORT[key]] = [point.value(key) for point in found.points]
        if found.kind == "policies":
            columns[f"{_SHORT[key]} loss"] = [point.figures[key].loss_ratio for point in found.points]
    against = "beside chance" if found.kind == "policies" else ""
    if against:
        columns[against] = [_beside(point.figures) for point in found.points]
    key = f"compare-table-{found.kind}"
    st.dataframe(
        pd.DataFrame(columns), key=key, hide_index=True, on_select=partial(_load, key, state, found),
        selection_mode="single-row", height=min(38 + 35 * len(found.points), 470),
        column_config={"kept": st.column_config.NumberColumn(format="%.1f %%"), **{
            name: st.column_config.NumberColumn(format="%.3f" if "loss" not in name else "%.2f", help=(
                "Loss ratio: what the plan loses over what chance loses; 1 is chance" if "loss" in name else None))
            for name in columns if name not in ("setting", "kept", against)
        }},
    )  # fmt: skip


def _load(key: str, state: ForgettingState, found: Comparison) -> None:
    for row in st.session_state[key].selection.rows[:1]:
        if row < len(found.points):
            state.load_setting(found.points[row].setting)


def _beside(figures) -> str:  # type: ignore[no-untyped-def]
    better = [_SHORT[key] for key, one in figures.items() if one.n and one.above_band]
    return f"better on {', '.join(better)}" if better else "no better than chance"
