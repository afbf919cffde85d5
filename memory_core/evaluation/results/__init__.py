"""Results of runs: read a file, show its figures, compare two."""

from memory_core.evaluation.results.reading import RUN_VERSION, Row, Run, read_run
from memory_core.evaluation.results.summing import compare, show

__all__ = ["RUN_VERSION", "Row", "Run", "compare", "read_run", "show"]
