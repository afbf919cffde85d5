"""What a retrieval leaves as files: the trace, the context, the picture."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from memory_core.figures.memory_graph import Picture
from memory_core.figures.network import standalone_html


def exports(name: str, trace: dict[str, Any], picture: Picture) -> None:
    """Download buttons; the picture as PNG is a button of the picture itself."""
    title = f"{trace['retriever']}: {trace['question'][:80]}"
    files = {
        "Trace (JSON)": ("json", json.dumps(trace, ensure_ascii=False, indent=1, default=str)),
        "Context (text)": ("txt", str(trace["context"])),
        "Picture (HTML)": ("html", lambda: standalone_html(picture.nodes, picture.edges, title)),
    }
    with st.container(horizontal=True, gap="small", key="retrieval-exports"):
        for words, (ending, data) in files.items():
            st.download_button(
                words, data=data, file_name=f"{name}-{trace['retriever']}.{ending}", on_click="ignore",
                key=f"retrieval-export-{ending}", icon=":material/download:",
                disabled=ending == "html" and not picture.nodes,
                help="What `ask --json` prints for this question and these settings" if ending == "json" else None,
            )  # fmt: skip
