"""Models from the command line: `ingest --extractor`, `--parallel`, `retry`, `reembed`; no key in anything written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memory_core.__main__ import main
from memory_core.errors import EmbedderMismatchError
from memory_core.extraction import timed
from memory_core.ingestion import ingest
from memory_core.memory import Memory
from memory_core.parts import default_embedder
from memory_core.schema import Extraction, Turn, utc
from memory_core.store.sqlite import SqliteStore
from tests.fakes import LetterEmbedder, SpelledExtractor
from tests.servers.hostile import Answer, Hostile, chat
from tests.servers.ollama import EMBEDDING_MODEL, Translator

ROOT = Path(__file__).parents[1]
KEY = "sk-command-0123456789abcdef"
TEXTS = ("My sister Mira lives in Porto.", "I bought a red bicycle.", "My dog is Rollo.", "I work at a bakery.")
ONE = json.dumps(
    {
        "nodes": [{"id": "n1", "label": "Person", "title": "Mira", "content": "A sister.", "attributes": []}],
        "edges": [],
    }
)
Run = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    lines = [
        {"role": "user", "speaker": "Ana", "text": text, "at": f"2024-05-0{day}T10:00:00Z"}
        for day, text in enumerate(TEXTS, 1)
    ]
    (tmp_path / "talk.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return tmp_path / "talk.jsonl"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command with --json: its exit code, the object it printed, and what it said on stderr."""
    monkeypatch.setenv("FORGETTING_LAB_MEMORY", str(tmp_path / "m.sqlite3"))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)

    def command(*arguments: object, **env: str) -> tuple[int, Any, str]:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        code = main([*map(str, arguments), "--json"])
        said = capsys.readouterr()
        return code, json.loads(said.out) if said.out else None, said.err

    return command


def test_ingest_by_a_model_tells_the_estimate_before_and_what_it_took(run: Run, talk: Path, hostile: Hostile) -> None:
    hostile.says(chat(ONE, model="gpt-4o-mini-2024-07-18", usage={"prompt_tokens": 1000, "completion_tokens": 100}))
    env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{hostile.url}/v1"}
    code, done, said = run("ingest", talk, "--extractor", "openai", "--parallel", 3, **env)
    assert code == 0
    assert said.startswith("4 turns, at most ")
    assert "$0." in said
    assert done["statuses"] == {"ok": 4}, [Memory.open().attempts(f"t{n}")[0].reason for n in range(1, 5)]
    assert (done["turns"], done["tokens_in"], done["tokens_out"]) == (4, 4000, 400)
    assert done["dollars"] == pytest.approx(4000 * 0.15e-6 + 400 * 0.60e-6)
    assert {headers["authorization"] for headers in hostile.seen_headers} == {f"Bearer {KEY}"}
    run("export", talk.with_name("out.json"))
    written = b"".join(path.read_bytes() for path in talk.parent.iterdir())
    assert KEY.encode() not in written
    assert KEY not in said + json.dumps(done)


def test_a_wrong_key_fails_every_turn_loses_none_and_retry_reads_them(run: Run, talk: Path, hostile: Hostile) -> None:
    hostile.says(Answer(json.dumps({"error": {"message": f"Incorrect API key: {KEY}"}}), 401))
    env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{hostile.url}/v1"}
    _, done, said = run("ingest", talk, "--extractor", "compatible:m", **env)
    assert (done["turns"], done["rejected"], done["statuses"]) == (4, 4, {"failed": 4})
    assert "kept but not read: 4 of 4 turns" in said
    assert KEY not in said
    with Memory.open() as memory:
        assert KEY not in memory.attempts("t1")[0].reason
    hostile.says(chat(ONE))
    _, again, _ = run("retry", "--extractor", "compatible:m", "--parallel", 2)
    assert (again["turns"], again["rejected"], again["still_failed"]) == (4, 0, 0)
    assert run("retry", "--extractor", "compatible:m")[1]["turns"] == 0
    assert run("stats")[1]["nodes"] == 1


class Slow:
    """Answers later turns sooner, and remembers how many calls were under way at once."""

    id = "slow-1"

    def __init__(self) -> None:
        self.now = self.most = 0
        self._lock = threading.Lock()

    def extract(self, turn: Turn) -> Extraction:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.03 if int(turn.source_id) % 2 else 0.002)
        with self._lock:
            self.now -= 1
        return SpelledExtractor().extract(turn)

    def entities(self, question: str) -> list[str]:
        return [question]


@pytest.mark.parametrize("parallel", [1, 3, 8])
def test_calls_are_limited_and_turns_are_stored_in_order(parallel: int) -> None:
    turns = [Turn("user", f"Artifact:Thing {n}", utc("2024-01-01"), "Ana", "s", str(n), position=n) for n in range(40)]
    slow = Slow()
    with Memory.open(":memory:", embedder=LetterEmbedder(), extractor=slow) as memory:
        done = ingest(memory, turns, workers=parallel)
        assert done.turns == 40
        assert [turn.source_id for turn in memory.latest_turns(40)] == [str(n) for n in range(40)]
    assert slow.most == parallel
    assert timed(slow, turns[0]).seconds > 0


def test_without_the_key_nothing_is_begun(run: Run, talk: Path) -> None:
    code, done, said = run("ingest", talk, "--extractor", "openai")
    assert (code, done, said.count("\n")) == (1, None, 1)
    assert "set OPENAI_API_KEY" in said
    assert not talk.with_name("m.sqlite3").exists()


def test_ollamas_client_reads_turns(run: Run, talk: Path, hostile: Hostile) -> None:
    shown = json.dumps({"model_info": {"llama.context_length": 8192}, "capabilities": ["completion"]})
    counts = {"done": True, "done_reason": "stop", "prompt_eval_count": 500, "eval_count": 20}
    hostile.says(shown, json.dumps({"model": "qwen", "message": {"role": "assistant", "content": ONE}, **counts}))
    code, done, said = run("ingest", talk, "--extractor", "ollama:qwen", "--parallel", 1, OLLAMA_HOST=hostile.url)
    assert (code, done["statuses"], done["tokens_in"], done["dollars"]) == (0, {"ok": 4}, 2000, None)
    assert "$" not in said, "a model of one's own has no price"


def test_a_memory_made_with_a_remote_embedder_is_looked_at_while_the_server_is_down(
    run: Run, talk: Path, ollama: Translator
) -> None:
    code, _, _ = run("ingest", talk, OLLAMA_HOST=ollama.url, FORGETTING_LAB_EMBEDDER="ollama")
    assert code == 0
    assert run("stats", FORGETTING_LAB_EMBEDDER="")[1]["embedder"] == f"ollama/{EMBEDDING_MODEL}"
    assert run("ask", "Where does my sister Mira live?")[1]["roots"], "the memory names its embedder"
    assert run("stats", OLLAMA_HOST="http://127.0.0.1:9")[0] == 0
    code, _, said = run("ask", "Where does my sister Mira live?")
    assert (code, said.count("\n")) == (1, 1)
    assert "Start it with: ollama serve" in said


def test_reembed_gives_a_memory_another_embedder_and_it_opens_with_it(run: Run, talk: Path, ollama: Translator) -> None:
    run("ingest", talk)
    nodes = run("stats")[1]["nodes"]
    code, done, _ = run("reembed", "--embedder", f"ollama:{EMBEDDING_MODEL}", OLLAMA_HOST=ollama.url)
    assert code == 0
    assert (done["embedder"], done["dim"], done["made"]) == (f"ollama/{EMBEDDING_MODEL}", 768, nodes)
    assert run("stats")[1]["embedder"] == f"ollama/{EMBEDDING_MODEL}"
    assert run("ask", "Where does my sister Mira live?")[0] == 0
    assert run("reembed", "--embedder", "embedded")[1]["before"] == f"ollama/{EMBEDDING_MODEL}"
    assert run("reembed", "--embedder", "embedded")[1]["made"] == 0


def test_a_memory_of_an_unknown_embedder_names_the_command_and_the_command_mends_it(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite3"
    with Memory.open(path, embedder=LetterEmbedder(), extractor=SpelledExtractor()) as memory:
        memory.say("Person:Mira -lives_in-> Location:Porto", at="2024-01-01")
    with pytest.raises(EmbedderMismatchError, match="python -m memory_core reembed --embedder embedded --memory"):
        Memory.open(path)
    assert "re-embed it: python -m memory_core reembed" in run("stats")[2]
    assert run("reembed", "--embedder", "embedded")[1]["made"] == 2
    assert run("stats")[1]["nodes"] == 2


def test_a_server_of_ones_own_is_never_taken_for_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    embedder = default_embedder("compatible/nomic", 768)
    assert (embedder.id, embedder.dim) == ("compatible/nomic", 768)
    with pytest.raises(Exception, match="set OPENAI_BASE_URL"):
        embedder.embed(["My sister Mira lives in Porto."])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["reembed", "--embedder", "gemini"], "There is no embedder 'gemini'"),
        (["reembed", "--embedder", "openai"], "set OPENAI_API_KEY"),
        (["retry", "--extractor", "openai"], "set OPENAI_API_KEY"),
        (["reembed", "--embedder", "ollama"], "ollama serve"),
        (["reembed", "--embedder", "compatible:m"], "set OPENAI_BASE_URL"),
        (["retry", "--extractor", "compatible"], "write compatible:NAME"),
    ],
)
def test_what_is_missing_is_one_line(run: Run, talk: Path, arguments: list[str], says: str) -> None:
    run("ingest", talk, "--limit", 1)
    code, _, said = run(*arguments, OLLAMA_HOST="http://127.0.0.1:9")
    assert code == 1
    assert says in said
    assert said.count("\n") == 1


def test_an_interrupt_leaves_the_call_in_its_middle_and_the_same_command_goes_on(
    run: Run, talk: Path, hostile: Hostile
) -> None:
    hostile.says(chat(ONE), Answer(chat(ONE), pause=30))
    env = {**os.environ, "OPENAI_BASE_URL": f"{hostile.url}/v1"}
    command = [sys.executable, "-m", "memory_core", "ingest", str(talk), "--extractor", "compatible:m", "--json"]
    heeds = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # who starts the tests in the background ignores it
    with subprocess.Popen([*command, "--parallel", "1"], cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True,
                          preexec_fn=heeds) as child:  # fmt: skip
        while len(hostile.asked) < 2:
            assert child.poll() is None
            time.sleep(0.02)
        begun = time.monotonic()
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=20)[1]
    assert time.monotonic() - begun < 5
    assert child.returncode == 1
    assert "the same command goes on from there" in said
    assert "Traceback" not in said
    hostile.says(chat(ONE))
    _, done, _ = run(*command[3:-1], OPENAI_BASE_URL=f"{hostile.url}/v1")
    assert (done["skipped"], done["turns"]) == (1, 3)


def test_a_stopped_reembedding_goes_on_where_it_was(run: Run, tmp_path: Path, hostile: Hostile) -> None:
    path = tmp_path / "m.sqlite3"
    with Memory.open(path, extractor=SpelledExtractor()) as memory:
        for n in range(100):
            memory.say(f"Artifact:Unlike {'xyzabcdefg'[n % 10] * 9}{n}", at="2024-01-01")
        nodes = memory.graph.node_count
    rows = [{"index": n, "embedding": [1.0, n + 1.0, 0.5]} for n in range(64)]
    batch = json.dumps({"data": rows})
    one = json.dumps({"data": rows[:1]})
    hostile.says(one, batch, Answer('{"error": "out of memory"}', 400))
    code, _, said = run("reembed", "--embedder", "compatible:m", OPENAI_BASE_URL=f"{hostile.url}/v1")
    assert (code, said.count("\n")) == (1, 1)
    assert run("stats")[1]["embedder"] == "minilm-l6-v2-int8", "the old vectors answer until all are there"
    left = json.dumps({"data": rows[: nodes - 64]})
    hostile.says(one, left)
    assert run("reembed", "--embedder", "compatible:m")[1]["made"] == nodes - 64
    with closing(SqliteStore(path, create=False)) as store:
        assert store.query("SELECT count(*) FROM pending_vector") == [(0,)]
