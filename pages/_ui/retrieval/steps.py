"""The steps of one retrieval as HTML, in order, each with its numbers; all text escaped."""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.context import line_tokens, token_estimate
from memory_core.figures.chart import STYLES
from memory_core.memory import Memory
from memory_core.protocols import Line, Retrieval, Root, Visit
from memory_core.schema import Turn
from memory_core.walk import CAPPED
from pages._ui.words import day, glyph, plural, safe

_ROWS, _LINES, _TURNS = 16, 40, 12
Cell = tuple[str, str, str, str]  # name, number, remark, tip


def strip(cells: Sequence[Cell]) -> str:
    """The steps in one line."""
    drawn = (
        f'<div title="{safe(tip)}"><small>{place} {name}</small><b>{safe(number)}</b><i>{safe(remark)}</i></div>'
        for place, (name, number, remark, tip) in enumerate(cells, start=1)
    )
    return f'<section class="strip">{"".join(drawn)}</section>'


def names(found: Retrieval) -> list[str]:
    """The steps of a retriever, in order."""
    if found.retriever == "graph":
        return ["entities", "candidates", "walk", "context", "answer"]
    if found.retriever == "hybrid":
        return [*(["entities"] if found.entities else []), "candidates", "walk", "ranking", "context", "answer"]
    return ["ranking", "context", "answer"]


def cells(found: Retrieval, limit: int, answer: str) -> list[Cell]:
    """What the strip says of each step the retriever has."""
    above = sum(root.score >= found.floor for root in found.candidates)
    many = "+" if above == len(found.candidates) > limit else ""
    ms = {name: f"{value:.1f} ms" for name, value in found.ms.items()}
    left = f", {found.left_out} left out" if found.left_out else ""
    signs = "; looked for by the signs of vectors, so that one may be missing" if found.approximate else ""
    made: dict[str, Cell] = {
        "entities": ("Entities" if found.retriever == "graph" else "Question parts", f"{len(found.entities)}",
                     ", ".join(found.entities), "What is looked for: read from the question"),
        "candidates": ("Candidates", f"{above}{many} → {len(found.roots)}",
                       f"floor {found.floor:.2f}, {plural(len(found.roots), 'root')}",
                       f"Nodes whose cosine reaches the floor, and their roots{signs}. {ms.get('candidates', '')}"),
        "walk": ("Walk", plural(len(found.nodes), "node"), _cut(found),
                 f"Nodes reached from the roots. {ms.get('walk', '')}"),
        "ranking": ("Ranking", plural(len(found.turns), "turn"), ms.get("score", ms.get("search", "")),
                    "Turns in the order of their scores"),
        "context": ("Context", f"{token_estimate(found.context):,} tokens", f"{plural(len(found.lines), 'line')}{left}",
                    "What a reader is given; a token is estimated as four characters"),
        "answer": ("Answer", answer, f"{sum(found.ms.values()):.1f} ms to find", "Read from the context"),
    }  # fmt: skip
    return [made[name] for name in names(found)]


def _left(found: Retrieval) -> str:
    return f"{len(found.capped):,}" + (" or more" if len(found.capped) >= CAPPED else "")


def _cut(found: Retrieval) -> str:
    if found.capped:
        return f"{_left(found)} cut by the cap"
    return f"{max((visit.hop for visit in found.nodes), default=0)} hops, none cut"


def head(place: int, name: str, remark: str = "") -> str:
    """The heading of a step."""
    return f"<h2><b>{place}</b>{safe(name)}<span>{safe(remark)}</span></h2>"


def entities(place: int, found: Retrieval) -> str:
    """What was read from the question."""
    chips = "".join(f'<span dir="auto">{safe(one[:200])}</span>' for one in found.entities)
    name = "Entities read from the question" if found.retriever == "graph" else "Parts the question is asked in"
    return f'<section class="step">{head(place, name)}<div class="chips">{chips or "none"}</div></section>'


def candidates(place: int, memory: Memory, found: Retrieval, limit: int) -> str:
    """The nodes nearest to the question by cosine, the floor as a line through them, and the cut to the roots."""
    above = [root for root in found.candidates if root.score >= found.floor]
    below = [root for root in found.candidates if root.score < found.floor]
    several = len(found.entities) > 1 and found.retriever == "graph"
    first, rest = above[:limit], above[limit:]
    room = max(_ROWS - len(first), 4)
    rows = "".join(_candidate(memory, root, "root", several) for root in first)
    rows += _rule(f"cut to {plural(limit, 'root')}") if rest else ""
    rows += "".join(_candidate(memory, root, "above", several) for root in rest[:room])
    rows += _more(memory, rest[room:], "above", several)
    shown = max(room - len(rest), 3)
    rows += _rule(f"floor {found.floor:.2f}", "floor") if below else ""
    rows += "".join(_candidate(memory, root, "below", several) for root in below[:shown])
    rows += _more(memory, below[shown:], "below", several)
    remark = f"{len(above)} of {len(found.candidates)} reach the floor"
    body = f'<div class="cand" style="--floor:{min(max(found.floor, 0), 1):.3f}">{rows}</div>'
    return f'<section class="step">{head(place, "Candidates", remark)}{body}</section>'


def _rule(text: str, kind: str = "") -> str:
    return f'<div class="rule {kind}">{text}</div>'


def _candidate(memory: Memory, root: Root, kind: str, several: bool) -> str:
    label = memory.graph.node(root.id).label
    entity = f" <small>for {safe(root.entity[:40])}</small>" if several and root.entity else ""
    width = max(min(root.score, 1.0), 0.0) * 100
    return (
        f'<div class="row {kind}">{glyph(label)}<span dir="auto" title="{safe(root.title)}">{safe(root.title)}{entity}'
        f'</span><span class="bar"><u style="width:{width:.1f}%"></u></span><b>{root.score:.2f}</b></div>'
    )


def _more(memory: Memory, roots: Sequence[Root], kind: str, several: bool) -> str:
    rows = "".join(_candidate(memory, root, kind, several) for root in roots)
    where = "above the floor" if kind == "above" else "below it"
    return f"<details><summary>{len(roots)} more {where}</summary>{rows}</details>" if rows else ""


def walk_head(place: int, found: Retrieval) -> str:
    """The heading of the picture: how many nodes on each ring, and what was cut."""
    rings = " + ".join(f"{_count(found.nodes, hop)}" for hop in sorted({visit.hop for visit in found.nodes}))
    cut = f"; the cap left out {_left(found)}, drawn hollow" if found.capped else ""
    remark = f"{rings} nodes by hop{cut}" if found.nodes else "no root, no walk"
    name = "Walk, breadth first" if found.retriever == "graph" else "Walk, where it ends most often"
    return f'<section class="step">{head(place, name, remark)}</section>'


def _count(visits: Sequence[Visit], hop: int) -> int:
    return sum(visit.hop == hop for visit in visits)


def ranking(place: int, found: Retrieval, turns: Sequence[Turn], evidence: frozenset[str]) -> str:
    """The turns in rank order, each with its score and, where it is a sum, the terms of it."""
    said = {turn.id: turn for turn in turns}
    names = list(dict.fromkeys(name for turn in found.turns for name in turn.parts))
    colors = {name: STYLES[number % len(STYLES)][0] for number, name in enumerate(names)}
    most = max((turn.score for turn in found.turns), default=1.0) or 1.0
    rows = []
    for number, one in enumerate(found.turns, start=1):
        turn = said.get(one.id)
        if turn is None:
            continue
        parts = one.parts or {one.why: one.score}
        bars = "".join(
            f'<u title="{safe(name)} {part:.2f}" style="width:{max(part, 0) / most * 100:.1f}%;'
            f'background:{colors.get(name, "color-mix(in srgb, currentColor 45%, transparent)")}"></u>'
            for name, part in parts.items()
        )
        rows.append(
            f'<div class="row{" proof" if one.id in evidence else ""}"><i>{number}</i><span dir="auto"><header>'
            f"{day(turn.at)} · {safe(turn.speaker or turn.role)} · {safe(turn.source_id)}{_tag(one.id in evidence)}"
            f'</header>{safe(_short(turn.text))}</span><span class="parts">{bars}</span><b>{one.score:.2f}</b></div>'
        )
    key = "".join(f'<span><i style="background:{color}"></i>{safe(name)}</span>' for name, color in colors.items())
    shown, rest = "".join(rows[:_TURNS]), "".join(rows[_TURNS:])
    more = f"<details><summary>{len(rows) - _TURNS} more</summary>{rest}</details>" if rest else ""
    body = f'<div class="key">{key}</div><div class="ranked">{shown}{more}</div>'
    return f'<section class="step">{head(place, "Turns in rank order", plural(len(rows), "turn"))}{body}</section>'


def context(place: int, memory: Memory, found: Retrieval, evidence: frozenset[str]) -> str:
    """Every line a reader is given, its tokens and the turns it rests on."""
    wanted = list(dict.fromkeys(turn for line in found.lines for turn in line.turns[-1:]))
    names = {turn.id: turn.source_id for turn in memory.turns(wanted)}
    rows = [_line(memory, line, names, evidence) for line in found.lines]
    shown, rest = "".join(rows[:_LINES]), "".join(rows[_LINES:])
    more = f"<details><summary>{len(rows) - _LINES} more lines</summary>{rest}</details>" if rest else ""
    left = f"; {found.left_out} did not fit the budget" if found.left_out else ""
    remark = f"{token_estimate(found.context):,} tokens in {plural(len(rows), 'line')}{left}"
    body = f'<div class="lines">{shown}{more}</div>' if rows else '<p class="said">Nothing to give a reader.</p>'
    return f'<section class="step">{head(place, "Context", remark)}{body}</section>'


def _line(memory: Memory, line: Line, names: dict[str, str], evidence: frozenset[str]) -> str:
    row = memory.graph.row_of.get(line.item)
    mark = glyph(memory.graph.node(line.item).label) if row is not None else "→" if line.item not in line.turns else "“"
    newest = names.get(line.turns[-1], line.turns[-1]) if line.turns else "no turn"
    source = f"{safe(newest)}{f' +{len(line.turns) - 1}' if len(line.turns) > 1 else ''}"
    proof = not evidence.isdisjoint(line.turns[-3:])
    kind = f"row{' proof' if proof else ''}{' old' if line.superseded else ''}"
    return (
        f'<div class="{kind}"><i>{mark}</i><span dir="auto">{safe(_short(line.text, 600))}</span>'
        f'<em title="Turns this line rests on, the newest named">{source}{_tag(proof)}</em>'
        f'<b title="Tokens">{line_tokens(line)}</b></div>'
    )


def _tag(proof: bool) -> str:
    return ' <span class="tag">evidence</span>' if proof else ""


def _short(text: str, most: int = 280) -> str:
    return text if len(text) <= most else f"{text[:most]} […]"
