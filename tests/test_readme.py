"""What the README shows is true."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

from memory_core.__main__ import COMMANDS
from memory_core.evaluation.commands import MEASURES
from memory_core.evaluation.results.speed import markdown, read_speed

README = Path(__file__).parents[1] / "README.md"


def test_the_notebook_lines_give_what_they_say() -> None:
    outcome = doctest.testfile(str(README), module_relative=False)
    assert outcome.attempted >= 3
    assert outcome.failed == 0


def test_every_command_is_named() -> None:
    named = set(re.findall(r"`(?:bench )?(\w+)[ `]", README.read_text("utf-8")))
    assert set(COMMANDS) | set(MEASURES) <= named | {"bench"}


def test_the_table_of_speed_is_the_one_that_was_measured() -> None:
    """`bench speed --table data/speed.json` prints what must stand there."""
    told = read_speed()
    assert told is not None
    assert markdown(told) in README.read_text("utf-8")
