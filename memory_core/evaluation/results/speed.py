"""What `bench speed` kept, as the lines of a page: systems beside ours, how near the limit, growth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_core.errors import FormatError

KEPT = Path(__file__).parents[3] / "data" / "speed.json"
COLUMNS: Mapping[str, str] = {
    "turn": "turn_ms",
    "retrieval": "retrieval_ms",
    "open": "open_ms",
    "size": "graph_bytes",
    "scoring": "scoring_ms",
}
_OURS = "forgetting-lab"


@dataclass(frozen=True)
class Line:
    """One system: a text a column ("" where it has none), theirs / ours by column, what it did more or less."""

    name: str
    nodes: int
    values: Mapping[str, str]
    ratios: Mapping[str, float]
    note: str


@dataclass(frozen=True)
class Bound:
    """One figure beside the limit of the machine, what it should be, and whether it is."""

    what: str
    value: str
    wanted: str
    held: bool


def read_speed(path: Path | None = None) -> dict[str, Any] | None:
    """The file as it stands (default `KEPT`), None when there is none. Raises FormatError for one that is not ours."""
    path = path or KEPT
    if not path.exists():
        return None
    try:
        told = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(
            f"{path.name} cannot be read: {error}. Make it anew: bench speed --out {path.name}."
        ) from error
    if not isinstance(told, dict) or not {"systems", "growth"} & set(told):
        raise FormatError(f"{path.name} holds no figures of bench speed: make it anew with --out.")
    return told


def lines(told: Mapping[str, Any]) -> list[Line]:
    """Every system, ours first; a system that failed has its reason as its note."""
    return [
        Line(
            name + (f" {row['version']}" if row.get("version") else ""), int(row["n"]),
            {column: shown(row.get(key), key) for column, key in COLUMNS.items()},
            told.get("ratios", {}).get(name, {}),
            f"left out: {row['failed']}" if row.get("failed") else str(row.get("note", "")),
        )
        for name, row in told.get("systems", {}).items()
    ]  # fmt: skip


def times(ratio: float) -> str:
    """A ratio as it is written behind a figure.

    >>> times(1234.5), times(3.14159), times(0.875)
    ('×1,234', '×3.1', '×0.88')
    """
    return f"×{ratio:,.0f}" if ratio >= 10 else f"×{ratio:.1f}" if ratio >= 1 else f"×{ratio:.2f}"


def markdown(told: Mapping[str, Any]) -> str:
    """The tables of the README: all systems, behind a figure how many times ours it is; then growth, by vectors."""
    return "\n\n".join([_systems(told), *(_growth(grown) for grown in told.get("growth", []))])


def _systems(told: Mapping[str, Any]) -> str:
    rows = ["| | nodes | turn | retrieval | opening | size | scoring |", "|---|---|---|---|---|---|---|"]
    for one in lines(told):
        cells = [
            f"{value} ({times(one.ratios[column])})" if column in one.ratios else value
            for column, value in one.values.items()
        ]
        rows.append(f"| {one.name} | {one.nodes:,} |" + "".join(f" {cell} |" if cell else " |" for cell in cells))
    return "\n".join(rows)


def _growth(grown: Mapping[str, Any]) -> str:
    head = (
        f"| {grown['vectors']}, {grown['dim']} dimensions | turn | matrix | retrieval | matrix | opening | recall@5 |"
    )
    rows = [head, "|---|---|---|---|---|---|---|"]
    for row in grown.get("sizes", []):
        ours, matrix = row.get(_OURS, {}), row.get("matrix", {})
        cells = [shown(one.get(key), key) for key in ("turn_ms", "retrieval_ms") for one in (ours, matrix)]
        found = f"{row['recall@5']:.3f}" if "recall@5" in row else ""
        rows.append(f"| {row['n']:,} | {' | '.join(cells)} | {shown(ours.get('open_ms'), 'open_ms')} | {found} |")
    return "\n".join(rows)


def shown(value: float | None, key: str) -> str:
    """A figure with its unit.

    >>> shown(13.62, "turn_ms"), shown(32_100.0, "turn_ms"), shown(58_300_000, "graph_bytes"), shown(None, "open_ms")
    ('13.6 ms', '32.1 s', '58.3 MB', '')
    """
    if value is None:
        return ""
    if key.endswith("bytes"):
        return f"{value / 1e6:,.1f} MB"
    if value >= 1000:
        return f"{value / 1000:,.1f} s"
    return f"{value:.1f} ms" if value >= 10 else f"{value:.2f} ms"


def bounds(told: Mapping[str, Any]) -> list[Bound]:
    """How near ours is to the limit; none for figures that were not taken."""
    limit = told.get("limit", {})
    if "pass_ms" not in limit:
        return []
    over = limit["commit_ms"] - limit["fsync_ms"]
    return [
        Bound("exact five nearest, in passes over the matrix", f"{limit['retrieval_passes']:.2f}", "1.2 at most",
              limit["retrieval_passes"] <= 1.2),
        Bound("six nodes compared with all, in passes", f"{limit['dedup_passes']:.2f}", "6 at most, aim 2",
              limit["dedup_passes"] <= 6),
        Bound("commit beyond one fsync of as many bytes", f"{over:.2f} ms", "1 ms at most", over <= 1),
        Bound("two hops", f"{limit['two_hops_ms']:.3f} ms", "0.1 ms at most", limit["two_hops_ms"] <= 0.1),
        Bound("opening", f"{limit['open_ms']:.0f} ms", "500 ms at most, aim 250", limit["open_ms"] <= 500),
        Bound("nodes, edges, vectors and their indexes on disk, over the vectors", f"{limit['size_ratio']:.2f}",
              "1.6 at most", limit["size_ratio"] <= 1.6),
        Bound("the whole file over the vectors", f"{limit['whole_ratio']:.2f}", "under 3", limit["whole_ratio"] < 3),
    ]  # fmt: skip


def conditions(told: Mapping[str, Any]) -> str:
    """What the figures were taken on, in one line; "" when that was not kept."""
    made = told.get("conditions", {})
    if not made:
        return ""
    size = ""
    if "nodes" in told:
        size = (
            f"{told['nodes']:,} nodes x {told['dim']}, {told['turns']} turns and {told['searches']} searches, "
            "interleaved, medians. "
        )
    blas = ", ".join(made["blas"]) or "no BLAS"
    return (
        f"{size}{made['cpu']}, {made['cores']} cores, load {made['load']} at the end; Python {made['python']}, "
        f"numpy {made['numpy']} ({blas}, {made['blas_threads']} threads), SQLite {made['sqlite']}."
    )


def curves(grown: Mapping[str, Any], key: str) -> dict[str, list[tuple[int, float]]]:
    """(nodes, figure) of ours and of the matrix; `key` is turn_ms, retrieval_ms or open_ms."""
    names = (_OURS, "matrix")
    rows = grown.get("sizes", [])
    return {name: [(row["n"], row[name][key]) for row in rows if row.get(name, {}).get(key)] for name in names}


def recalls(grown: Mapping[str, Any]) -> str:
    """How many of the exact five nearest are found at each size."""
    told = [
        f"{row['recall@5']:.3f} at {row['n']:,}" + (" (signs first)" if row.get("approximate") else "")
        for row in grown.get("sizes", [])
        if "recall@5" in row
    ]
    return ", ".join(told)
