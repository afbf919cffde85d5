"""Results of runs: read a file, show its figures, compare two."""

from memory_core.evaluation.results.completing import completed
from memory_core.evaluation.results.reading import RUN_VERSION, Row, Run, read_run
from memory_core.evaluation.results.summing import compare, disagreements, figure, show

__all__ = ["RUN_VERSION", "Row", "Run", "compare", "completed", "disagreements", "figure", "read_run", "show"]
