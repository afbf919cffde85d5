"""Files of results in a folder or uploaded: which are runs, which are `bench forget` figures, which are neither."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memory_core.errors import ForgettingLabError, InputError
from memory_core.evaluation.results.reading import Row, Run, read_run
from memory_core.importers.textfile import Source, first_line, name_of, read_text

ENDINGS = (".jsonl", ".json", ".csv", ".jsonl.gz", ".json.gz", ".csv.gz")


@dataclass(frozen=True)
class Loaded:
    """A file that was read: a run, or the figures of `bench forget`. `name` is short and unique among those shown.

    Of a run that was only glanced at there is `meta`, its first line, and the `path`, where its rows are read from.
    """

    name: str
    group: str
    run: Run | None = None
    survival: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None


def files_in(folder: Path) -> list[Path]:
    """The files of a folder that may hold results, by name. Raises InputError when there is no such folder."""
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}: give the one that `bench run --out` was given.")
    return sorted(path for path in folder.iterdir() if path.name.lower().endswith(ENDINGS) and path.is_file())


def load(source: Source, name: str = "", columns: Mapping[str, str] | None = None) -> Loaded:
    """One file. Raises FormatError, which names the file and the line, when it holds no results."""
    name = name or name_of(source)
    whole = name.removesuffix(".gz")
    stem = Path(whole).stem
    survival = _survival(source) if whole.lower().endswith(".json") else None
    if survival is not None:
        return Loaded(stem, str(survival.get("data") or "survival"), survival=survival)
    run = read_run(source, columns)
    return Loaded(str(run.meta.get("label") or stem), group_of(run.meta), run=run, meta=run.meta)


def glance(path: Path) -> Loaded:
    """A run file by its first line, its rows left for when it is chosen; any other file is read at once.

    Raises as `load`.
    """
    first = first_line(path)
    try:
        header = json.loads(first) if first.startswith('{"run":') else None
    except ValueError:
        header = None
    meta = header.get("run") if isinstance(header, dict) else None
    if not isinstance(meta, dict) or not meta.get("label"):
        return replace(load(path), path=path)
    return Loaded(str(meta["label"]), group_of(meta), meta=meta, path=path)


def _survival(source: Source) -> Mapping[str, Any] | None:
    """The object `bench forget --json` prints, None when the file holds something else."""
    try:
        value = json.loads(read_text(source))
    except (ValueError, RecursionError, ForgettingLabError):
        return None
    rows = value.get("rows") if isinstance(value, dict) else None
    ours = isinstance(rows, list) and bool(rows) and isinstance(rows[0], dict) and {"policy", "kept"} <= rows[0].keys()
    return value if ours else None


def group_of(meta: Mapping[str, Any]) -> str:
    """What a run belongs to: its own `group`, else data and experiment. Runs of one group can be compared."""
    if meta.get("group"):
        return f"{meta['group']}, experiment {meta['experiment']}" if meta.get("experiment") else str(meta["group"])
    if not meta.get("data"):
        return "loaded"
    return f"{meta['data']}, experiment {meta.get('experiment', 1)}"


def named(loaded: Iterable[Loaded]) -> dict[str, Loaded]:
    """Unique name -> file: name and group, and a number where two are still alike."""
    found: dict[str, Loaded] = {}
    for one in loaded:
        base, number = f"{one.name} · {one.group}", 2
        name = base
        while name in found:
            name, number = f"{base} ({number})", number + 1
        found[name] = one
    return found


def only(run: Run, types: Sequence[str] = (), words: str = "") -> Run:
    """The rows of some types (all when empty) that hold every word of `words` in id, question, answers or evidence.

    Retried and repeated ids are narrowed with them, so that the counts speak of what is shown.
    """
    if not types and not words.strip():
        return run
    wanted = words.casefold().split()
    rows = tuple(
        row for row in run.rows if (not types or row.type in types) and all(word in _said(row) for word in wanted)
    )
    ids = {row.id for row in rows}
    retried, repeated, conflicting = (
        tuple(id for id in of if id in ids) for of in (run.retried, run.repeated, run.conflicting)
    )
    return replace(run, rows=rows, retried=retried, repeated=repeated, conflicting=conflicting)


def _said(row: Row) -> str:
    parts = (row.id, row.type, row.predicted or "", row.ground_truth or "", row.other.get("question") or "",
             row.other.get("evidence") or "", row.error)  # fmt: skip
    return " ".join(str(part) for part in parts).casefold()
