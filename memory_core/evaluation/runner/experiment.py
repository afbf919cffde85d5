"""Experiments 1 and 2 of P1 with any parts: build the memories, ask every question under every condition, resume."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from memory_core.errors import InputError, ProviderError
from memory_core.evaluation.datasets import Benchmark, Question
from memory_core.evaluation.ingested import Ingested, cache_folder
from memory_core.evaluation.judge import Judge
from memory_core.evaluation.results.reading import RUN_VERSION
from memory_core.evaluation.runner.asking import CONDITIONS, K, Room, Row, answered, check_condition, errored
from memory_core.evaluation.runner.extractions import PATIENCE, KeptExtractor
from memory_core.evaluation.runner.forgets import NOTHING, Forget, having_forgotten
from memory_core.evaluation.runner.growth import growth
from memory_core.evaluation.runner.runfile import RunFile
from memory_core.memory import Memory
from memory_core.protocols import Embedder, Extractor, Reader
from memory_core.schema import FAILED_STATUSES
from memory_core.settings import Settings
from memory_core.spending import Spent

#: Conditions that read the graph; the others change under forgetting only when turns leave with their nodes.
_OF_GRAPH = ("graph", "hybrid")
_PACKAGES = ("numpy", "onnxruntime", "spacy", "openai", "ollama")
Advance = Callable[[str], None]


@dataclass(frozen=True)
class Experiment:
    """What is run. `limit` asks only the first questions; `parallel` calls of the reader and judge are made at once."""

    benchmark: Benchmark
    conditions: tuple[str, ...]
    extractor: Extractor
    embedder: Embedder
    reader: Reader
    judge: Judge | None = None
    pooled: bool = False
    forgets: tuple[Forget, ...] = (Forget(),)
    limit: int | None = None
    parallel: int = 4
    seed: int = 42
    started: str = ""
    spent: Spent = field(default_factory=Spent)
    folder: Path | None = None

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions asked, in the file's order."""
        return self.benchmark.questions[: self.limit]

    def runs(self) -> list[tuple[Forget, str]]:
        """(way to forget, condition) of each run; a condition that forgetting cannot change is run once."""
        return [
            (how, condition)
            for how in self.forgets
            for condition in self.conditions
            if how.name == NOTHING or condition in _OF_GRAPH or (how.turns == "with_nodes" and condition != "none")
        ]

    def needed(self) -> Benchmark:
        """The benchmark with the conversations that are asked of."""
        asked = {question.conversation for question in self.questions}
        said = tuple(one for one in self.benchmark.conversations if one.id in asked)
        return replace(self.benchmark, conversations=said)

    def header(self, how: Forget, condition: str) -> dict[str, Any]:
        """The first line of a run file."""
        reader = type(self.reader).__name__
        return {
            "version": RUN_VERSION, "label": _name(how, condition), "condition": condition, "forget": how.to_json(),
            "data": self.benchmark.name, "format": self.benchmark.format, "split_hash": self.benchmark.split_hash,
            "pooled": self.pooled, "experiment": 2 if self.pooled else 1, "limit": self.limit,
            "n": len(self.questions), "extractor": self.extractor.id, "embedder": self.embedder.id,
            "reader": self.reader.llm.id if hasattr(self.reader, "llm") else f"embedded/{reader}",
            "judge": self.judge.llm.id if self.judge else "none", "retriever": {"name": condition, "k": K},
            "settings": asdict(Settings()), "prompts": self._prompts(), "seed": self.seed, "parallel": self.parallel,
            "versions": {"python": platform.python_version(), **_versions()}, "started": self.started,
        }  # fmt: skip

    def _prompts(self) -> list[str]:
        parts: list[Any] = [self.extractor, self.reader, self.judge]
        inner = [getattr(part, "extractor", part) for part in parts]
        return [str(part.prompt_version) for part in inner if hasattr(part, "prompt_version")]


@dataclass(frozen=True)
class _Work:
    """The run files of an experiment, and who advances its progress."""

    experiment: Experiment
    files: dict[tuple[Forget, str], RunFile]
    asking: Advance
    failures: list[str] = field(default_factory=list)

    def open_questions(self, of: str) -> bool:
        """Whether any run still has to ask something of this conversation."""
        return any(self.left(key, of) for key in self.files)

    def left(self, key: tuple[Forget, str], of: str) -> list[Question]:
        """Questions of a conversation that a run has not answered."""
        done = self.files[key].done
        return [one for one in self.experiment.questions if one.conversation == of and one.id not in done]

    def keep(self, key: tuple[Forget, str], row: Row) -> None:
        """Write a row. Raises ProviderError when so many in a row errored that the server must be gone."""
        self.files[key].add(row)
        self.asking(str(self.experiment.spent) if self.experiment.spent.tokens else key[1])
        self.failures.append(str(row.get("error") or ""))
        last = self.failures[-PATIENCE:]
        if len(last) == PATIENCE and all(last):
            raise ProviderError(f"{PATIENCE} questions in a row failed; --resume asks them again. The last: {last[-1]}")


def run_benchmark(
    experiment: Experiment,
    out: Path,
    *,
    resume: bool = False,
    remembering: Advance = lambda message: None,
    asking: Advance = lambda message: None,
) -> list[dict[str, object]]:
    """Run it into `out`, a file a run; returns [{condition, forget, file, n, errored}].

    Both callbacks may raise to stop; the same call with `resume` goes on. A question whose model failed is a row with
    `error`, asked again on resume. Raises InputError for a bad condition or a file that other settings made,
    ProviderError when the model stays away.
    """
    _check(experiment)
    files = {
        (how, condition): RunFile.open(
            out / f"{_name(how, condition)}.jsonl", experiment.header(how, condition), resume=resume
        )
        for how, condition in experiment.runs()
    }
    work = _Work(experiment, files, asking)
    grown: dict[str, object] = {}
    with ThreadPoolExecutor(experiment.parallel, "reading") as pool:
        try:
            for how, memory, of in _memories(work, remembering):
                if experiment.pooled:
                    grown[how.label] = growth(memory)
                _ask(work, how, memory, of, pool)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    order = [question.id for question in experiment.questions]
    for (how, _), file in files.items():
        more = {"growth": grown[how.label]} if how.label in grown else {}
        file.finish(order, seconds=_seconds(file), spent=_sum(file, experiment), **more)
    return [
        {"condition": condition, "forget": how.label, "file": str(file.path), "n": len(file.done),
         "errored": file.errored}
        for (how, condition), file in files.items()
    ]  # fmt: skip


def _check(experiment: Experiment) -> None:
    if not experiment.questions:
        raise InputError(f"{experiment.benchmark.name} holds no question to ask.")
    with Memory.open(":memory:", embedder=experiment.embedder, extractor=experiment.extractor) as empty:
        for condition in experiment.conditions or CONDITIONS[:1]:
            check_condition(condition, empty)


def _memories(work: _Work, advance: Advance) -> Iterator[tuple[Forget, Memory, str]]:
    """Every memory some run still has to ask, after each way to forget. What is built is kept in the cache."""
    experiment = work.experiment
    needed = experiment.needed()
    asked = tuple(one for one in needed.conversations if work.open_questions(one.id))
    needed = replace(needed, conversations=asked)
    extractor = experiment.extractor
    if isinstance(extractor, KeptExtractor):
        extractor.fill((turn for one in asked for turn in one.turns), experiment.parallel, advance)
        advance = _nothing
    workers = 1 if isinstance(extractor, KeptExtractor) else experiment.parallel
    folder = experiment.folder or cache_folder()
    built = Ingested(needed, extractor, experiment.embedder, folder, workers, advance)
    said = {one.id: one for one in needed.conversations}
    for of, memory in built:
        _retry_failed(memory)
        for how in experiment.forgets:
            if any(key[0] == how and work.left(key, of) for key in work.files):
                with having_forgotten(how, memory, built, said[of]) as changed:
                    yield how, changed, of


def _nothing(message: str) -> None:
    """Nobody is told."""


def _retry_failed(memory: Memory) -> None:
    """Read again the turns whose extraction failed when the memory was built: a server may be back."""
    rows = memory.store.query(
        "SELECT turn, status FROM extraction WHERE id IN (SELECT max(id) FROM extraction GROUP BY turn) ORDER BY id"
    )
    for turn, status in rows:
        if status in FAILED_STATUSES and isinstance(memory.extractor, KeptExtractor):
            memory.retry(turn)


def _ask(work: _Work, how: Forget, memory: Memory, of: str, pool: ThreadPoolExecutor) -> None:
    """Retrieve here, where the memory is; read and judge in the pool, at most a few questions ahead."""
    experiment, room = work.experiment, Room.of(memory)
    waiting: dict[Future[Row], tuple[Forget, str]] = {}
    for key in [key for key in work.files if key[0] == how]:
        for question in work.left(key, of):
            try:
                asked = room.ask(question, key[1], experiment.benchmark.format)
            except ProviderError as error:
                work.keep(key, errored(question, error))
                continue
            waiting[pool.submit(answered, asked, experiment.reader, experiment.judge)] = key
            if len(waiting) >= 2 * experiment.parallel:
                _collect(work, waiting, FIRST_COMPLETED)
    _collect(work, waiting, "ALL_COMPLETED")


def _collect(work: _Work, waiting: dict[Future[Row], tuple[Forget, str]], when: str) -> None:
    done, _ = wait(waiting, return_when=when)
    for future in [future for future in waiting if future in done]:
        work.keep(waiting.pop(future), future.result())


def _name(how: Forget, condition: str) -> str:
    return condition if how.name == NOTHING else f"{condition}-{how.label}"


def _seconds(file: RunFile) -> dict[str, float]:
    return {"answering": round(sum(float(row.get("time_seconds") or 0) for row in file.rows), 3)}


def _sum(file: RunFile, experiment: Experiment) -> dict[str, object]:
    """Tokens of the readings in this file, errors included; of everything else in this session."""
    counts = [sum(int(row.get(name) or 0) for row in file.rows) for name in ("tokens_in", "tokens_out")]
    return {"reading": {"in": counts[0], "out": counts[1]}, "session": experiment.spent.to_json()}


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # an optional provider that is not installed
            continue
    return found
