-- A memory server: every memory of every user in one schema, each row under its memory's number (`tenant`).
-- Made once a database, in one transaction, by who may make roles and extensions.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'forgetting_lab_owner') THEN
        CREATE ROLE forgetting_lab_owner NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'forgetting_lab_app') THEN
        CREATE ROLE forgetting_lab_app NOLOGIN;
    END IF;
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        EXECUTE format('GRANT forgetting_lab_owner, forgetting_lab_app TO %I', current_user);
    END IF;
END $$;
CREATE EXTENSION IF NOT EXISTS vector;
SELECT set_config('search_path', format('%I, pg_temp', extnamespace::regnamespace), true) FROM pg_extension
    WHERE extname = 'vector';
CREATE SCHEMA forgetting_lab AUTHORIZATION forgetting_lab_owner;
SET LOCAL ROLE forgetting_lab_owner;

CREATE TABLE forgetting_lab.schema (version integer NOT NULL);
CREATE TABLE forgetting_lab.secret (key bytea NOT NULL);  -- read by this schema's functions alone
INSERT INTO forgetting_lab.secret SELECT sha256(string_agg(uuid_send(gen_random_uuid()), '')) FROM generate_series(1, 4);

-- Who is signed in ------------------------------------------------------------------------------------------------
-- The session's setting holds `signature:tenant:owner`. Anyone may write a setting; only sign_in and enter can sign.

CREATE FUNCTION forgetting_lab.hmac(key bytea, message bytea) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    inside bytea := decode(repeat('36', 64), 'hex');
    outside bytea := decode(repeat('5c', 64), 'hex');
BEGIN  -- RFC 2104 for keys of at most one block
    FOR place IN 0 .. length(key) - 1 LOOP
        inside := set_byte(inside, place, get_byte(key, place) # 54);
        outside := set_byte(outside, place, get_byte(key, place) # 92);
    END LOOP;
    RETURN sha256(outside || sha256(inside || message));
END $$;

CREATE FUNCTION forgetting_lab.key_of(owner text) RETURNS bytea
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT forgetting_lab.hmac(key, convert_to('owner:' || owner, 'UTF8')) FROM forgetting_lab.secret
$$;

-- A copied setting is worth nothing in another connection.
CREATE FUNCTION forgetting_lab.signature(key bytea, said text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT encode(sha256(key || sha256(key || convert_to(concat_ws(':', 'session', pg_backend_pid(),
        pg_postmaster_start_time(), inet_client_addr(), inet_client_port(), said), 'UTF8'))), 'hex')
$$;

-- The memory entered, null where none is; asked once a statement by the policies. Here and below hashes are compared:
-- how long that takes tells nothing of what would be right.
CREATE FUNCTION forgetting_lab.tenant() RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said text[] := string_to_array(current_setting('forgetting_lab.session', true), ':');
BEGIN
    IF (SELECT sha256(convert_to(said[1], 'UTF8')) =
               sha256(convert_to(forgetting_lab.signature(key, said[2] || ':' || said[3]), 'UTF8'))
        FROM forgetting_lab.secret) THEN
        RETURN nullif(said[2], '')::bigint;
    END IF;
    RETURN NULL;
END $$;

-- The user signed in, null where none is.
CREATE FUNCTION forgetting_lab.owner() RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said text[] := string_to_array(current_setting('forgetting_lab.session', true), ':');
BEGIN
    IF (SELECT sha256(convert_to(said[1], 'UTF8')) =
               sha256(convert_to(forgetting_lab.signature(key, said[2] || ':' || said[3]), 'UTF8'))
        FROM forgetting_lab.secret) THEN
        RETURN convert_from(decode(said[3], 'hex'), 'UTF8');
    END IF;
    RETURN NULL;
END $$;

-- `token` is HMAC-SHA256 of the connection's process number with the owner's key, so that it is of use nowhere else.
CREATE FUNCTION forgetting_lab.sign_in(owner text, token bytea) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said text := ':' || encode(convert_to(owner, 'UTF8'), 'hex');
BEGIN
    PERFORM set_config('forgetting_lab.session', '', false);
    IF owner IS NULL OR owner = '' OR token IS NULL OR sha256(token) IS DISTINCT FROM
       sha256(forgetting_lab.hmac(forgetting_lab.key_of(owner), convert_to(pg_backend_pid()::text, 'UTF8'))) THEN
        RAISE invalid_authorization_specification USING MESSAGE = 'the key is not this user''s';
    END IF;
    PERFORM set_config('forgetting_lab.session', forgetting_lab.signature(key, said) || ':' || said, false)
        FROM forgetting_lab.secret;
END $$;

CREATE TABLE forgetting_lab.memory (
    tenant bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner text COLLATE "C" NOT NULL DEFAULT forgetting_lab.owner(),
    name text COLLATE "C" NOT NULL,
    revision bigint NOT NULL DEFAULT 0,
    whole bigint NOT NULL DEFAULT 0,  -- the last revision that took rows away: who is older loads all
    channel text NOT NULL DEFAULT 'forgetting_lab_' || replace(gen_random_uuid()::text, '-', ''),
    UNIQUE (owner, name));

-- Go on with one of one's own memories; its number, null when there is none of that name.
CREATE FUNCTION forgetting_lab.enter(wanted text, make boolean) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    who text := forgetting_lab.owner();
    found bigint;
    said text;
BEGIN
    IF make THEN
        INSERT INTO forgetting_lab.memory (owner, name) VALUES (who, wanted) ON CONFLICT (owner, name) DO NOTHING;
    END IF;
    SELECT tenant INTO found FROM forgetting_lab.memory WHERE owner = who AND name = wanted;
    IF found IS NOT NULL THEN
        said := found || ':' || encode(convert_to(who, 'UTF8'), 'hex');
        PERFORM set_config('forgetting_lab.session', forgetting_lab.signature(key, said) || ':' || said, false)
            FROM forgetting_lab.secret;
    END IF;
    RETURN found;
END $$;

-- What a memory holds: the tables of `tables.sql`. `rowid` keeps the order of insertion, `revision` the commit that
-- last wrote a row, so that another process fetches what is newer than its own.

CREATE TABLE forgetting_lab.meta (
    tenant bigint, key text COLLATE "C", value text COLLATE "C" NOT NULL, PRIMARY KEY (tenant, key));
CREATE TABLE forgetting_lab.turn (
    tenant bigint, position bigint, id text COLLATE "C" NOT NULL, source_id text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL, role text COLLATE "C" NOT NULL, speaker text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL, at float8 NOT NULL, forgotten_by text COLLATE "C", revision bigint NOT NULL,
    PRIMARY KEY (tenant, id), UNIQUE (tenant, position));
CREATE INDEX ON forgetting_lab.turn (tenant, source_id);
CREATE INDEX ON forgetting_lab.turn (tenant, speaker);
CREATE INDEX ON forgetting_lab.turn (tenant, revision);
CREATE TABLE forgetting_lab.turn_vector (
    tenant bigint, turn text COLLATE "C", vector bytea STORAGE EXTERNAL NOT NULL, half halfvec,
    PRIMARY KEY (tenant, turn)) WITH (toast_tuple_target = 8160);
CREATE TABLE forgetting_lab.turn_word (  -- the words of the live turns, as SQLite's full-text index has them
    tenant bigint, word text COLLATE "C", position bigint, times integer NOT NULL,
    PRIMARY KEY (tenant, word, position) INCLUDE (times));
CREATE INDEX ON forgetting_lab.turn_word (tenant, position);
CREATE TABLE forgetting_lab.turn_length (
    tenant bigint, position bigint, words integer NOT NULL, PRIMARY KEY (tenant, position) INCLUDE (words));
CREATE TABLE forgetting_lab.extraction (
    tenant bigint, id bigint, turn text COLLATE "C" NOT NULL, at float8 NOT NULL, status text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL, report bytea NOT NULL, raw bytea NOT NULL, extractor text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL, prompt_version text COLLATE "C" NOT NULL, seconds float8 NOT NULL,
    tokens_in integer NOT NULL, tokens_out integer NOT NULL, PRIMARY KEY (tenant, id));
CREATE INDEX ON forgetting_lab.extraction (tenant, turn);
CREATE TABLE forgetting_lab.node (
    tenant bigint, id text COLLATE "C", label text COLLATE "C" NOT NULL, title text COLLATE "C" NOT NULL,
    content text COLLATE "C" NOT NULL, attributes text COLLATE "C" NOT NULL, created float8 NOT NULL,
    turns_at_creation bigint NOT NULL, pinned integer NOT NULL, forgotten_by text COLLATE "C",
    revision bigint NOT NULL, rowid bigint GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (tenant, id));
CREATE INDEX ON forgetting_lab.node (tenant, revision);
CREATE TABLE forgetting_lab.node_vector (  -- `half` is `vector` as pgvector reads it
    tenant bigint, node text COLLATE "C", vector bytea STORAGE EXTERNAL NOT NULL, half halfvec,
    revision bigint NOT NULL, PRIMARY KEY (tenant, node)) WITH (toast_tuple_target = 8160);
CREATE INDEX ON forgetting_lab.node_vector (tenant, revision);
CREATE TABLE forgetting_lab.edge (
    tenant bigint, id text COLLATE "C", source text COLLATE "C" NOT NULL, target text COLLATE "C" NOT NULL,
    relationship text COLLATE "C" NOT NULL, attributes text COLLATE "C" NOT NULL, forgotten_by text COLLATE "C",
    revision bigint NOT NULL, rowid bigint GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (tenant, id));
CREATE INDEX ON forgetting_lab.edge (tenant, source, rowid);  -- a walk takes the oldest edges of a hub without the rest
CREATE INDEX ON forgetting_lab.edge (tenant, target, rowid);
CREATE INDEX ON forgetting_lab.edge (tenant, revision);
CREATE TABLE forgetting_lab.access (
    tenant bigint, id bigint, node text COLLATE "C" NOT NULL, at float8 NOT NULL, turn bigint NOT NULL,
    kind text COLLATE "C" NOT NULL, revision bigint NOT NULL, PRIMARY KEY (tenant, id));
CREATE INDEX ON forgetting_lab.access (tenant, node, at, turn);
CREATE INDEX ON forgetting_lab.access (tenant, revision);
CREATE TABLE forgetting_lab.provenance (
    tenant bigint, item text COLLATE "C", turn text COLLATE "C", start bigint, stop bigint,
    PRIMARY KEY (tenant, item, turn));
CREATE INDEX ON forgetting_lab.provenance (tenant, turn, item);
CREATE TABLE forgetting_lab.value_history (
    tenant bigint, id bigint, item text COLLATE "C" NOT NULL, field text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL, turn text COLLATE "C" NOT NULL, at float8 NOT NULL, PRIMARY KEY (tenant, id));
CREATE INDEX ON forgetting_lab.value_history (tenant, item);
CREATE INDEX ON forgetting_lab.value_history (tenant, turn);
CREATE TABLE forgetting_lab.question (
    tenant bigint, id bigint, text text COLLATE "C" NOT NULL, at float8 NOT NULL, vector bytea NOT NULL,
    PRIMARY KEY (tenant, id));
CREATE TABLE forgetting_lab.pair (
    tenant bigint, id bigint, a text COLLATE "C" NOT NULL, b text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL, similarity float8, state text COLLATE "C" NOT NULL, PRIMARY KEY (tenant, id));
CREATE TABLE forgetting_lab.change (
    tenant bigint, id text COLLATE "C", number bigint NOT NULL, at float8 NOT NULL, kind text COLLATE "C" NOT NULL,
    made_by text COLLATE "C" NOT NULL, state text COLLATE "C" NOT NULL, summary text COLLATE "C" NOT NULL,
    rows bytea NOT NULL, PRIMARY KEY (tenant, id), UNIQUE (tenant, number));
CREATE TABLE forgetting_lab.pending_vector (
    tenant bigint, item text COLLATE "C", embedder text COLLATE "C" NOT NULL, text text COLLATE "C" NOT NULL,
    vector bytea NOT NULL, PRIMARY KEY (tenant, item));

-- Who may see what ------------------------------------------------------------------------------------------------

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA forgetting_lab FROM PUBLIC;
GRANT USAGE ON SCHEMA forgetting_lab TO forgetting_lab_app;
GRANT SELECT ON forgetting_lab.schema TO forgetting_lab_app;
GRANT EXECUTE ON FUNCTION forgetting_lab.tenant(), forgetting_lab.owner(), forgetting_lab.sign_in(text, bytea),
    forgetting_lab.enter(text, boolean) TO forgetting_lab_app;
GRANT SELECT, DELETE, INSERT (name), UPDATE (name, revision, whole) ON forgetting_lab.memory TO forgetting_lab_app;
ALTER TABLE forgetting_lab.memory ENABLE ROW LEVEL SECURITY;
ALTER TABLE forgetting_lab.memory FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON forgetting_lab.memory USING (owner = (SELECT forgetting_lab.owner()));
DO $$
DECLARE
    place regclass;
BEGIN
    FOR place IN SELECT attrelid FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = 'forgetting_lab'::regnamespace AND relkind = 'r' AND attname = 'tenant' AND relname <> 'memory'
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER tenant SET DEFAULT forgetting_lab.tenant()', place);
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', place);
        EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', place);
        EXECUTE format('CREATE POLICY own ON %s USING (tenant = (SELECT forgetting_lab.tenant()))', place);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO forgetting_lab_app', place);
    END LOOP;
END $$;

-- Search by vector ------------------------------------------------------------------------------------------------

-- An HNSW index over the signed-in memory's node vectors alone, so that no other memory's rows crowd out its own and
-- that small memories, which are searched exactly, pay nothing for it; of one dimension, so that another embedder's
-- vectors may follow. False when it is there already. Other writers of vectors wait meanwhile. The extension is named
-- by its schema, which others may write: on the path, a function of theirs would run as the owner of the tables.
CREATE FUNCTION forgetting_lab.index_vectors(dim integer) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    mine bigint := forgetting_lab.tenant();
    name text := format('node_vector_half_%s_%s', mine, dim);
    place regnamespace := (SELECT extnamespace FROM pg_extension WHERE extname = 'vector');
BEGIN
    IF mine IS NULL OR to_regclass('forgetting_lab.' || name) IS NOT NULL THEN
        RETURN false;
    END IF;
    EXECUTE format('CREATE INDEX %1$I ON forgetting_lab.node_vector USING hnsw '
                   '((half::%2$s.halfvec(%3$s)) %2$s.halfvec_cosine_ops) '
                   'WHERE tenant = %4$s AND %2$s.vector_dims(half) = %3$s', name, place, dim, mine);
    RETURN true;
END $$;

-- Takes the indexes of a memory away that was removed; not while others are at the table, who would all wait.
CREATE FUNCTION forgetting_lab.drop_index() RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
    mine text := format('^node_vector_half_%s_\d+$', forgetting_lab.tenant());
    place regclass;
BEGIN
    FOR place IN SELECT oid FROM pg_class WHERE relnamespace = 'forgetting_lab'::regnamespace AND relname ~ mine LOOP
        EXECUTE format('DROP INDEX %s', place);
    END LOOP;
END $$;
REVOKE ALL ON FUNCTION forgetting_lab.index_vectors(integer), forgetting_lab.drop_index() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forgetting_lab.index_vectors(integer), forgetting_lab.drop_index() TO forgetting_lab_app;
INSERT INTO forgetting_lab.schema VALUES (1);
RESET ROLE;
