"""The extraction of a whole memory in sum: who read it and at what price, labels, relationships, what looks wrong."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from memory_core.inspection.kept import at_hand
from memory_core.inspection.lines import statuses, turn_lines
from memory_core.inspection.origins import origin
from memory_core.inspection.overview import MOST, Overview, Titled, overview
from memory_core.memories import OpenMemory
from pages._ui.extraction.state import ExtractionState
from pages._ui.forgetting.progress import progress
from pages._ui.words import glyph, plural, safe, seconds


def overviewing(opened: OpenMemory, state: ExtractionState) -> None:
    """Draw the sums."""
    with st.spinner("Summing up…"):
        found, job = at_hand(opened.memory, "overview", overview)
    progress(job)
    if found is None:
        return
    lines = turn_lines(opened.memory)
    if not opened.memory.graph.node_count:
        st.info("No node is stored yet: there is nothing to sum up.")
        return
    if not lines:
        st.caption("This memory came without turns: statuses, time and tokens are not known, the rest is below.")
    elif not found.readers:
        st.caption("The turns came without their extractions: who read them, and how well, is not known.")
    left, middle, right = st.columns(3, gap="medium")
    with left:
        st.html(_statuses(statuses(lines)) + _labels(found))
    with middle:
        st.html(_relationships(found))
    with right:
        st.html(_alarms(found))
    if found.readers:
        st.html('<h4 class="sub">Who read the turns, and at what price</h4>')
        st.dataframe(_readers(found), hide_index=True, key=state.key("readers"), column_config={
            "failed": st.column_config.NumberColumn(help="Turns with nothing usable"),
            "empty": st.column_config.NumberColumn(help="Turns the extractor found nothing to remember in"),
            "median": st.column_config.TextColumn(help="Time of the middle turn"),
        })  # fmt: skip
    _origin(opened, state)
    if found.drops:
        st.html('<h4 class="sub">Why items were dropped</h4>')
        st.dataframe(pd.DataFrame(found.drops, columns=["reason", "items"]), hide_index=True, key=state.key("drops"))


def _origin(opened: OpenMemory, state: ExtractionState) -> None:
    """Of an imported memory: what is missing, how labels were mapped, what was left out."""
    known = origin(opened.memory)
    if known is None:
        return
    lacking = "".join(f"<li>{safe(text)}</li>" for text in known.missing)
    st.html(f'<h4 class="sub">Imported from {safe(known.system or "a file")}</h4><ul class="lost">{lacking}</ul>')
    if known.labels:
        rows = [(*name.partition(" -> ")[::2], count) for name, count in known.labels.items()]
        frame = pd.DataFrame(rows, columns=["their label", "became", "items"])
        st.dataframe(frame, hide_index=True, key=state.key("mapped"))
    if known.left_out:
        with st.expander(f"{plural(len(known.left_out), 'part')} of the file could not be used as they stood"):
            st.text("\n".join(known.left_out))


def _statuses(counts: dict[str, int]) -> str:
    total = sum(counts.values())
    bars = "".join(_bar(name, count, total) for name, count in counts.items())
    return f'<h4 class="sub">Statuses of {plural(total, "turn")}</h4>{bars}' if total else ""


def _labels(found: Overview) -> str:
    total = sum(found.labels.values())
    bars = "".join(_bar(f"{glyph(name)} {name}", count, total) for name, count in found.labels.items())
    tip = "How many labels the memory uses as if evenly: exp of the entropy of the mix, 1 to 9"
    collapse = (
        f'<p class="bad">{safe(found.collapsed)} swallows the others: more than 60 % of the nodes.</p>'
        if found.collapsed
        else ""
    )
    return (
        f'<h4 class="sub">Label mix of {plural(total, "node")}</h4>{bars}'
        f'<p class="said-small" title="{tip}">Effective labels: <b>{found.effective_labels:.1f}</b> of 9</p>{collapse}'
    )


def _bar(name: str, count: int, total: int) -> str:
    share = count / max(total, 1)
    return (
        f'<div class="part" title="{share:.1%}"><span>{name}</span><i><u style="width:{100 * share:.1f}%"></u></i>'
        f"<b>{count:,}</b></div>"
    )


def _relationships(found: Overview) -> str:
    total = sum(count for _, count in found.relationships)
    shown = found.relationships[:20]
    bars = "".join(_bar(safe(name.replace("_", " ")[:40]), count, total) for name, count in shown)
    rest = (
        f'<p class="said-small">and {len(found.relationships) - 20:,} more</p>' if len(found.relationships) > 20 else ""
    )
    once = f"{found.used_once:,} are used once" if found.used_once else "none is used only once"
    forms = "".join(f"<li>{safe(' / '.join(group))}</li>" for group in found.variants[:15])
    variants = f'<h4 class="sub">One word in several forms</h4><ul class="lost">{forms}</ul>' if forms else ""
    return (
        f'<h4 class="sub">{plural(len(found.relationships), "relationship")}</h4>{bars}'
        f'<p class="said-small">{once}.</p>{rest}{variants}'
    )


def _alarms(found: Overview) -> str:
    twins = [f"{_node(a)} ~ {_node(b)}" for a, b in found.twins]
    flips = [" / ".join(_node(node) for node in group) for group in found.flips]
    parts = [
        _listing(f"{plural(found.twin_count, 'pair')} of nearly the same title", twins, found.twin_count),
        _listing("One title under several labels", flips, len(flips)),
        _listing(f"{plural(found.alone_count, 'node')} without edges", _nodes(found.alone), found.alone_count),
        _listing("Longest titles", _nodes(found.longest), len(found.longest)),
    ]
    return "".join(parts)


def _listing(title: str, rows: Sequence[str], total: int) -> str:
    if not rows:
        return f'<h4 class="sub">{title}</h4><p class="none">None.</p>'
    more = f"<li>and {total - MOST:,} more</li>" if total > MOST else ""
    return f'<h4 class="sub">{title}</h4><ul class="lost short">{"".join(f"<li>{row}</li>" for row in rows)}{more}</ul>'


def _nodes(nodes: Sequence[Titled]) -> list[str]:
    return [_node(node) + (f" <small>{safe(node.note)}</small>" if node.note else "") for node in nodes]


def _node(node: Titled) -> str:
    title = node.title if len(node.title) <= 120 else f"{node.title[:120]} …"
    return f'{glyph(node.label)} <span dir="auto">{safe(title)}</span>'


def _readers(found: Overview) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "read by": one.name, "turns": one.turns, "failed": one.failed, "empty": one.empty,
                "nodes a turn": round(one.nodes_per_turn, 2), "edges a turn": round(one.edges_per_turn, 2),
                "drops": one.drops, "median": seconds(one.seconds), "all": seconds(one.seconds_total),
                "tokens in": one.tokens_in, "tokens out": one.tokens_out,
            }
            for one in found.readers
        ]
    )  # fmt: skip
