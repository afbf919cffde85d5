"""What can be wrong with a server is told in one line that names it and the fix, and never holds a password."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory_core.errors import ForgettingLabError, InputError, MemoryFileError
from memory_core.memory import Memory
from memory_core.store import server
from memory_core.store.address import Address
from memory_core.store.faults import told
from memory_core.store.opening import open_store
from memory_core.store.postgres import PostgresStore
from memory_core.store.rows import insert
from tests.fakes import LetterEmbedder, SpelledExtractor

PASSWORD = "s3cret-pässword/%"


def refused(act: Callable[[], object], *words: str) -> str:
    """The one line that the act ends in."""
    with pytest.raises(ForgettingLabError) as error:
        act()
    text = str(error.value)
    assert "\n" not in text
    for word in words:
        assert word in text
    whole = "".join(traceback.format_exception(error.value))
    assert PASSWORD not in whole
    assert "p%C3%A4ssword" not in whole
    return text


def admin_says(address: Address, *statements: str) -> None:
    with server.connect(address) as db:
        for statement in statements:
            db.execute(statement)


# -- addresses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [
    f"postgresql://ann:{PASSWORD}@lab:notaport/db", f"postgresql://ann:{PASSWORD}@lab/db#part", "postgresql://[::1/db",
    f"postgresql://ann@lab/db?password={PASSWORD}&memory=../x", f"postgresql://lab/db?{PASSWORD}",
])  # fmt: skip
def test_an_address_that_cannot_be_read_is_not_repeated(text: str) -> None:
    with pytest.raises(InputError) as error:
        open_store(text)
    assert PASSWORD not in "".join(traceback.format_exception(error.value))
    assert "s3cret" not in str(error.value)


def test_a_password_is_in_nothing_that_is_shown() -> None:
    for text in (
        f"postgresql://ann:{'s3cret'}@lab:5433/db?memory=trip",
        "postgresql://ann@lab/db?password=s3cret&sslpassword=s3cret",
    ):
        address = Address.parse(text)
        assert "s3cret" not in f"{address!r} {address} {address.place} {address.server}"
    assert Address.parse("postgresql://ann:a%2Fb%25@lab:5433/db").parameters() == {
        "user": "ann", "password": "a/b%", "host": "lab", "port": "5433", "dbname": "db",
    }  # fmt: skip


# -- servers -----------------------------------------------------------------------------------------------------------


def test_a_wrong_password_or_a_name_or_place_nobody_knows(postgres: str) -> None:
    right = Address.parse(postgres)
    refused(lambda: PostgresStore(replace(right, password=PASSWORD)), right.server, "refused user postgres", "password")
    refused(lambda: PostgresStore(replace(right, user="nobody", password=PASSWORD)), "refused user nobody")
    refused(lambda: PostgresStore(replace(right, database="nowhere")), "no database nowhere")
    refused(lambda: PostgresStore(replace(right, port="1")), "127.0.0.1:1 is not there", "start it")
    refused(lambda: PostgresStore(replace(right, host="no.such.host.invalid")), "name that is not known")


def test_a_server_too_old_or_without_pgvector(database: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as old:
        old.setattr(server, "_OLDEST", 990000)
        refused(lambda: PostgresStore(database), "too old", "update it to 99")
    with monkeypatch.context() as old:
        old.setattr(server, "_PGVECTOR", (9, 0))
        refused(lambda: PostgresStore(database), "has pgvector 0.", "9.0 or newer")
    with monkeypatch.context() as without:
        without.setattr(server, "_EXTENSION", "no_such_extension")
        refused(lambda: PostgresStore(database), "has no pgvector", "install 0.8")
    assert PostgresStore(database).revision() == 0


def test_tables_of_another_version(database: Address) -> None:
    PostgresStore(database).close()
    admin_says(database, "UPDATE forgetting_lab.schema SET version = 9")
    refused(lambda: PostgresStore(database), "holds memories of schema 9", "update the app")
    admin_says(database, "UPDATE forgetting_lab.schema SET version = 0")
    refused(lambda: PostgresStore(database), "holds memories of schema 0", "update the server")


def test_who_may_not_make_tables_is_told_to_ask_an_administrator(database: Address) -> None:
    admin_says(database, "DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN PASSWORD 'guest'")
    guest = replace(database, user="guest", password="guest")
    refused(lambda: PostgresStore(guest), "does not let guest make the tables", "administrator")
    PostgresStore(database).close()
    refused(lambda: PostgresStore(guest), "guest", "grant")
    admin_says(database, "DROP ROLE guest")


def test_two_that_make_the_tables_at_once_share_them(database: Address) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: PostgresStore(database), range(4)))
    assert len({store.tenant for store in stores}) == 1
    for store in stores:
        store.close()


def test_a_full_disk_leaves_the_memory_as_it_was_before_the_turn(database: Address) -> None:
    with Memory(PostgresStore(database), LetterEmbedder(), SpelledExtractor(), None) as memory:  # type: ignore[arg-type]
        memory.say("Person:Mira", at="2024-01-01")
        admin_says(
            database,
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING "
            "ERRCODE = '53100', MESSAGE = 'could not extend file: No space left on device'; END $$",
            "GRANT EXECUTE ON FUNCTION full_disk() TO PUBLIC",
            "CREATE TRIGGER full_disk AFTER INSERT ON forgetting_lab.node EXECUTE FUNCTION full_disk()",
        )
        refused(lambda: memory.say("Person:Tom", at="2024-01-02"), "has no disk space left", "free some")
        assert [memory.stats()[part] for part in ("turns", "nodes", "revision")] == [1, 1, 1]
        admin_says(database, "DROP TRIGGER full_disk ON forgetting_lab.node")
        assert memory.say("Person:Tom", at="2024-01-02").added[0].id == "n2"


def test_a_server_that_only_reads_can_be_asked_and_says_why_it_cannot_be_written(database: Address) -> None:
    parts: tuple[Any, Any, Any] = (LetterEmbedder(), SpelledExtractor(), None)
    with Memory(PostgresStore(database), *parts) as memory:
        memory.say("Person:Mira -lives_in-> Location:Porto", at="2024-01-01")
        plan = memory.bytes_live()
    admin_says(database, f'ALTER DATABASE "{database.database}" SET default_transaction_read_only = on')
    with Memory(PostgresStore(database), *parts) as memory:
        assert memory.store.read_only
        assert memory.retrieve("Where is Mira?").roots
        assert memory.bytes_live() == plan
        refused(lambda: memory.say("Person:Tom", at="2024-01-02"), "read-only")
        assert memory.stats()["turns"] == 1


def test_a_memory_removed_under_ones_hands_is_named(database: Address) -> None:
    store = PostgresStore(database)
    admin_says(database, "DELETE FROM forgetting_lab.memory")
    refused(store.revision, "was removed meanwhile")
    refused(lambda: store.commit([insert("meta", key="k", value="v")], 0), "was removed meanwhile")


def test_a_key_that_is_none(postgres: str) -> None:
    for key in ("user:12", "server:xyz", "abc"):
        refused(lambda key=key: PostgresStore(replace(Address.parse(postgres), key=key)), "is no key")  # type: ignore[misc]


def test_no_time_is_asked_of_the_server() -> None:
    """A server's clock may stand anywhere: the memory clock is the greatest `at` of the turns."""
    sources = [
        path.read_text("utf-8") for path in Path(server.__file__).parent.iterdir() if path.suffix in (".py", ".sql")
    ]
    clocks = (
        r"\bnow\(|current_timestamp|current_date|clock_timestamp|statement_timestamp|localtime|transaction_timestamp"
    )
    assert [text for text in sources if re.search(clocks, text, re.IGNORECASE)] == []


@pytest.mark.parametrize(("state", "words"), [
    ("28P01", "refused user ann"), ("53100", "no disk space"), ("53300", "too many connections"),
    ("25006", "read-only"),
    ("55P03", "locked"), ("40P01", "try again"), ("57P01", "closed the connection"), ("57P03", "starting or shutting"),
    ("08006", "closed the connection"), ("42501", "forgetting_lab_app"), ("XX000", "says: "), ("54000", "too long"),
])  # fmt: skip
def test_each_state_of_the_server_has_its_line(state: str, words: str) -> None:
    error = psycopg.errors.lookup(state)("something\nLINE 1")
    line = told(error, Address.parse(f"postgresql://ann:{'pw'}@lab:5433/db"))
    assert line.startswith("The server at lab:5433 ")
    assert words in line
    assert "\n" not in line


def test_without_the_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.delitem(sys.modules, "memory_core.store.postgres")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MemoryFileError, match=r"pip install -r requirements-server\.txt"):
        open_store("postgresql://lab/db")
