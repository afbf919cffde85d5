"""`bench run`: the papers' experiments. What can be shared is: a turn is read once, a memory built once.

Experiment 1 asks each question of its own conversation's memory; experiment 2 (`pooled`) asks all of one memory.
"""

from memory_core.evaluation.runner.asking import CONDITIONS
from memory_core.evaluation.runner.experiment import Experiment, run_benchmark
from memory_core.evaluation.runner.forgets import forgets

__all__ = ["CONDITIONS", "Experiment", "forgets", "run_benchmark"]
