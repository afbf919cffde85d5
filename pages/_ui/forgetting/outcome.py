"""What the plan takes, in one strip of numbers above every view."""

from __future__ import annotations

import streamlit as st

from memory_core.memories import OpenMemory
from memory_core.simulator import Shown
from memory_core.simulator.effects import size
from pages._ui.forgetting.state import ForgettingState
from pages._ui.words import safe


def outcome(opened: OpenMemory, state: ForgettingState, shown: Shown) -> None:
    """Counts, bytes and what is broken; then whatever has to be said plainly."""
    plan, effects = shown.plan, shown.effects
    gone, n = int(plan.fate.sum()), plan.nodes_before
    cells = [
        ("edges go", f"{len(plan.edges):,}", f"Edges that lose an end, of {plan.edges_before:,}"),
        ("turns go", f"{len(plan.turns):,}", f"Turns that nothing else cites, of {plan.turns_before:,}"),
        ("live freed", size(plan.bytes_live_freed), f"Of {size(plan.bytes_live)} live; the file shrinks at a purge"),
        ("left isolated", f"{effects.isolated:,}", "Nodes that stay and lose every edge"),
        (
            f"component{'' if effects.broken == 1 else 's'} broken",
            f"{effects.broken:,}",
            f"In more than one piece afterwards, of {effects.components:,}",
        ),
        ("protected", f"{int(plan.held.sum()):,}", "Pinned, or named by a rule: no cut takes them"),
    ]
    if plan.gap is not None:
        cells.append(("gap", f"{plan.gap:.2%}", "Summed score this choice of whole nodes misses of the linear bound"))
    rest = "".join(f'<span title="{safe(tip)}"><b>{value}</b> {name}</span>' for name, value, tip in cells)
    main = f'<span class="main" title="Nodes this plan forgets, of the live ones"><b>{gone:,}</b> of {n:,} nodes go'
    share = f" ({gone / n:.1%})" if n else ""
    st.html(f'<div class="going" data-plan="{plan.id}">{main}{share}</span>{rest}</div>')
    told = [state.why, *state.problems, plan.warning() or ""]
    if plan.scores.ranks:
        told.append(
            f"{plan.policy} has no scale of its own: its scores are ranks from 0 to 1, so a threshold is a share."
        )
    for line in told:
        if line:
            st.html(f'<div class="warn">{safe(line)}</div>')
