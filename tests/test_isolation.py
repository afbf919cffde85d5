"""Nobody reads or writes another's memory on a server, by no command and on no page."""

from __future__ import annotations

import html as markup
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from memory_core.__main__ import COMMANDS, main
from memory_core.errors import ForgettingLabError
from memory_core.exporters import export
from memory_core.memories import Memories, on_server
from memory_core.memory import Memory
from memory_core.policies import make
from memory_core.server_setup import prepare
from memory_core.store.address import Address
from memory_core.store.opening import open_store
from memory_core.store.transfer import digest
from tests.pages.conftest import APP, PAGES

SECRETS = ("Porto", "Mira", "Rollo", "Faro")  # words of Ann's memory
ANN, BEN = "https://id.example ann", "https://id.example ben"


@pytest.fixture(scope="module")
def anns(app_login: dict[str, str]) -> Iterator[Memories]:
    """Ann's memory `diary`, with a pass, a question and a rule in it."""
    address = Address.parse(app_login["FORGETTING_LAB_MEMORY"] + f"?key={app_login['FORGETTING_LAB_KEY']}")
    place = on_server(address, ANN)
    memory = place.create("diary").memory
    for day, text in enumerate(("My sister Mira lives in Porto.", "My dog Rollo is six.", "Mira moved to Faro."), 1):
        memory.say(text, at=f"2024-05-0{day}T10:00:00Z")
    assert memory.clock
    memory.ask("Where does Mira live?", touch_at=memory.clock)
    memory.protect("word=Rollo")
    memory.apply(memory.plan(make("lru", {}), keep=memory.graph.node_count - 1))
    yield place
    place.close()


def fingerprint(place: Memories) -> str:
    with closing(open_store(place.at("diary"), create=False, user=ANN)) as store:  # type: ignore[attr-defined]
        return f"{store.revision()} {digest(store, lambda count: None)}"


@pytest.fixture
def untouched(anns: Memories) -> Iterator[None]:
    """What Ann has is the same after the test, to the last byte."""
    before, names = fingerprint(anns), anns.names()
    yield
    assert (fingerprint(anns), anns.names()) == (before, names)


# -- commands ----------------------------------------------------------------------------------------------------------

#: What is given to each command; its memory is Ann's, by name.
GIVEN: dict[str, list[str]] = {
    "ingest": ["FOLDER/talk.txt"],
    "retry": [],
    "reembed": ["--embedder", "use"],
    "stats": [],
    "ask": ["Where does Mira live?", "--touch"],
    "forget": ["--keep", "0", "--apply"],
    "ask --in-database": ["Where does Mira live?"],
    "forget --in-database": ["--keep", "0", "--apply"],
    "history": [],
    "undo": ["c1"],
    "purge": ["c1"],
    "protect": ["word=rye"],
    "export": ["FOLDER/out.json"],
    "import": ["FOLDER/in.json"],
    "diff": ["MEMORY", "FOLDER/in.json"],
    "migrate": ["MEMORY", "FOLDER/out.sqlite3"],
}
WITHOUT_A_MEMORY = {"bench": "its cache is in files", "server": "it starts or prepares a server as its administrator"}
MAKES_ITS_OWN = ("ingest", "import")  # a memory of Ben's by the same name, which is another


def test_every_command_is_tried() -> None:
    assert {command.split()[0] for command in GIVEN} | set(WITHOUT_A_MEMORY) == set(COMMANDS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "talk.txt").write_text("user: I bake rye bread.\n")
    with Memory.open(":memory:") as memory:
        memory.say("I bake rye bread.", at="2024-05-01T10:00:00Z")
        export(memory, tmp_path / "in.json")
    return tmp_path


@pytest.fixture(scope="module")
def bens(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables of Ben: his own key, and no other."""
    file = tmp_path_factory.mktemp("ben") / "environment"
    prepare(Address.parse(postgres), file, user=BEN, login="lab_ben")
    pairs = (line.removeprefix("export ").partition("=")[::2] for line in file.read_text().splitlines())
    return {name: value.strip("'") for name, value in pairs}


def run(command: str, memory: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    given = [word.replace("MEMORY", memory).replace("FOLDER", str(folder)) for word in GIVEN[command]]
    code = main([*command.split(), *given, "--memory", memory, "--json"])
    return code, "".join(capsys.readouterr())


@pytest.mark.parametrize("command", GIVEN)
def test_no_command_reaches_anothers_memory_by_its_name(
    command: str, untouched: None, bens: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    for name, value in bens.items():
        monkeypatch.setenv(name, value)
    code, said = run(command, f"{bens['FORGETTING_LAB_MEMORY']}?memory=diary", folder, capsys)
    if command in MAKES_ITS_OWN:
        assert (code, json.loads(said)["turns"]) == (0, 1), "one turn, and none of Ann's"
        on_server(Address.given(bens["FORGETTING_LAB_MEMORY"]), BEN).delete("diary")
    else:
        assert code == 1
        assert said.startswith("error: There is no memory at postgresql://lab_ben@")
    assert not [word for word in SECRETS if word in said.replace("Where does Mira live?", "")]


@pytest.mark.parametrize("command", GIVEN)
def test_no_command_lets_anybody_in_as_another(
    command: str, untouched: None, bens: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    for name, value in {**bens, "FORGETTING_LAB_USER": ANN}.items():
        monkeypatch.setenv(name, value)
    code, said = run(command, f"{bens['FORGETTING_LAB_MEMORY']}?memory=diary", folder, capsys)
    assert code == 1
    assert "does not know https://id.example ann by the key" in said


@pytest.mark.parametrize("command", GIVEN)
def test_without_a_key_no_command_lets_anybody_in(
    command: str, untouched: None, bens: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    for name, value in {**bens, "FORGETTING_LAB_USER": ANN, "FORGETTING_LAB_KEY": ""}.items():
        monkeypatch.setenv(name, value)
    code, said = run(command, f"{bens['FORGETTING_LAB_MEMORY']}?memory=diary", folder, capsys)
    assert code == 1
    assert "asks who https://id.example ann is" in said


# -- pages -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def app_of_ben(app_login: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Memories]:
    """The app of the server, and Ben's memories there: one of his own, `notes`."""
    for name, value in app_login.items():
        monkeypatch.setenv(name, value)
    place = on_server(Address.given(app_login["FORGETTING_LAB_MEMORY"]), BEN)
    if not place.exists("notes"):
        place.create("notes").memory.say("I bake rye bread.", at="2024-05-01T10:00:00Z")
    yield place
    place.close()


def seen_by(subject: str, page: str, state: dict[str, Any] | None = None, **address: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.user = {"is_logged_in": True, "iss": "https://id.example", "sub": subject}
    for name, value in address.items():
        app.query_params[name] = value
    app.run()
    for name, value in (state or {}).items():
        app.session_state[name] = value
    for name, value in address.items():
        app.query_params[name] = value
    return app.switch_page(str(PAGES / f"{page}.py")).run() if page != "chat" else app.run()


def everything(app: AppTest) -> str:
    """All that the page holds and offers, as text."""
    assert not app.exception
    drawn = [repr(element.proto) for element in app.main] + [repr(element.proto) for element in app.sidebar]
    return markup.unescape("\n".join(drawn))


PAGES_SEEN = ("chat", "extraction", "retrieval", "forgetting", "results")


def test_every_page_is_tried() -> None:
    assert set(PAGES_SEEN) == {path.stem for path in PAGES.glob("*.py")}


def test_ann_sees_her_own(anns: Memories, app_of_ben: Memories) -> None:
    assert "Porto" in everything(seen_by("ann", "chat", memory="diary"))


@pytest.mark.parametrize("page", PAGES_SEEN)
def test_no_link_shows_anothers_memory(page: str, untouched: None, app_of_ben: Memories) -> None:
    app = seen_by(
        "ben", page, memory="diary", node="n1", turn="t1", question="Where does she live?", id="c1", item="n1"
    )
    assert not [word for word in SECRETS if word in everything(app)]
    assert list(app.sidebar.selectbox[0].options) == ["notes"]


@pytest.mark.parametrize("page", PAGES_SEEN)
def test_no_session_state_shows_anothers_memory(page: str, untouched: None, app_of_ben: Memories) -> None:
    state = {
        "memory_name": "diary",
        "ChatState": {"memory": "diary", "item": "n1"},
        "ExtractionState": {"memory": "diary", "turn": "t1"},
        "RetrievalState": {"memory": "diary"},
        "ForgettingState": {"memory": "diary"},
    }
    app = seen_by("ben", page, state)
    assert not [word for word in SECRETS if word in everything(app)]
    assert list(app.sidebar.selectbox[0].options) == ["notes"]


def test_no_act_of_the_menu_reaches_anothers_memory(untouched: None, app_of_ben: Memories) -> None:
    for act in (
        lambda: app_of_ben.open("diary"),
        lambda: app_of_ben.delete("diary"),
        lambda: app_of_ben.rename("diary", "mine"),
        lambda: app_of_ben.duplicate("diary", "mine"),
    ):
        with pytest.raises(ForgettingLabError, match="There is no memory diary"):
            act()
    assert app_of_ben.names() == ["notes"]


def test_one_name_of_two_users_is_two_memories(anns: Memories, untouched: None, app_of_ben: Memories) -> None:
    app_of_ben.rename("notes", "diary")
    try:
        assert "Porto" not in everything(seen_by("ben", "chat", memory="diary"))
        assert "rye" not in everything(seen_by("ann", "chat", memory="diary"))
        app_of_ben.open("diary").memory.say("Ben was here.", at="2024-05-02T10:00:00Z")
    finally:
        app_of_ben.rename("diary", "notes")
