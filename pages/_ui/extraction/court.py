"""The merge court: pairs near the threshold side by side, verdicts, merges by hand with preview, merges split again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from memory_core.figures.memory_graph import find_nodes
from memory_core.inspection.court import Chain, Merge, Pair, Side, chains, merges, pair_of, pairs, side, threshold
from memory_core.inspection.kept import at_hand
from memory_core.inspection.verdicts import FEW, suggested, verdict_chart, verdicts
from memory_core.inspector import Link, Quote
from memory_core.memories import OpenMemory
from memory_core.memory.merging import MergePreview
from pages._ui.extraction.again import offer_undo
from pages._ui.extraction.state import ExtractionState
from pages._ui.forgetting.progress import progress
from pages._ui.opened import attempt, notice
from pages._ui.words import dark, day, glyph, plural, safe

_LISTED = 200
_KINDS = {
    "near": "near the threshold",
    "title": "like titles",
    "labels": "one title, two labels",
    "homonym": "namesakes",
}
_SHOWN = {"open": "open", "same": "same", "different": "different", "unsure": "unsure"}


def court(opened: OpenMemory, state: ExtractionState) -> None:
    """Draw the list of pairs, the pair looked at, and below what the verdicts and the merges made so far say."""
    offer_undo(opened, state)
    with st.spinner("Comparing nodes…"):
        known, job = at_hand(opened.memory, "court", pairs)
    progress(job)
    if known is None:
        return
    made = merges(opened.memory)
    left, right = st.columns([5, 8], gap="medium")
    with left:
        pair = _any_two(opened, state) or _chosen(state, known, threshold(opened.memory))
    with right:
        if pair is not None:
            _pair(opened, state, pair)
    with left:
        _threshold(opened, known, made)
        _merges(opened, state, made)
        _chains(opened)


def _any_two(opened: OpenMemory, state: ExtractionState) -> Pair | None:
    """Two nodes a person looks up, for a merge that no list proposes."""
    with st.expander("Any two nodes"):
        a, b = (_found(opened, state, name) for name in ("one", "other"))
        if a and a == b:
            st.caption("Choose two different nodes.")
    return pair_of(opened.memory, a, b) if a and b and a != b else None


def _found(opened: OpenMemory, state: ExtractionState, name: str) -> str:
    words = st.text_input(f"Title of {name}", key=state.key(f"find-{name}"))
    hits = {node: f"{title} ({label})" for node, label, title in find_nodes(opened.memory, words)} if words else {}
    if words and not hits:
        st.caption("No live node has these words in its title.")
    return (
        st.selectbox(f"Node, {name}", list(hits), format_func=hits.get, key=state.key(f"found-{name}")) if hits else ""
    )


def _chosen(state: ExtractionState, known: Sequence[Pair], level: float) -> Pair | None:
    counts = {name: sum(pair.verdict == name for pair in known) for name in _SHOWN}
    shown = st.segmented_control(
        "Pairs", list(_SHOWN), format_func=lambda name: f"{name} {counts[name]:,}", key=state.widget("pairs", "open"),
        help=f"Two nodes of one label near the threshold, {level:.2f}. Those put up for merging come first.",
    )  # fmt: skip
    listed = [pair for pair in known if pair.verdict == (shown or "open")][:_LISTED]
    if not listed:
        st.caption(
            "No pair here. Open ones are nodes of one label whose descriptors are nearly as alike as a merge asks."
        )
        return None
    names = [f"{pair.a}+{pair.b}" for pair in listed]
    place = {name: at for at, name in enumerate(names)}
    if state.pair not in place:
        state.pair = names[0]
    st.session_state[state.key("pair")] = state.pair
    picked = st.radio("Pair", names, format_func=lambda name: _name(listed[place[name]]), key=state.key("pair"),
                      label_visibility="collapsed") if len(names) <= 12 else st.selectbox(
        f"{plural(len(names), 'pair')}", names, format_func=lambda name: _name(listed[place[name]]),
        key=state.key("pair"))  # fmt: skip
    state.pair = picked or state.pair
    state.save()
    return listed[place[state.pair]]


def _name(pair: Pair) -> str:
    near = "no vector" if pair.similarity is None else f"{pair.similarity:.2f}"
    guard = " · guarded" if pair.guard else ""
    return f"{near} {pair.titles[0][:40]} | {pair.titles[1][:40]}{guard}"


def _pair(opened: OpenMemory, state: ExtractionState, pair: Pair) -> None:
    sides = (side(opened.memory, pair.a), side(opened.memory, pair.b))
    kind = safe(_KINDS.get(pair.kind, pair.kind))
    near = "one has no vector" if pair.similarity is None else f"cosine {pair.similarity:.3f}"
    level = threshold(opened.memory)
    guard = f'<b class="bad">held back:</b> {safe(pair.guard)}' if pair.guard else "no guard would hold this merge back"
    st.html(
        f'<p class="guard"><b>{near}</b>, threshold {level:.2f} · {guard} · {kind}</p>'
        f'<div class="sides">{"".join(_side(one) for one in sides)}</div>'
    )
    similarity = pair.similarity or 0.0
    with st.container(horizontal=True, gap="small"):
        for verdict, tip in (("same", "One thing: counted, and can be merged"), ("different", "Two things"),
                             ("unsure", "Neither counted as same nor as different")):  # fmt: skip
            kind = "primary" if pair.verdict == verdict else "secondary"
            if st.button(verdict.capitalize(), key=f"verdict-{verdict}", type=kind, help=tip):
                attempt(lambda verdict=verdict: opened.memory.judge(
                    pair.a, pair.b, verdict, similarity=similarity, reason=pair.guard, kind=pair.kind))  # fmt: skip
                if verdict == "same":
                    st.toast("Noted as one thing. They are still two nodes: merge them by hand under **same**.")
                st.rerun()
    _by_hand(opened, state, pair, sides)


def _side(one: Side) -> str:
    node = one.node
    values = " · ".join(f"{safe(key)}: {safe(value)}" for key, value in list(node.attributes.items())[:12])
    near = "".join(f"<li>{_link(link)}</li>" for link in one.links[:8])
    told = "".join(_quote(quote) for quote in one.quotes[:3])
    none = "" if one.quotes else '<p class="none">No turn is known: it came from a file without them.</p>'
    return (
        f'<div><h3>{glyph(node.label)} <span dir="auto">{safe(node.title)}</span></h3><small>{node.label}, '
        f"{plural(node.degree, 'edge')}, {plural(node.accesses, 'access', 'accesses')}</small>"
        f'<p dir="auto">{safe(node.content[:600])}</p><p>{values}</p><ul>{near}</ul>{told}{none}</div>'
    )


def _link(link: Link) -> str:
    arrow = "→" if link.outgoing else "←"
    return (
        f"{arrow} {safe(link.edge.relationship.replace('_', ' '))} {glyph(link.other.label)} {safe(link.other.title)}"
    )


def _quote(quote: Quote) -> str:
    head = f"<header>{day(quote.turn.at)}, {safe(quote.turn.speaker or quote.turn.role)}</header>"
    pieces = (f"<mark>{safe(text[:600])}</mark>" if inside else safe(text[:600]) for text, inside in quote.pieces[:20])
    return f"<blockquote>{head}{''.join(pieces)}</blockquote>"


def _by_hand(opened: OpenMemory, state: ExtractionState, pair: Pair, sides: tuple[Side, Side]) -> None:
    with st.expander("Merge them by hand", expanded=pair.verdict == "same"):
        kept = st.radio("Keep the title of", [pair.a, pair.b], key=state.key(f"keep-{pair.a}-{pair.b}"),
                        horizontal=True, format_func=lambda node: sides[node == pair.b].node.title)  # fmt: skip
        gone = pair.b if kept == pair.a else pair.a
        st.html(_preview(opened.memory.preview_merge(kept, gone)))
        if st.button("Merge", type="primary", key="merge-them"):
            at = opened.memory.clock or datetime.now(UTC)
            attempt(lambda: state.done(opened.memory.merge(kept, gone, at=at),
                                       f"{sides[gone == pair.b].node.title} became part of "
                                       f"{sides[kept == pair.b].node.title}."))  # fmt: skip
            st.rerun()


def _preview(found: MergePreview) -> str:
    moves = [plural(found.edges, "edge") + " move", plural(found.turns, "citation") + " move",
             plural(found.accesses, "access", "accesses") + " move"]  # fmt: skip
    if found.folded:
        moves.append(f"{plural(found.folded, 'edge')} say the same and become one")
    if found.loops:
        moves.append(f"{plural(found.loops, 'edge')} between the two end")
    values = "".join(
        f"<li>{field}: <s>{safe(was)[:300]}</s> → {safe(to)[:300]}</li>" for field, was, to in found.values
    )
    title = f"<li>{safe(found.gone.title)} stays as an earlier title in the history</li>"
    return f'<ul class="lost"><li>{"; ".join(moves)}</li>{title}{values}</ul>'


def _merges(opened: OpenMemory, state: ExtractionState, made: Sequence[Merge]) -> None:
    st.html(f'<h4 class="sub">{plural(len(made), "merge")} of different titles</h4>')
    for merge in made[: state.merges_shown]:
        near = f"cosine {merge.similarity:.2f}" if merge.how == "cosine" else merge.how
        turn = f', <span title="the turn">{safe(merge.turn)}</span>' if merge.turn else ""
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.html(f'<span class="guard">{safe(merge.found)} → <b>{safe(merge.title)}</b>, {near}{turn}</span>')
            if merge.split:
                st.html('<span class="guard"><i>split again</i></span>')
            elif st.button("Split", key=f"split-{merge.change}", help="Exactly as if they had never been merged"):
                _split(opened, merge)
    if len(made) > state.merges_shown and st.button("More", key="more-merges", type="tertiary"):
        state.merges_shown += 20
        state.save()
        st.rerun()


def _split(opened: OpenMemory, merge: Merge) -> None:
    def act() -> None:
        done = opened.memory.undo(merge.change, at=opened.memory.clock or datetime.now(UTC))
        kept = f" {done['kept']} values changed since and stay." if done["kept"] else ""
        notice(f"{merge.found} and {merge.title} are two again.{kept}")

    attempt(act)
    st.rerun()


def _chains(opened: OpenMemory) -> None:
    found = chains(opened.memory)
    if not found:
        return
    st.html('<h4 class="sub">Grown by chains</h4>' + "".join(_chain(one) for one in found[:10]))


def _chain(one: Chain) -> str:
    names = " → ".join(safe(title) for title in one.titles[:8])
    far = f"{safe(one.far[0])} and {safe(one.far[1])} are only {one.cosine:.2f} alike"
    return f'<p class="guard"><b class="bad">⚠</b> {names}: {far}</p>'


def _threshold(opened: OpenMemory, known: Sequence[Pair], made: Sequence[Merge]) -> None:
    answers = verdicts(known, made)
    st.html(f'<h4 class="sub">What {plural(len(answers), "verdict")} say of the threshold</h4>')
    if not answers:
        st.caption("Answer some pairs with same or different, and precision and recall are drawn here.")
        return
    guards = opened.memory.settings.guards == "on"
    chart = verdict_chart(answers, threshold(opened.memory), dark=dark(), guards=guards)
    st.plotly_chart(chart.figure, theme=None, key="verdicts", alt=chart.alt, config={"displaylogo": False})
    best = suggested(answers, guards=guards)
    if best is None:
        st.caption(f"A threshold is suggested from {FEW} answers on, of both kinds.")
        return
    low, high = best.precision_ci
    st.caption(f"Suggested: {best.threshold:.2f}, precision {best.precision:.2f} [{low:.2f}, {high:.2f}], recall "
               f"{best.recall:.2f} [{best.recall_ci[0]:.2f}, {best.recall_ci[1]:.2f}] of these answers (best F0.5: a "
               "false merge costs more than a missed one).")  # fmt: skip
    if st.button(f"Use {best.threshold:.2f} from now on", key="use-threshold"):
        attempt(lambda: opened.memory.use_threshold(best.threshold), "Turns from now on are merged by it.")
        st.rerun()
