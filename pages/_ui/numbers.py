"""The line above every page: the memory and its numbers, alive while something is remembered."""

from __future__ import annotations

import streamlit as st

from memory_core.inspection.origins import origin
from memory_core.memories import OpenMemory
from memory_core.simulator.effects import size
from pages._ui.opened import part
from pages._ui.words import safe

_LOOK = 1.0  # seconds
_TIPS = {
    "turns": "Turns stored: messages of conversations, verbatim",
    "nodes": "Live nodes of the graph",
    "edges": "Live edges of the graph",
    "live": "Bytes that live nodes, edges, turns and vectors take; forgetting lowers them",
    "on disk": "Size of the memory's file with its log, or of all tables of its server; only a purge gives it back",
}


def numbers(opened: OpenMemory, models: str) -> None:
    """Draw the line. It follows a job every second, and looks for what others write to a memory on a server."""
    every = _LOOK if running(opened) or opened.shared else None
    part(_line, run_every=every)(opened, models, opened.memory.revision)


def running(opened: OpenMemory) -> bool:
    """Whether a job waits, works or is paused (its last step may still be on its way), so that the page follows it."""
    return opened.busy


def _line(opened: OpenMemory, models: str, drawn: int) -> None:
    if opened.shared and not running(opened) and opened.newest > drawn:
        st.rerun()  # the whole page: another process, or another browser of this one, wrote
    stats = opened.numbers()
    live = stats["bytes_live"]["total"]  # type: ignore[index]
    values = [("turns", f"{stats['turns']:,}"), ("nodes", f"{stats['nodes']:,}"), ("edges", f"{stats['edges']:,}"),
              ("live", size(live)), ("on disk", size(stats["bytes_on_disk"]))]  # type: ignore[arg-type] # fmt: skip
    cells = "".join(f'<span title="{_TIPS[unit]}"><b>{value}</b> {unit}</span>' for unit, value in values)
    provider = (
        '<span class="provider" title="Who reads turns, who answers, and the embedder of this memory">'
        f"{safe(models)} · {safe(stats['embedder'])}</span>"
    )
    job = opened.worker.current
    work = f'<span class="work">{safe(job.name)}: {job.done} of {job.total}, {job.state}</span>' if job else ""
    st.html(f'<div class="numbers"><strong>{safe(opened.name)}</strong>{cells}{_lacking(opened)}{provider}{work}</div>')


def _lacking(opened: OpenMemory) -> str:
    """What the file of an imported memory did not hold, so that no page can show it."""
    known = origin(opened.memory)
    if known is None or not known.missing:
        return ""
    short = ", ".join(text.partition(":")[0] for text in known.missing)
    tip, name = safe("; ".join(known.missing)), safe(f"from {known.system or 'a graph file'}")
    return f'<span class="work" title="{tip}">{name}: {safe(short)}</span>'
