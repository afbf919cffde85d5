"""A server is started or prepared by one command; every other command works on it, and tells no password."""

from __future__ import annotations

import json
import os
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory_core import local_server as module
from memory_core.__main__ import main
from memory_core.memory import Memory
from memory_core.server_setup import rewrite
from memory_core.store.address import Address
from memory_core.store.rows import insert

TALK = [
    {
        "id": "k1",
        "session": "s",
        "role": "user",
        "text": "My sister Mira lives in Porto.",
        "at": "2024-05-01T10:00:00Z",
    },
    {
        "id": "k2",
        "session": "s",
        "role": "user",
        "text": "My dog Rollo is six years old.",
        "at": "2024-05-02T10:00:00Z",
    },
    {"id": "k3", "session": "s", "role": "user", "text": "Mira moved to Faro.", "at": "2024-05-03T10:00:00Z"},
]


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    file = tmp_path / "talk.jsonl"
    file.write_text("".join(json.dumps(turn) + "\n" for turn in TALK))
    return file


def said(capsys: pytest.CaptureFixture[str], *command: str) -> Any:
    """The JSON that a command prints; it must go well."""
    code = main([*command, "--json"])
    out, error = capsys.readouterr()
    assert code == 0, error
    return json.loads(out)


def refused(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    """The one line that a command says instead."""
    assert main(list(command)) == 1
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    return error


# -- server ------------------------------------------------------------------------------------------------------------


def variables(file: Path) -> dict[str, str]:
    pairs = (line.removeprefix("export ").partition("=") for line in file.read_text().splitlines())
    return {name: shlex.split(value)[0] for name, _, value in pairs}


def test_setup_prints_no_password_and_writes_it_where_nobody_else_reads(
    postgres: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "environment"
    file.write_text("old")
    file.chmod(0o644)
    shown = json.dumps(said(capsys, "server", "--setup", postgres, "--login", "lab_setup", "--out", str(file)))
    found = variables(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert found["FORGETTING_LAB_KEY"].startswith("server:")
    for secret in (Address.parse(found["FORGETTING_LAB_MEMORY"]).password, Address.parse(postgres).password,
                   found["FORGETTING_LAB_KEY"].partition(":")[2]):  # fmt: skip
        assert len(secret) > 20
        assert secret not in shown


def test_the_apps_login_may_do_nothing_but_sign_in(app_login: dict[str, str]) -> None:
    with psycopg.connect(app_login["FORGETTING_LAB_MEMORY"], autocommit=True) as db:
        rights = "SELECT rolsuper, rolcreaterole, rolcreatedb, rolbypassrls FROM pg_roles WHERE rolname = current_user"
        assert db.execute(rights).fetchone() == (False,) * 4
        for forbidden in (
            "SELECT key FROM forgetting_lab.secret",
            "SELECT forgetting_lab.key_of('local')",
            "SET ROLE forgetting_lab_owner",
            "SET ROLE postgres",
            "CREATE TABLE forgetting_lab.mine (x int)",
            "ALTER TABLE forgetting_lab.turn DISABLE ROW LEVEL SECURITY",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                db.execute(forbidden)
        assert db.execute("SELECT count(*) FROM forgetting_lab.turn").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM forgetting_lab.memory").fetchone() == (0,)


def test_a_users_own_key_is_of_no_use_to_another(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], talk: Path
) -> None:
    file = tmp_path / "ann"
    said(capsys, "server", "--setup", postgres, "--user", "ann", "--login", "lab_own", "--out", str(file))
    for name, value in variables(file).items():
        monkeypatch.setenv(name, value)
    assert said(capsys, "ingest", str(talk))["turns"] == 3
    monkeypatch.setenv("FORGETTING_LAB_USER", "ben")
    assert "does not know ben" in refused(capsys, "stats")


def test_one_users_file_leaves_the_apps_login_as_it_was(
    app_login: dict[str, str], postgres: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logins = set()
    for user in ("ann", "ben"):
        said(capsys, "server", "--setup", postgres, "--user", user, "--out", str(tmp_path / user))
        address = variables(tmp_path / user)["FORGETTING_LAB_MEMORY"]
        logins.add(Address.parse(address).user)
        psycopg.connect(address).close()
    assert len(logins - {"forgetting_lab"}) == 2
    psycopg.connect(app_login["FORGETTING_LAB_MEMORY"]).close()


def test_a_purge_that_comes_while_the_tables_are_rewritten_waits_for_the_next_time(
    on_server: str, postgres: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Memory.open() as memory, psycopg.connect(postgres) as other, ThreadPoolExecutor(1) as pool:
        memory.store.commit([insert("meta", key="rewrite", value="due")], 0)
        other.execute("LOCK TABLE forgetting_lab.access IN ACCESS SHARE MODE")
        rewriting = pool.submit(rewrite, Address.parse(postgres))
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'forgetting_lab.access'::regclass"
        while other.execute(waiting).fetchone() != (1,):
            time.sleep(0.01)
        memory.store.commit([insert("meta", key="rewrite", value="due")], 1, whole=True)
        other.rollback()
        rewriting.result(60)
        assert memory.store.meta("rewrite") == "due"
        said(capsys, "server", "--rewrite", postgres)
        assert memory.store.meta("rewrite") == ""


def test_a_role_that_may_do_more_is_no_login_for_the_app(
    postgres: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = refused(capsys, "server", "--setup", postgres, "--login", "postgres", "--out", str(tmp_path / "env"))
    assert "may do more than an app should" in error
    assert not (tmp_path / "env").exists()


def test_who_is_no_administrator_is_told_so(
    app_login: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    admin = app_login["FORGETTING_LAB_MEMORY"]
    error = refused(capsys, "server", "--setup", admin, "--out", str(tmp_path / "env"))
    assert "permission denied" in error
    assert Address.parse(admin).password not in error


def test_mistakes_are_told_in_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Say --try" in refused(capsys, "server")
    assert "Say --try" in refused(capsys, "server", "--try", "--setup", "postgresql://h/d")
    assert "is not there" in refused(capsys, "server", "--setup", "postgresql://u:s3cret@127.0.0.1:1/d")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert "pip install -r requirements-server.txt" in refused(capsys, "server", "--try")


def started(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "memory_core", "server", "--try", "--folder", str(folder), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that also the user nobody may enter."""
    import shutil
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="forgetting-lab-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_server_for_a_first_look_stays_until_it_is_stopped_and_keeps_its_memories(
    open_folder: Path, talk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for round_, stop in enumerate((signal.SIGINT, signal.SIGTERM)):
        with started(open_folder / "server") as process:
            ready = json.loads(process.stdout.readline())  # type: ignore[union-attr]
            for name, value in variables(Path(ready["environment"])).items():
                monkeypatch.setenv(name, value)
            if round_ == 0:
                said(capsys, "ingest", str(talk))
                first = os.environ["FORGETTING_LAB_MEMORY"]
            assert os.environ["FORGETTING_LAB_MEMORY"] == first, "who read the file once is let in again"
            assert said(capsys, "stats")["turns"] == 3
            assert Address.parse(os.environ["FORGETTING_LAB_MEMORY"]).password not in json.dumps(ready)
            process.send_signal(stop)
            assert process.wait(30) == 0
        assert "is not there" in refused(capsys, "stats")


# -- the other commands ------------------------------------------------------------------------------------------------


def told_by_every_command(capsys: pytest.CaptureFixture[str], memory: str, talk: Path, folder: Path) -> list[Any]:
    """What each command says of one story, without what differs by place: paths, bytes on disk, seconds."""
    here = ("--memory", memory)
    story: list[Any] = [
        said(capsys, "ingest", str(talk), "--limit", "2", *here),
        said(capsys, "ingest", str(talk), *here),
        said(capsys, "retry", *here),
        said(capsys, "ask", "Where does Mira live?", "--touch", "--at", "2024-06-01T00:00:00Z", *here),
        *(
            said(capsys, "ask", "Where does Mira live?", "--retriever", name, *here)
            for name in ("flat", "bm25", "hybrid")
        ),
        said(capsys, "protect", "word=Rollo", *here),
        said(capsys, "forget", "--keep", "3", *here),
    ]
    for last in ("undo", "purge", ""):
        story.append(done := said(capsys, "forget", "--keep", "3", "--policy", "lru", "--apply", *here))
        if last:
            story.append(said(capsys, last, done["id"], *here))
        if last == "undo":
            said(capsys, "export", str(folder / "undone.json"), *here)
    story += [
        said(capsys, "history", *here),
        said(capsys, "export", str(folder / "end.json"), "--vectors", *here),
        said(capsys, "stats", *here),
        said(capsys, "reembed", "--embedder", "use", *here),
        said(capsys, "stats", *here),
    ]
    for entry in story:
        for key in ("seconds", "bytes_on_disk", "ms", "receipt", "file_rewritten"):
            entry.pop(key, None)
    return story


def test_every_command_says_the_same_of_a_memory_on_a_server(
    on_server: str, app_login: dict[str, str], talk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stories, exports = [], []
    server = app_login["FORGETTING_LAB_MEMORY"]
    for memory, folder in ((str(tmp_path / "memory.sqlite3"), tmp_path / "a"), (f"{server}?memory=b", tmp_path / "b")):
        folder.mkdir()
        stories.append(told_by_every_command(capsys, memory, talk, folder))
        exports.append([(folder / name).read_text() for name in ("undone.json", "end.json")])
    assert stories[0] == stories[1]
    assert exports[0] == exports[1]
    assert said(capsys, "import", str(tmp_path / "b" / "undone.json"), "--memory", f"{server}?memory=c")["turns"] == 3
    differing = said(capsys, "diff", f"{server}?memory=c", str(tmp_path / "a" / "undone.json"))
    assert not any(differing[part][way] for part in ("nodes", "edges", "turns") for way in ("added", "gone", "changed"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda address: address.replace(Address.parse(address).password, "s3cret"), "refused user forgetting_lab"),
        (lambda address: address.replace("/postgres", "/s3cretdb"), "has no database"),
        (lambda address: address.replace("127.0.0.1", "s3cret.invalid"), "name that is not known"),
        (lambda address: f"{address}?memory=../x", "1 to 64 letters"),
        (lambda address: f"{address}?memory=none", "no memory at"),
        (lambda address: f"{address}?key=server:12", "is no key"),
    ],
)
def test_an_address_that_does_not_work_is_told_in_one_line_without_its_password(
    change: Any, says: str, on_server: str, app_login: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    error = refused(capsys, "stats", "--memory", change(app_login["FORGETTING_LAB_MEMORY"]))
    assert says in error
    assert "s3cret@" not in error
    assert Address.parse(app_login["FORGETTING_LAB_MEMORY"]).password not in error
