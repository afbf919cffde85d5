"""Forgetting Lab: `streamlit run app.py`."""

from __future__ import annotations

from pages._ui import imported  # noqa: F401

# isort: split

from pathlib import Path

import streamlit as st

from memory_core.errors import ForgettingLabError
from pages._ui.embedder_panel import embedder_panel
from pages._ui.graph_view import ensure_static
from pages._ui.import_panel import importing
from pages._ui.memory_menu import memory_menu
from pages._ui.models_menu import MODELS, models_menu, summary
from pages._ui.numbers import numbers
from pages._ui.opened import as_text, current, settle, show_notice
from pages._ui.server_menu import server_menu
from pages._ui.signing_in import gate, who_looks

HERE = Path(__file__).parent
PAGES = {
    "chat": ("Chat", ":material/forum:"),
    "extraction": ("Extraction", ":material/category:"),
    "retrieval": ("Retrieval", ":material/travel_explore:"),
    "forgetting": ("Forgetting", ":material/hourglass_bottom:"),
    "results": ("Results", ":material/monitoring:"),
}

st.set_page_config("Forgetting Lab", str(HERE / "pages" / "_ui" / "icon.svg"), "wide", 270)
ensure_static()
st.html(HERE / "pages" / "_ui" / "style.css")
found = {name: words for name, words in PAGES.items() if (HERE / "pages" / f"{name}.py").exists()}
pages = [
    st.Page(HERE / "pages" / f"{name}.py", title=title, icon=icon, default=name == "chat")
    for name, (title, icon) in found.items()
]
page = st.navigation(pages, position="top")
gate()
problem, opened, names = "", None, []
try:
    names = settle()
    opened = current() if names else None
except ForgettingLabError as error:
    problem = str(error)
with st.sidebar:
    who_looks()
    memory_menu(names, opened)
    server_menu()
    st.session_state[MODELS] = models_menu()
    if opened is not None:
        embedder_panel(opened)
filling = opened is not None and importing(opened)
show_notice()
if filling:
    st.stop()
if opened is None:
    if problem:
        st.error(as_text(problem))
    else:
        st.info("There is no memory yet. Create one with **New** in the sidebar.")
    st.stop()
numbers(opened, summary(st.session_state[MODELS]))
page.run()
