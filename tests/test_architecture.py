"""The folders and the direction of imports stay as the design has them."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "memory_core"
PARTS = ("embedders", "extractors", "llms", "policies", "readers", "retrievers")
#: Lowest first; a module imports from its own layer and those above it in this list.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("schema", "stemming", "errors", "tokens", "prices", "progress", "local_server"),
    ("settings", "model_files", "prompts", "jobs", "validation", "store", "scoring_view"),
    ("protocols", "graph", "walk"),
    ("remote", "context", "dedup", "extraction", "spending"),
    PARTS,
    ("providers", "parts"),
    ("forgetting", "memory"),
    ("ingestion", "inspector", "chat", "figures", "exporters", "replay", "reembed", "retrieval", "in_database"),
    ("importers", "memories", "migration_targets", "server_setup"),
    ("demo",),
    ("evaluation",),
    ("trace", "simulator", "inspection", "difference", "migration"),
    (
        "database_commands",
        "forget_commands",
        "model_commands",
        "server_commands",
    ),
    ("__main__",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
FILES = sorted(CORE.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Modules that a file imports, as dotted names."""
    tree = ast.parse(path.read_text("utf-8"))
    found: set[str] = set()
    for statement in ast.walk(tree):
        if isinstance(statement, ast.Import):
            found |= {name.name for name in statement.names}
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            found |= {statement.module} | {f"{statement.module}.{name.name}" for name in statement.names}
    return found


def layer(dotted: str) -> str:
    """`memory_core.store.rows` belongs to `store`."""
    return dotted.split(".")[1] if "." in dotted else ""


def own(path: Path) -> str:
    """The layer a file belongs to; "" for the package itself."""
    first = path.relative_to(CORE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CORE)))
def test_imports_run_one_way(path: Path) -> None:
    here = own(path)
    for name in sorted(imported(path)):
        there = layer(name) if name.startswith("memory_core.") else ""
        if here and there in RANK and there != here:
            assert RANK[there] <= RANK[here], f"{here} imports {there}"
            assert not (here in PARTS and there in PARTS), f"the parts {here} and {there} know each other"


def test_every_module_has_a_layer() -> None:
    assert {own(path) for path in FILES} - {""} <= set(RANK)


def test_nothing_in_the_core_knows_the_web_framework() -> None:
    assert not [path for path in FILES if any(name.split(".")[0] == "streamlit" for name in imported(path))]


def test_pages_compute_nothing() -> None:
    pages = [*ROOT.glob("pages/**/*.py"), ROOT / "app.py"]
    heavy = {"numpy", "scipy", "networkx", "sqlite3", "sklearn"}
    assert not {
        path.name: found for path in pages if (found := heavy & {name.split(".")[0] for name in imported(path)})
    }


def test_nothing_reads_files_beside_the_project() -> None:
    assert not [path for path in FILES if "../shared" in path.read_text("utf-8")]


def test_modules_stay_under_300_lines_and_pages_under_80() -> None:
    lines = {path: len(path.read_text("utf-8").splitlines()) for path in [*FILES, *ROOT.glob("pages/**/*.py")]}
    assert not {str(path): count for path, count in lines.items() if count > 300}
    assert not {path.name: count for path, count in lines.items() if path.parent == ROOT / "pages" and count > 80}


def test_functions_are_small() -> None:
    sizes = [
        (node.end_lineno or 0) - node.lineno + 1
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    assert statistics.median(sizes) <= 12
