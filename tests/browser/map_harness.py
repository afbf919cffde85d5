"""A page with nothing but the whole-memory map, at the paper's size: ?n=27021&m=46538."""

from __future__ import annotations

import numpy as np
import streamlit as st

from memory_core.figures.layout import map_layout
from memory_core.figures.map import MapPicture, by_fate, by_label, by_score
from pages._ui.map_view import map_view
from tests.synthetic import large_memory

st.set_page_config(layout="wide")


@st.cache_resource
def picture(n: int, m: int) -> MapPicture:
    labels, sources, targets = large_memory(n, m)
    ids = [str(i) for i in range(n)]
    titles = [f"topic {i}" if i % 9 else f"x</script><script>window.__pwned=1</script> {i}" for i in range(n)]
    return MapPicture("r1", ids, titles, labels, sources, targets, map_layout(n, sources, targets))


@st.fragment
def panel() -> None:
    shown = picture(int(st.query_params.get("n", "27021")), int(st.query_params.get("m", "46538")))
    by = st.radio("colour by", ["label", "score", "fate"], horizontal=True)
    scores = np.random.default_rng(1).beta(2, 5, len(shown.ids))
    forgotten = [i for i, s in zip(shown.ids, scores, strict=True) if s < 0.1]
    colors = {
        "label": lambda: by_label(shown),
        "score": lambda: by_score(shown, scores, cut=0.1),
        "fate": lambda: by_fate(shown, forgotten, pinned=["7", "8"]),
    }[by]()
    chosen = map_view(shown, colors, key="map", height=700)
    st.text(f"SELECTED={chosen!r}")


panel()
