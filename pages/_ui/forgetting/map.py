"""The whole memory as a map, by score, fate, label or what holds each node."""

from __future__ import annotations

import streamlit as st

from memory_core.figures.map import MapColors, by_fate, by_label, by_score
from memory_core.memories import OpenMemory
from memory_core.simulator import Shown, Simulator, simulator_of
from memory_core.simulator.reasons import cut_line
from pages._ui.forgetting.node_why import node_why
from pages._ui.forgetting.progress import progress
from pages._ui.forgetting.state import ForgettingState, seeded
from pages._ui.map_view import map_view


def map_page(opened: OpenMemory, state: ForgettingState, shown: Shown) -> None:
    """Draw the view."""
    by = st.segmented_control("Coloured by", ["fate", "score", "label"], key=seeded("map-by", "fate"), required=True,
                              label_visibility="collapsed", format_func=lambda name: f"by {name}")  # fmt: skip
    simulator, plan = simulator_of(opened), shown.plan
    if being_laid_out(simulator):
        return
    with st.spinner("Laying out the map, once…"):
        picture = simulator.picture(shown)
    if by == "score":
        colors = by_score(picture, plan.scores.score, cut_line(plan))
    elif by == "label":
        colors = by_label(picture)
    else:
        held = [node for node, is_held in zip(plan.node_ids, plan.held.tolist(), strict=True) if is_held]
        colors = by_fate(picture, set(plan.forgotten), held)
    drawn(opened, state, shown, colors)


def being_laid_out(simulator: Simulator) -> bool:
    """Whether the map of a large memory is still on its way, which is then shown."""
    job = simulator.laying()
    if job is None:
        return False
    progress(job)
    if job.state in ("cancelled", "failed"):
        st.button("Lay out the map", key="map-again", on_click=simulator.laying, args=(True,))
    return True


def drawn(opened: OpenMemory, state: ForgettingState, shown: Shown, colors: MapColors) -> None:
    """The map in these colours, with the card of the node chosen in it."""
    if being_laid_out(simulator_of(opened)):
        return
    picture, card = st.columns([7, 4], gap="medium")
    with picture:
        chosen = map_view(simulator_of(opened).picture(shown), colors, key=f"forget-map-{opened.name}", height=600)
    if chosen and chosen != state.told:
        state.told = chosen
        state.look_at(chosen)
    with card:
        node_why(opened, state, shown)
