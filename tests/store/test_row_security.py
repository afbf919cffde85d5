"""By SQL with the app's own login: nobody reads or writes another user's rows, whatever they set or claim."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from memory_core.errors import MemoryFileError
from memory_core.memory import Memory
from memory_core.store.address import Address
from memory_core.store.copying import COLUMNS
from memory_core.store.postgres import PostgresStore
from memory_core.store.server import connect, key_of, sign_in
from tests.fakes import LetterEmbedder, SpelledExtractor

SECRET = "Zibeline"
Db = psycopg.Connection[Any]


@pytest.fixture(scope="module")
def app(app_login: dict[str, str]) -> Address:
    """The app's login, without any key."""
    return Address.parse(app_login["FORGETTING_LAB_MEMORY"])


@pytest.fixture(scope="module")
def server_key(app_login: dict[str, str]) -> bytes:
    return bytes.fromhex(app_login["FORGETTING_LAB_KEY"].removeprefix("server:"))


def of(app: Address, server_key: bytes, user: str, memory: str = "notes") -> Address:
    """The address of one user's memory, with that user's own key."""
    return replace(app, memory=memory, key=f"user:{key_of(server_key, user).hex()}")


@pytest.fixture(scope="module")
def ben(app: Address, server_key: bytes) -> Iterator[PostgresStore]:
    """Another user's memory, which holds a word that stands nowhere else."""
    store = PostgresStore(of(app, server_key, "ben"), user="ben")
    with Memory(store, LetterEmbedder(), SpelledExtractor(), None) as memory:  # type: ignore[arg-type]
        memory.say(f"Person:{SECRET} -lives_in-> Location:Porto", at="2024-05-01", session=SECRET)
        memory.say(f"Person:{SECRET} {{job=baker}}", at="2024-05-02")
        memory.turn_vectors()
        yield store


@pytest.fixture
def ana(app: Address, server_key: bytes, ben: PostgresStore) -> Iterator[Db]:
    """A connection signed in as somebody else, in a memory of her own, to say any SQL with."""
    with sign_in(of(app, server_key, "ana"), "ana", create=True).db as db:
        yield db


def rows(db: Db, sql: str, *values: object) -> list[tuple[Any, ...]]:
    return db.execute(sql, values).fetchall()


TABLES = [*COLUMNS, "turn_word", "turn_length"]


@pytest.mark.parametrize("table", [*TABLES, "memory"])
def test_no_row_of_another_is_read_changed_removed_or_made(ana: Db, ben: PostgresStore, table: str) -> None:
    before = ben.query(f"SELECT count(*) FROM {table}")[0][0]
    if table not in ("extraction", "question", "pair", "change", "pending_vector", "access"):
        assert before > 0
    for where in ("", f"WHERE tenant = {ben.tenant}", "WHERE tenant <> -1"):
        assert [row for row in rows(ana, f"SELECT tenant FROM {table} {where}") if row[0] == ben.tenant] == []
    assert ana.execute(f"DELETE FROM {table} WHERE tenant = {ben.tenant}").rowcount == 0
    assert ben.query(f"SELECT count(*) FROM {table}")[0][0] == before
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ana.execute(f"TRUNCATE {table}")
    assert all(SECRET not in str(row) for row in rows(ana, f"SELECT * FROM {table}"))


def test_no_row_is_given_to_or_taken_from_another(ana: Db, ben: PostgresStore) -> None:
    ana.execute("INSERT INTO meta (key, value) VALUES ('mine', '1') ON CONFLICT DO NOTHING")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        ana.execute("INSERT INTO meta (tenant, key, value) VALUES ($1, 'planted', '1')", (ben.tenant,))
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        ana.execute("UPDATE meta SET tenant = $1 WHERE key = 'mine'", (ben.tenant,))
    assert ana.execute("UPDATE node SET title = 'x' WHERE tenant = $1", (ben.tenant,)).rowcount == 0
    assert ana.execute("UPDATE memory SET revision = 0 WHERE tenant = $1", (ben.tenant,)).rowcount == 0
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ana.execute("UPDATE memory SET owner = 'ana'")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ana.execute("INSERT INTO memory (owner, name) VALUES ('ben', 'planted')")
    assert ben.meta("planted", "absent") == "absent"


def test_setting_the_session_by_hand_does_not_help(ana: Db, ben: PostgresStore, app: Address) -> None:
    own = rows(ana, "SELECT current_setting('forgetting_lab.session')")[0][0]
    signature, _, who = own.split(":")
    theirs = b"ben".hex()
    for said in (f"{signature}:{ben.tenant}:{who}", f"{signature}:{ben.tenant}:{theirs}", f"{ben.tenant}", "", "::",
                 f":{ben.tenant}:{theirs}", f"{'0' * 64}:{ben.tenant}:{theirs}"):  # fmt: skip
        ana.execute("SELECT set_config('forgetting_lab.session', $1, false)", (said,))
        assert rows(ana, "SELECT forgetting_lab.tenant(), forgetting_lab.owner()") == [(None, None)]
        assert rows(ana, "SELECT * FROM node") == rows(ana, "SELECT * FROM memory") == []
    with ben.lock:
        stolen = ben.query("SELECT current_setting('forgetting_lab.session')")[0][0]
    ana.execute("SELECT set_config('forgetting_lab.session', $1, false)", (stolen,))
    assert rows(ana, "SELECT * FROM node") == rows(ana, "SELECT * FROM turn") == []  # signed for another connection


def test_who_is_not_signed_in_sees_nothing(app: Address, ben: PostgresStore) -> None:
    with connect(app) as db:
        for table in [*TABLES, "memory"]:
            assert rows(db, f"SELECT * FROM forgetting_lab.{table}") == []
        with pytest.raises(psycopg.Error):
            db.execute("SELECT forgetting_lab.enter('notes', true)")


def test_only_the_owners_key_signs_in(app: Address, server_key: bytes, ben: PostgresStore) -> None:
    with connect(app) as db:
        ana_key = key_of(server_key, "ana")
        pid = str(db.info.backend_pid).encode()
        for key, said in ((ana_key, pid), (key_of(server_key, "ben"), b"1"), (b"", pid), (server_key, pid)):
            with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
                db.execute("SELECT forgetting_lab.sign_in('ben', $1)", (hmac.new(key, said, hashlib.sha256).digest(),))
        for nobody in ("'ben', NULL", "NULL, NULL", "'', NULL", "'', ''"):
            with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
                db.execute(f"SELECT forgetting_lab.sign_in({nobody})")
    with pytest.raises(MemoryFileError, match="does not know ben by the key"):
        PostgresStore(of(app, server_key, "ana"), user="ben")
    with pytest.raises(MemoryFileError, match="asks who ben is"):
        PostgresStore(replace(app, key=""), user="ben")


def test_a_name_is_looked_up_among_ones_own(ana: Db, app: Address, server_key: bytes) -> None:
    """Both have a memory called notes; neither is the other's."""
    assert rows(ana, "SELECT owner, name FROM memory") == [("ana", "notes")]
    with pytest.raises(MemoryFileError, match="There is no memory at"):
        PostgresStore(of(app, server_key, "carl"), user="carl", create=False)


@pytest.mark.parametrize("sql", [
    "SELECT * FROM forgetting_lab.secret", "SELECT forgetting_lab.key_of('ben')",
    "SELECT forgetting_lab.signature('', '1:00')",
    "SELECT forgetting_lab.hmac('a', 'b')", "SET ROLE forgetting_lab_owner", "DROP POLICY own ON node",
    "ALTER TABLE node DISABLE ROW LEVEL SECURITY", "ALTER TABLE node NO FORCE ROW LEVEL SECURITY",
    "CREATE TABLE forgetting_lab.mine (a int)", "CREATE FUNCTION forgetting_lab.tenant() RETURNS int RETURN 1",
    "CREATE TRIGGER t BEFORE INSERT ON node FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "ALTER ROLE forgetting_lab_app BYPASSRLS", "UPDATE forgetting_lab.schema SET version = 9",
    "SET SESSION AUTHORIZATION postgres", "SELECT pg_read_file('postgresql.conf')",
])  # fmt: skip
def test_what_would_lead_around_the_policies_is_denied(ana: Db, sql: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ana.execute(sql)


def test_row_security_cannot_be_switched_off(ana: Db) -> None:
    ana.execute("SET row_security = off")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ana.execute("SELECT * FROM node")


_ANALYZED = "SELECT DISTINCT tablename FROM pg_stats WHERE schemaname = 'forgetting_lab'"


def test_neither_statistics_nor_a_function_of_ones_own_see_what_is_hidden(
    ana: Db, ben: PostgresStore, postgres: str
) -> None:
    with connect(Address.parse(postgres)) as admin:
        admin.execute("ANALYZE")
        known = {table for (table,) in rows(admin, _ANALYZED)}
        assert {"node", "turn", "turn_word", "schema"} <= known
    assert rows(ana, _ANALYZED) == [("schema",)]  # the number of the schema's version, which everybody may read
    seen: list[str] = []
    ana.add_notice_handler(lambda notice: seen.append(str(notice.message_primary)))
    ana.execute("CREATE FUNCTION pg_temp.tell(text) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS "
                "$$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$")  # fmt: skip
    ana.execute("SELECT * FROM node WHERE pg_temp.tell(title)")
    ana.execute("SELECT * FROM turn_word WHERE pg_temp.tell(word)")
    assert seen == []


def test_the_apps_role_is_as_weak_as_it_should_be(ana: Db) -> None:
    role = "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin FROM pg_roles WHERE rolname = $1"
    assert rows(ana, role, "forgetting_lab_app") == rows(ana, role, "forgetting_lab_owner") == [(False,) * 5]
    owned = """SELECT relname FROM pg_class WHERE relnamespace = 'forgetting_lab'::regnamespace AND relkind = 'r'
               AND NOT pg_get_userbyid(relowner) = 'forgetting_lab_owner'"""
    assert rows(ana, owned) == []
    bare = """SELECT relname FROM pg_class WHERE relnamespace = 'forgetting_lab'::regnamespace AND relkind IN ('r', 'p')
              AND NOT (relrowsecurity AND relforcerowsecurity) ORDER BY relname"""
    assert rows(ana, bare) == [("schema",), ("secret",)]


def test_what_runs_with_the_owners_rights_calls_nobody_elses_functions(ana: Db) -> None:
    """A schema on the path in which others may make functions would let one of theirs run in place of ours."""
    found = """SELECT proname, proconfig[1] FROM pg_proc
               WHERE pronamespace = 'forgetting_lab'::regnamespace AND prosecdef
               ORDER BY proname"""
    names = ("drop_index", "enter", "index_vectors", "key_of", "owner", "sign_in", "tenant")
    assert rows(ana, found) == [(name, "search_path=pg_catalog, pg_temp") for name in names]
