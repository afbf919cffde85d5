"""Extraction against hand-made gold (design, section 6, "Gold"): nodes, edges, and negated facts stored as true."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields

from memory_core.errors import FormatError
from memory_core.evaluation.statistics import SEED, ratio_interval
from memory_core.importers.textfile import Source, json_items, name_of, read_text
from memory_core.importers.transcripts import START, parse_date
from memory_core.schema import LABELS, Extraction, Turn, normalise_title

_LEADING = re.compile(r"^(?:(?:the|an?|my|your|his|her|its|our|their)\s+)+(?=\S)")


@dataclass(frozen=True)
class GoldNode:
    """A node that should be read; an optional one counts neither way."""

    label: str
    title: str
    aliases: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True)
class GoldEdge:
    """An edge that should be read, its ends named by title; `aliases` are other words for the relationship."""

    source: str
    relationship: str
    target: str
    aliases: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True)
class GoldTurn:
    """A turn with what should be read from it, and the edges it denies."""

    id: str
    turn: Turn
    nodes: tuple[GoldNode, ...] = ()
    edges: tuple[GoldEdge, ...] = ()
    negated: tuple[GoldEdge, ...] = ()


@dataclass(frozen=True)
class Counts:
    """What one extraction got right: matched of gold and of found, label or relationship right among the matched."""

    nodes_gold: int = 0
    nodes_found: int = 0
    nodes_matched: int = 0
    labels_right: int = 0
    edges_gold: int = 0
    edges_found: int = 0
    edges_matched: int = 0
    relationships_right: int = 0
    negated_as_true: int = 0
    missed: tuple[str, ...] = field(default=(), compare=False)
    extra: tuple[str, ...] = field(default=(), compare=False)


def title_key(title: str) -> str:
    """The form in which gold and found titles are compared: leading article or possessive, 's and plural -s dropped.

    >>> title_key("My  Sister's running shoes"), title_key("the Running Shoe"), title_key("Glass")
    ('sister running shoe', 'running shoe', 'glass')
    """
    words = _LEADING.sub("", normalise_title(title).replace("’", "'")).split()
    return " ".join(_singular(word) for word in words)


def _singular(word: str) -> str:
    owner = word.removesuffix("'s").removesuffix("'")
    return owner[:-1] if len(owner) > 3 and owner.endswith("s") and not owner.endswith("ss") else owner


def score_extraction(gold: GoldTurn, found: Extraction) -> Counts:
    """Counts for one turn. Nodes and edges match one to one; an optional match leaves both sides of the count."""
    keys = [title_key(node.title) for node in found.nodes]
    labels = [node.label for node in found.nodes]
    wanted = [{title_key(name) for name in (node.title, *node.aliases)} for node in gold.nodes]
    nodes = _match(
        gold.nodes, len(keys), lambda g, f: keys[f] in wanted[g], lambda g, f: labels[f] == gold.nodes[g].label
    )
    ends = _end_names(gold.nodes)
    asserted = [(keys[edge.source], keys[edge.target], _relation(edge.relationship)) for edge in found.edges]
    edges = _match(
        gold.edges,
        len(asserted),
        lambda g, f: _joins(asserted[f], gold.edges[g], ends),
        lambda g, f: asserted[f][2] in _relations(gold.edges[g]),
    )
    denied = sum(any(_joins(edge, no, ends) and edge[2] in _relations(no) for no in gold.negated) for edge in asserted)
    titles = [node.title for node in found.nodes]
    written = [f"{titles[edge.source]} {edge.relationship} {titles[edge.target]}" for edge in found.edges]
    return Counts(
        *nodes.counts,
        *edges.counts,
        denied,
        (*(gold.nodes[g].title for g in nodes.missed), *(_written(gold.edges[g]) for g in edges.missed)),
        (*(titles[f] for f in nodes.extra), *(written[f] for f in edges.extra)),
    )


@dataclass(frozen=True)
class _Matching:
    counts: tuple[int, int, int, int]  # gold, found, matched, right among the matched; optional ones left out
    missed: tuple[int, ...]
    extra: tuple[int, ...]


def _match(
    gold: Sequence[GoldNode] | Sequence[GoldEdge],
    found: int,
    fits: Callable[[int, int], bool],
    right: Callable[[int, int], bool],
) -> _Matching:
    """The largest one-to-one matching by augmenting paths; required gold and right labels come first."""
    holder: dict[int, int] = {}  # found -> gold

    def place(g: int, tried: set[int]) -> bool:
        for f in sorted((f for f in range(found) if fits(g, f)), key=lambda f: not right(g, f)):
            if f not in tried:
                tried.add(f)
                if f not in holder or place(holder[f], tried):
                    holder[f] = g
                    return True
        return False

    order = sorted(
        range(len(gold)), key=lambda g: (gold[g].optional, not any(_both(fits, right, g, f) for f in range(found)))
    )
    for g in order:
        place(g, set())
    required = [g for g in range(len(gold)) if not gold[g].optional]
    matched = {g: f for f, g in holder.items() if not gold[g].optional}
    beside = len(holder) - len(matched)
    counts = (len(required), found - beside, len(matched), sum(right(g, f) for g, f in matched.items()))
    missed = tuple(g for g in required if g not in matched)
    return _Matching(counts, missed, tuple(f for f in range(found) if f not in holder))


def _both(fits: Callable[[int, int], bool], right: Callable[[int, int], bool], g: int, f: int) -> bool:
    return fits(g, f) and right(g, f)


def _end_names(nodes: Iterable[GoldNode]) -> dict[str, set[str]]:
    """Every key a gold node goes by, for each of its keys."""
    names: dict[str, set[str]] = {}
    for node in nodes:
        keys = {title_key(name) for name in (node.title, *node.aliases)}
        for key in keys:
            names.setdefault(key, set()).update(keys)
    return names


def _joins(edge: tuple[str, str, str], gold: GoldEdge, names: Mapping[str, set[str]]) -> bool:
    source, target = title_key(gold.source), title_key(gold.target)
    return edge[0] in names.get(source, {source}) and edge[1] in names.get(target, {target})


def _relation(relationship: str) -> str:
    return re.sub(r"[\s_-]+", "_", normalise_title(relationship))


def _relations(edge: GoldEdge) -> set[str]:
    return {_relation(word) for word in (edge.relationship, *edge.aliases)}


def _written(edge: GoldEdge) -> str:
    return f"{edge.source} {edge.relationship} {edge.target}"


def extraction_figures(counts: Sequence[Counts], *, seed: int = SEED) -> dict[str, object]:
    """Figures over all turns as `bench extraction` prints them; intervals resample turns, None where undefined."""
    columns = {f.name: [getattr(count, f.name) for count in counts] for f in fields(Counts) if f.type == "int"}
    nodes = _figures(columns, "nodes", "labels_right", "label_accuracy", seed)
    edges = _figures(columns, "edges", "relationships_right", "relationship_accuracy", seed)
    return {"n": len(counts), "nodes": nodes, "edges": edges, "negated_as_true": sum(columns["negated_as_true"])}


def _figures(columns: Mapping[str, list[int]], kind: str, right: str, accuracy: str, seed: int) -> dict[str, object]:
    gold, found, matched = (columns[f"{kind}_{part}"] for part in ("gold", "found", "matched"))
    halves = [(g + f) / 2 for g, f in zip(gold, found, strict=True)]  # F1 = matched / the mean of both sizes
    shares: dict[str, tuple[Sequence[float], Sequence[float]]] = {
        "precision": (matched, found),
        "recall": (matched, gold),
        "f1": (matched, halves),
        accuracy: (columns[right], matched),
    }
    figures: dict[str, object] = {}
    for name, (hits, trials) in shares.items():
        whole = sum(trials)
        figures[name] = sum(hits) / whole if whole else None
        figures[f"{name}_ci"] = list(ratio_interval(hits, trials, seed=seed)) if whole else None
    return figures


def read_gold(source: Source) -> tuple[GoldTurn, ...]:
    """The turns of a gold file (JSONL). Raises FormatError naming the line for anything that is not as it should be."""
    name, found = name_of(source), json_items(read_text(source))
    if found.problems:
        raise FormatError(f"{name}: {found.problems[0]}")
    turns: list[GoldTurn] = []
    for item in found.items:
        try:
            turns.append(_gold_turn(item.value, {turn.id for turn in turns}))
        except FormatError as error:
            raise FormatError(f"{name}, {item.place}: {error}.") from None
    return tuple(turns)


def _gold_turn(value: object, taken: set[str]) -> GoldTurn:
    record = _record(value, "the line")
    id, said = _text(record, "id"), _record(record.get("turn"), "turn")
    if id in taken:
        raise FormatError(f"the id {id!r} stands there twice")
    role = _text(said, "role")
    if role not in ("user", "assistant"):
        raise FormatError(f"the role {role!r} is neither user nor assistant")
    at = parse_date(said["at"]) if "at" in said else START
    turn = Turn(role, _text(said, "text"), at, str(said.get("speaker") or ""), source_id=id)  # type: ignore[arg-type]
    nodes = tuple(_gold_node(_record(row, "a node")) for row in _rows(record, "nodes"))
    edges, negated = (
        tuple(_gold_edge(_record(row, "an edge")) for row in _rows(record, key)) for key in ("edges", "negated")
    )
    return GoldTurn(id, turn, nodes, edges, negated)


def _gold_node(row: Mapping[str, object]) -> GoldNode:
    label = _text(row, "label")
    if label not in LABELS:
        raise FormatError(f"the label {label!r} is none of the nine ({', '.join(LABELS)})")
    return GoldNode(label, _text(row, "title"), _names(row), _optional(row))


def _gold_edge(row: Mapping[str, object]) -> GoldEdge:
    source, relationship, target = (_text(row, key) for key in ("source", "relationship", "target"))
    return GoldEdge(source, relationship, target, _names(row), _optional(row))


def _record(value: object, what: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise FormatError(f"{what} is no object")
    return value


def _rows(record: Mapping[str, object], key: str) -> Sequence[object]:
    rows = record.get(key, [])
    if not isinstance(rows, list):
        raise FormatError(f"{key} is no list")
    return rows


def _text(row: Mapping[str, object], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise FormatError(f"{key} is missing or empty")
    return value


def _names(row: Mapping[str, object]) -> tuple[str, ...]:
    names = _rows(row, "aliases")
    if not all(isinstance(name, str) and name.strip() for name in names):
        raise FormatError("aliases must be words")
    return tuple(str(name) for name in names)


def _optional(row: Mapping[str, object]) -> bool:
    value = row.get("optional", False)
    if not isinstance(value, bool):
        raise FormatError("optional must be true or false")
    return value
