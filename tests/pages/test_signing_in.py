"""Where people sign in, each sees their own memories and nothing of the machine; where nobody does, all stays."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from memory_core.memories import FolderMemories
from tests.pages.conftest import APP, PAGES, html

ANN = {"is_logged_in": True, "iss": "https://id.example", "sub": "ann", "email": "ann@example.org"}
BEN = {"is_logged_in": True, "iss": "https://id.example", "sub": "ben", "email": "ben@example.org"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which Ann has a memory `mine`, Ben one named `other`, and somebody left one for everybody."""
    monkeypatch.setenv("FORGETTING_LAB_MEMORIES", str(tmp_path))
    places = [FolderMemories.default(user) for user in ("https://id.example ann", "https://id.example ben", "")]
    for place, name, said in zip(places, ("mine", "other", "shared"), ("rye", "tea", "jam"), strict=True):
        place.create(name).memory.say(f"I love {said}.", at=datetime(2024, 5, 1, tzinfo=UTC))
    yield tmp_path
    for folder in (tmp_path, *tmp_path.glob("user-*")):
        FolderMemories(folder).close()


def seen_by(user: dict[str, Any], memory: str = "", page: str = "chat", **address: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.user = user
    if memory:
        app.query_params["memory"] = memory
    app.run()
    for name, value in address.items():
        app.query_params[name] = value
    return app.switch_page(str(PAGES / f"{page}.py")).run() if page != "chat" else app


def offered(app: AppTest) -> list[str]:
    return list(app.sidebar.selectbox[0].options)


def test_nobody_sees_anything_before_signing_in(folder: Path) -> None:
    app = seen_by({"is_logged_in": False}, "mine")
    assert [button.label for button in app.button] == ["Sign in"]
    assert "rye" not in html(app)
    assert not app.sidebar.selectbox


@pytest.mark.parametrize("claims", [{"iss": "https://id.example"}, {"sub": "ann"}, {"iss": "", "sub": "ann"}])
def test_a_sign_in_that_does_not_say_who_it_is_lets_nobody_in(folder: Path, claims: dict[str, str]) -> None:
    app = seen_by({"is_logged_in": True, **claims}, "mine")
    assert "did not say who you are" in app.error[0].value
    assert not app.sidebar.selectbox


def test_each_sees_their_own_memories(folder: Path) -> None:
    assert [offered(seen_by(user)) for user in (ANN, BEN)] == [["mine"], ["other"]]
    assert "I love rye." in html(seen_by(ANN))


@pytest.mark.parametrize("issuer", ["https://other.example", "https://id.example "])
def test_the_same_subject_of_another_issuer_is_somebody_else(folder: Path, issuer: str) -> None:
    assert offered(seen_by(ANN | {"iss": issuer})) == ["demo"]


@pytest.mark.parametrize("page", ["chat", "extraction", "retrieval", "forgetting", "results"])
def test_a_link_to_anothers_memory_opens_nothing_of_it(folder: Path, page: str) -> None:
    app = seen_by(BEN, "mine", page)
    assert "rye" not in html(app)
    assert offered(app) == ["other"]
    first = seen_by(BEN, "mine")
    assert "There is no memory" in first.warning[0].value


def test_a_name_put_into_the_session_opens_nothing_of_anothers(folder: Path) -> None:
    app = seen_by(BEN)
    app.session_state["memory_name"] = "mine"
    app.run()
    assert "rye" not in html(app)
    assert "There is no memory" in app.warning[0].value


def test_the_account_on_the_page_is_the_one_that_commands_take(folder: Path) -> None:
    app = seen_by(ANN)
    assert any("FORGETTING_LAB_USER='https://id.example ann'" in code.value for code in app.sidebar.code)
    assert any("ann@example" in caption.value.replace("\\", "") for caption in app.sidebar.caption)


@pytest.mark.parametrize(("page", "address"), [("retrieval", {"file": "data/demo.jsonl"})])
def test_files_of_the_machine_are_not_read_for_those_who_sign_in(
    folder: Path, page: str, address: dict[str, str]
) -> None:
    app = seen_by(ANN, "mine", page, **address)
    assert any("not read where people sign in" in error.value for error in app.error)


def test_secrets_that_cannot_be_read_let_nobody_in(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import streamlit as st

    broken = tmp_path / "secrets.toml"
    broken.write_text("[auth\nclient_secret = 'x'")
    monkeypatch.setattr(st.secrets, "load_if_toml_exists", lambda: False)
    st.config.set_option("secrets.files", [str(broken)])
    try:
        app = seen_by({})
    finally:
        st.config.set_option("secrets.files", [])
    assert "mend that file" in app.error[0].value
    assert not app.sidebar.selectbox


def test_without_sign_in_the_folder_is_everybodys(folder: Path) -> None:
    assert offered(seen_by({})) == ["shared"]
