"""`python -m memory_core bench …`: one function a measurement, each giving the JSON that the design lists."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from memory_core.errors import InputError
from memory_core.evaluation import bench_forget, bench_retrieval
from memory_core.evaluation.bench_coverage import bench_coverage
from memory_core.evaluation.cost import PRUNES
from memory_core.evaluation.datasets import Benchmark, for_coverage, load_benchmark
from memory_core.evaluation.gold import extraction_figures, read_gold, score_extraction
from memory_core.evaluation.ingested import open_benchmark
from memory_core.evaluation.results import Run, compare, completed, read_run, show
from memory_core.evaluation.runner.command import run_command
from memory_core.evaluation.runner.numbers import numbers_command
from memory_core.evaluation.server.command import server_command
from memory_core.evaluation.speed.command import speed_command
from memory_core.parts import RETRIEVERS, default_extractor
from memory_core.progress import Meter
from memory_core.protocols import Extractor
from memory_core.providers import ProviderSettings, make_extractor

Result = dict[str, Any]
Measure = Callable[[Sequence[str]], Result]
EXTRACTOR_HELP = "embedded, openai, compatible or ollama, with :model if need be; default $FORGETTING_LAB_EXTRACTOR"


def bench(what: str, arguments: Sequence[str]) -> Result:
    """Run one measurement. Raises InputError for an unknown one; argparse ends the process with 2 on wrong usage."""
    if what not in MEASURES:
        raise InputError(f"There is no measurement {what}: choose {', '.join(MEASURES)}.")
    return MEASURES[what](arguments)


def extractor_named(choice: str | None) -> Extractor:
    """The extractor `provider` or `provider:model`; without one $FORGETTING_LAB_EXTRACTOR, else the embedded one."""
    return make_extractor(ProviderSettings.named("extractor", choice)) if choice else default_extractor()


def _coverage(arguments: Sequence[str]) -> Result:
    options = _benchmark_parser("coverage").parse_args(arguments)
    benchmark = load_benchmark(options.file, pooled=options.pooled)
    with _meter(benchmark) as meter:
        return bench_coverage(benchmark, extractor=extractor_named(options.extractor), advance=meter.advance)


def _retrieval(arguments: Sequence[str]) -> Result:
    parser = _benchmark_parser("retrieval")
    known = ",".join(RETRIEVERS)
    parser.add_argument("--retrievers", default=known, help=f"names with commas between; default {known}")
    parser.add_argument("--limit", type=int, help="the first N questions only")
    options = parser.parse_args(arguments)
    names = bench_retrieval.check([name for name in options.retrievers.split(",") if name])
    benchmark = load_benchmark(options.file, pooled=options.pooled)
    with _meter(benchmark) as meter:
        memories = open_benchmark(
            benchmark, extractor=extractor_named(options.extractor), advance=lambda message: meter.advance()
        )
        return bench_retrieval.report(benchmark, memories, names, limit=options.limit, advance=meter.advance)


def _forget(arguments: Sequence[str]) -> Result:
    parser = _benchmark_parser("forget")
    parser.add_argument("--policies", default="all", help="names with commas between; default all")
    parser.add_argument("--keep", default=".9,.7,.5", help="shares of the nodes kept, with commas between")
    options = parser.parse_args(arguments)
    names = bench_forget.check([name for name in options.policies.split(",") if name], keep := _shares(options.keep))
    benchmark = load_benchmark(options.file, pooled=options.pooled)
    steps = len(for_coverage(benchmark.questions))
    steps += len(benchmark.conversations) * len(keep) * (len(names) + PRUNES)
    with Meter("forgetting", steps) as meter:
        memories = open_benchmark(benchmark, extractor=extractor_named(options.extractor))
        return bench_forget.report(benchmark, memories, names, keep, advance=meter.advance)


def _shares(text: str) -> list[float]:
    try:
        return [float(share) for share in text.split(",") if share.strip()]
    except ValueError:
        raise InputError(f"--keep {text} is not understood: give shares with commas between, as .9,.7,.5.") from None


def _extraction(arguments: Sequence[str]) -> Result:
    parser = argparse.ArgumentParser("python -m memory_core bench extraction")
    parser.add_argument("gold", type=Path)
    parser.add_argument("--extractor", help=EXTRACTOR_HELP)
    options = parser.parse_args(arguments)
    extractor, gold = extractor_named(options.extractor), read_gold(options.gold)
    with Meter("reading", len(gold)) as meter:
        counts = []
        for turn in gold:
            counts.append(score_extraction(turn, extractor.extract(turn.turn)))
            meter.advance()
    return {"gold": options.gold.name, "extractor": extractor.id} | extraction_figures(counts)


def _show(arguments: Sequence[str]) -> Result:
    parser = argparse.ArgumentParser("python -m memory_core bench show")
    parser.add_argument("run", type=Path)
    _add_reading(parser)
    options = parser.parse_args(arguments)
    return show(_run(options.run, options))


def _compare(arguments: Sequence[str]) -> Result:
    parser = argparse.ArgumentParser("python -m memory_core bench compare", description="A minus B, paired by question")
    parser.add_argument("run_a", type=Path)
    parser.add_argument("run_b", type=Path)
    _add_reading(parser)
    options = parser.parse_args(arguments)
    return compare(_run(options.run_a, options), _run(options.run_b, options))


def _add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, help="the benchmark file, where the run lacks types and expected answers")
    parser.add_argument("--column", action="append", default=[], metavar="OURS=THEIRS", help="e.g. f1=score")


def _run(path: Path, options: argparse.Namespace) -> Run:
    pairs = [text.partition("=") for text in options.column]
    if bad := [text for text, (ours, _, theirs) in zip(options.column, pairs, strict=True) if not (ours and theirs)]:
        raise InputError(f"--column {bad[0]} names no column: write OURS=THEIRS, e.g. question_id=item.")
    run = read_run(path, {ours: theirs for ours, _, theirs in pairs})
    return completed(run, load_benchmark(options.data)) if options.data else run


def _benchmark_parser(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(f"python -m memory_core bench {name}")
    parser.add_argument("file", type=Path, help="a LongMemEval or LoCoMo file, or ours with its questions beside it")
    parser.add_argument("--pooled", action="store_true", help="every session of the file into one memory")
    parser.add_argument("--extractor", help=EXTRACTOR_HELP)
    return parser


def _meter(benchmark: Benchmark) -> Meter:
    return Meter("remembering", sum(len(conversation.turns) for conversation in benchmark.conversations))


MEASURES: dict[str, Measure] = {
    "coverage": _coverage,
    "extraction": _extraction,
    "retrieval": _retrieval,
    "forget": _forget,
    "show": _show,
    "compare": _compare,
    "run": run_command,
    "numbers": numbers_command,
    "speed": speed_command,
    "server": server_command,
}
