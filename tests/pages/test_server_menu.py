"""A server is opened from the sidebar by its address, and its password is nowhere to be read."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from memory_core.memories import FolderMemories, chosen_place, on_server
from memory_core.memory import Memory
from memory_core.store.address import Address
from tests.pages.conftest import APP, html


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """The administrator's address of a database in which nothing was made yet."""
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute("CREATE DATABASE fresh")
        yield postgres.rpartition("/")[0] + "/fresh"
        db.execute("DROP DATABASE fresh WITH (FORCE)")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FolderMemories]:
    monkeypatch.setenv("FORGETTING_LAB_MEMORIES", str(tmp_path))
    for name in ("FORGETTING_LAB_MEMORY", "FORGETTING_LAB_KEY", "FORGETTING_LAB_USER"):
        monkeypatch.delenv(name, raising=False)
    place = FolderMemories(tmp_path)
    place.create("here").memory.say("I bake rye bread.", at="2024-05-01T10:00:00Z")
    yield place
    place.close()


def field(app: AppTest, label: str) -> Any:
    return next(one for one in app.sidebar.text_input if one.label == label)


def opened(app: AppTest, address: str, password: str = "", key: str = "") -> AppTest:
    for label, value in (("Address", address), ("Password", password), ("Key", key)):
        inside = [one for one in app.sidebar.text_input if one.label == label and one.proto.form_id == "typed-server"]
        inside[0].set_value(value)
    return next(button for button in app.sidebar.button if button.label == "Open").click().run()


def offered(app: AppTest) -> list[str]:
    return list(app.sidebar.selectbox[0].options)


def written(app: AppTest) -> str:
    """All that stands on the page, in its address and in what its widgets hold."""
    assert not app.exception
    return "\n".join([repr(element.proto) for element in [*app.main, *app.sidebar]] + [repr(dict(app.query_params))])


def test_what_is_needed_is_made_at_first_use_and_the_password_is_nowhere(
    folder: FolderMemories, database: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    address = Address.parse(database)
    on_server(address).create("there").memory.say("I keep bees.", at="2024-05-01T10:00:00Z")
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    assert offered(app) == ["here"]
    app = opened(app, database.replace(f":{address.password}", ""), address.password)
    assert not app.error, app.error[0].value
    assert offered(app) == ["there"]
    assert "I keep bees." in html(app)
    assert any(address.host in caption.value.replace("\\", "") for caption in app.sidebar.caption)
    app.chat_input[0].set_value("My cousin Ilse plays the cello.").run()
    assert "<b>2</b> turns" in html(app)
    assert address.password not in written(app) + caplog.text
    app.sidebar.button(key="leave-server").click().run()
    assert offered(app) == ["here"]
    on_server(address).close()


def test_an_empty_server_gets_the_demo_as_a_folder_does(
    folder: FolderMemories, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGETTING_LAB_MEMORIES", database)
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    assert not app.error, app.error[0].value
    assert offered(app) == ["demo"]
    chosen_place().close()


@pytest.mark.parametrize(
    ("address", "password", "says"),
    [
        ("postgresql://postgres@127.0.0.1:1/none", "s3cret", "is not there"),
        ("postgresql://postgres:s3cret@127.0.0.1:nine/none", "", "cannot be read"),
        ("s3cret", "", "cannot be read"),
        ("", "", "cannot be read"),
    ],
)
def test_an_address_that_does_not_work_is_told_and_the_memories_stay(
    folder: FolderMemories, address: str, password: str, says: str
) -> None:
    app = opened(AppTest.from_file(str(APP), default_timeout=60).run(), address, password)
    assert says in app.error[0].value.replace("\\", "")
    assert offered(app) == ["here"]
    assert "s3cret" not in written(app)


def test_a_wrong_password_is_told(folder: FolderMemories, database: str) -> None:
    app = opened(AppTest.from_file(str(APP), default_timeout=60).run(), database, "wr0ng")
    assert "refused user postgres" in app.error[0].value.replace("\\", "")
    assert "wr0ng" not in written(app)


def test_the_key_of_the_environment_goes_to_no_server_that_was_typed(
    folder: FolderMemories, app_login: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGETTING_LAB_KEY", app_login["FORGETTING_LAB_KEY"])
    address = app_login["FORGETTING_LAB_MEMORY"]
    app = opened(AppTest.from_file(str(APP), default_timeout=60).run(), address)
    assert "asks who local is" in app.error[0].value.replace("\\", "")
    app = opened(app, address, key=app_login["FORGETTING_LAB_KEY"])
    assert any("127.0.0.1" in caption.value.replace("\\", "") for caption in app.sidebar.caption)
    on_server(Address.given(address)).close()


def test_a_server_that_went_away_is_told_and_can_be_left(folder: FolderMemories, database: str, postgres: str) -> None:
    app = opened(AppTest.from_file(str(APP), default_timeout=60).run(), database)
    assert not app.error
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute("ALTER DATABASE fresh ALLOW_CONNECTIONS false")
        db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'fresh'")
    app.run()
    assert app.error
    app.sidebar.button(key="leave-server").click().run()
    assert offered(app) == ["here"]
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute("ALTER DATABASE fresh ALLOW_CONNECTIONS true")
    on_server(Address.parse(database)).close()


def test_what_another_process_writes_appears_in_the_next_run(
    folder: FolderMemories, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGETTING_LAB_MEMORIES", database)
    chosen_place().create("shared").memory.say("I keep bees.", at="2024-05-01T10:00:00Z")
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    assert "<b>1</b> turns" in html(app)
    with Memory.open(f"{database}?memory=shared", create=False) as other:
        other.say("My cousin Ilse plays the cello.", at="2024-05-02T10:00:00Z")
    app.run()
    assert "<b>2</b> turns" in html(app)
    assert "My cousin Ilse plays the cello." in html(app)
    chosen_place().close()
