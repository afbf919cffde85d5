"""`python -m memory_core bench run`: the experiment as its options name it."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_core.errors import InputError
from memory_core.evaluation.datasets import load_benchmark
from memory_core.evaluation.ingested import cache_folder
from memory_core.evaluation.judge import make_judge
from memory_core.evaluation.runner.asking import CONDITIONS
from memory_core.evaluation.runner.estimate import estimate
from memory_core.evaluation.runner.experiment import Experiment, run_benchmark
from memory_core.evaluation.runner.extractions import KeptExtractor
from memory_core.evaluation.runner.forgets import forgets
from memory_core.parts import default_embedder
from memory_core.prices import AS_OF
from memory_core.progress import Meter
from memory_core.protocols import Extractor
from memory_core.providers import Part, ProviderSettings, make_extractor, make_reader
from memory_core.retrieval.remembering import Remembering
from memory_core.spending import Spent, counted

_PROVIDER = "provider or provider:model; default $FORGETTING_LAB_"


def run_command(arguments: Sequence[str]) -> dict[str, Any]:
    """Run and return {"runs": …, "spent": …}. Raises InputError, ProviderError; wrong usage ends the process with 2."""
    options = _parser().parse_args(arguments)
    experiment = _experiment(options)
    if experiment.judge is not None or hasattr(experiment.reader, "llm"):
        expected = estimate(experiment)
        print(f"at most {expected} (prices of {AS_OF}); cached extractions cost nothing", file=sys.stderr)
    turns = sum(len(said.turns) for said in experiment.needed().conversations)
    questions = len(experiment.runs()) * len(experiment.questions)
    with Meter("remembering", turns) as built, Meter("asking", questions) as asked:
        runs = run_benchmark(
            experiment, options.out, resume=options.resume, remembering=built.advance, asking=asked.advance
        )
    return {"runs": runs, "spent": experiment.spent.to_json()}


def _experiment(options: argparse.Namespace) -> Experiment:
    benchmark = load_benchmark(options.file, pooled=options.pooled, in_file_order=options.pooled)
    spent, embedder = Spent(), default_embedder()
    settings = {part: _settings(part, options) for part in ("extractor", "reader", "judge")}
    extractor = counted(make_extractor(settings["extractor"]), spent)
    judge = None if options.no_llm else make_judge(settings["judge"])
    return Experiment(
        benchmark=benchmark,
        conditions=_conditions(options.conditions),
        extractor=_kept(extractor) if hasattr(extractor, "llm") else extractor,
        embedder=embedder,
        reader=counted(make_reader(settings["reader"], Remembering(embedder, most=20_000)), spent),
        judge=counted(judge, spent) if judge else None,
        pooled=options.pooled,
        forgets=forgets(options.forget, keep=options.keep, turns=options.turns, seed=options.seed),
        limit=options.limit,
        parallel=options.parallel,
        seed=options.seed,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        spent=spent,
    )


def _settings(part: Part, options: argparse.Namespace) -> ProviderSettings:
    choice = getattr(options, part)
    if options.no_llm and part != "extractor":
        if choice:
            raise InputError(f"--no-llm and --{part} {choice} contradict each other: leave one out.")
        return ProviderSettings("none" if part == "judge" else "embedded")
    if options.no_llm and not choice:
        return ProviderSettings()
    return ProviderSettings.named(part, choice) if choice else ProviderSettings.from_env(part)


def _kept(extractor: Extractor) -> KeptExtractor:
    name = hashlib.sha256(extractor.id.encode()).hexdigest()[:16]
    return KeptExtractor(extractor, cache_folder() / f"extractions-{name}.sqlite3")


def _shares(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def _conditions(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    unknown = [name for name in names if name not in CONDITIONS]
    if unknown:
        raise InputError(f"There is no condition {unknown[0]!r}: choose {', '.join(CONDITIONS)}.")
    return names


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m memory_core bench run")
    parser.add_argument("file", type=Path, help="a LongMemEval or LoCoMo file, or ours with its questions beside it")
    parser.add_argument("--out", type=Path, required=True, help="the folder for the run files")
    parser.add_argument("--conditions", default="graph,flat,bm25", help=f"of {', '.join(CONDITIONS)}, with commas")
    parser.add_argument("--pooled", action="store_true", help="experiment 2: one memory of every session, file order")
    parser.add_argument("--forget", default="none", help="none, once, every:N, random[:N], a policy, all; commas")
    parser.add_argument("--keep", type=_shares, default=[], help="shares of nodes kept, .9,.7; default as once keeps")
    parser.add_argument("--turns", choices=["keep", "with_nodes"], default="keep", help="whether turns leave too")
    parser.add_argument("--no-llm", action="store_true", help="evidence metrics and extractive answers, no judge")
    for part in ("extractor", "reader", "judge"):
        parser.add_argument(f"--{part}", help=f"{_PROVIDER}{part.upper()}")
    parser.add_argument("--limit", type=int, help="only the first N questions")
    parser.add_argument("--parallel", type=int, default=4, help="calls to models at once (4)")
    parser.add_argument("--seed", type=int, default=42, help="of random prunes and of the bootstrap (42)")
    parser.add_argument("--resume", action="store_true", help="go on where a stopped run left off; ask errors again")
    return parser
