"""Survival figures with band, lift and loss ratio as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from memory_core.evaluation.cost import Figure
from pages._ui.words import safe

_HEAD = (
    ("figure", ""), ("questions", "Questions that can be judged by it"), ("before", "Of the memory as it is"),
    ("after", "Of the memory as it would be"), ("random", "Mean of the random prunes of the same size"),
    ("2.5 to 97.5 %", "Percentiles of the random prunes"), ("lift", "After / random; 1 is chance"),
    ("loss ratio", "What the plan loses over what chance loses; 1 is chance, 0 loses nothing"),
)  # fmt: skip


def figures_table(figures: Mapping[str, Figure], also: Sequence[tuple[str, str]] = ()) -> None:
    """One row a figure; `also` are rows with one number."""
    head = "".join(f'<th title="{safe(tip)}">{name}</th>' for name, tip in _HEAD)
    rows = "".join(f"<tr><td>{safe(name)}</td>{_cells(one)}</tr>" for name, one in figures.items())
    rows += "".join(f"<tr><td>{safe(name)}</td><td></td><td></td><td>{value}</td></tr>" for name, value in also)
    st.html(f'<table class="figs"><tr>{head}</tr>{rows}</table>')


def _cells(one: Figure) -> str:
    if not one.n:
        return '<td>0</td><td colspan="6">not judged: no question of this set can be</td>'
    lift = f"{one.lift:.2f}" if one.lift is not None else ""
    loss = f"{one.loss_ratio:.2f}" if one.loss_ratio is not None else ""
    values = (f"{one.n:,}", f"{one.before:.3f}", f"{one.value:.3f}", f"{one.mean:.3f}",
              f"{one.low:.3f} to {one.high:.3f}", lift, loss)  # fmt: skip
    return "".join(f"<td>{value}</td>" for value in values)
