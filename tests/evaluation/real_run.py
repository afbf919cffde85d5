"""A run of five questions against a real server, in a process of its own, so that a test can kill it.

`python -m tests.evaluation.real_run ADDRESS FOLDER`. The model is small: it is asked for one node a turn and few words.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memory_core.evaluation.datasets import load_benchmark
from memory_core.evaluation.judge import Judge
from memory_core.evaluation.runner import Experiment, run_benchmark
from memory_core.evaluation.runner.extractions import KeptExtractor
from memory_core.extractors.llm import LLMExtractor
from memory_core.llms.openai import OpenAI
from memory_core.protocols import Reply
from memory_core.readers.llm import LLMReader
from memory_core.spending import Counted, Spent
from tests.fakes import LetterEmbedder
from tests.servers.llama import CONTEXT

TURNS = ("My sister Mira lives in Porto.", "I adopted a cat named Fig.", "I work at a bakery in Lyon.")
QUESTIONS = (
    ("Where does Mira live?", "Porto", "s1:1"), ("Who lives in Porto?", "Mira", "s1:1"),
    ("What is the name of my cat?", "Fig", "s1:2"), ("Where do I work?", "at a bakery", "s1:3"),
    ("In which city is the bakery?", "Lyon", "s1:3"),
)  # fmt: skip
_TEXT = {"type": "string", "maxLength": 24, "pattern": "^[A-Za-z ]+$"}
_NODE = {
    "type": "object", "additionalProperties": False, "required": ["id", "label", "title", "content", "attributes"],
    "properties": {"id": {"enum": ["n1"]}, "label": {"enum": ["Person", "Location"]}, "title": _TEXT, "content": _TEXT,
                   "attributes": {"type": "array", "maxItems": 0}},
}  # fmt: skip
ONE_NODE = {
    "type": "object", "additionalProperties": False, "required": ["nodes", "edges"],
    "properties": {"nodes": {"type": "array", "items": _NODE, "minItems": 1, "maxItems": 1},
                   "edges": {"type": "array", "maxItems": 0}},
}  # fmt: skip


@dataclass(frozen=True)
class OneNode:
    """The model, asked for a smaller graph than the extractor would take."""

    llm: OpenAI

    @property
    def id(self) -> str:
        return self.llm.id

    @property
    def context_window(self) -> int:
        return self.llm.context_window

    def reply(
        self, system: str, user: str, *, schema: Mapping[str, object] | None = None, max_tokens: int = 1024
    ) -> Reply:
        return self.llm.reply("Write JSON.", user, schema=schema and ONE_NODE, max_tokens=max_tokens)

    def stream(self, system: str, user: str, *, max_tokens: int = 1024) -> Generator[str, None, Reply]:
        return self.llm.stream(system, user, max_tokens=max_tokens)


def write_benchmark(folder: Path) -> Path:
    path = folder / "five.jsonl"
    turns = [
        {"id": f"s1:{number}", "session": "s1", "role": "user", "speaker": "User", "text": text,
         "at": f"2025-05-0{number}T10:00:00Z"} for number, text in enumerate(TURNS, start=1)
    ]  # fmt: skip
    asked = [{"id": f"q{number}", "question": text, "answer": answer, "type": "made-up", "evidence": [turn]}
             for number, (text, answer, turn) in enumerate(QUESTIONS, start=1)]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, turns)), encoding="utf-8")
    path.with_name("five_questions.jsonl").write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
    return path


def experiment(address: str, folder: Path) -> Experiment:
    llm, spent = OpenAI("smollm2", address, context_window=CONTEXT), Spent()
    extractor = LLMExtractor(Counted(OneNode(llm), spent), max_tokens=160, attempts=1)
    return Experiment(
        load_benchmark(write_benchmark(folder)), ("flat",), KeptExtractor(extractor, folder / "extractions.sqlite3"),
        LetterEmbedder(), LLMReader(Counted(llm, spent), budget=300, max_tokens=12),
        Judge(Counted(llm, spent), max_tokens=6), parallel=1, spent=spent, folder=folder / "cache",
    )  # fmt: skip


if __name__ == "__main__":
    where = Path(sys.argv[2])
    run_benchmark(experiment(sys.argv[1], where), where / "out", resume=True)
