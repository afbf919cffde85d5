CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE turn (
    position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, source_id TEXT NOT NULL, session TEXT NOT NULL,
    role TEXT NOT NULL, speaker TEXT NOT NULL, text TEXT NOT NULL, at REAL NOT NULL, forgotten_by TEXT);
CREATE INDEX turn_source ON turn (source_id);
CREATE TABLE turn_vector (turn TEXT PRIMARY KEY, vector BLOB NOT NULL);
CREATE VIRTUAL TABLE turn_text USING fts5 (text, content='', tokenize='porter unicode61 remove_diacritics 2');
CREATE TABLE extraction (
    id INTEGER PRIMARY KEY, turn TEXT NOT NULL, at REAL NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,
    report BLOB NOT NULL, raw BLOB NOT NULL, extractor TEXT NOT NULL, model TEXT NOT NULL, prompt_version TEXT NOT NULL,
    seconds REAL NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL);
CREATE INDEX extraction_turn ON extraction (turn);
CREATE TABLE node (
    id TEXT PRIMARY KEY, label TEXT NOT NULL, title TEXT NOT NULL, content TEXT NOT NULL, attributes TEXT NOT NULL,
    created REAL NOT NULL, turns_at_creation INTEGER NOT NULL, pinned INTEGER NOT NULL, forgotten_by TEXT);
CREATE TABLE node_vector (node TEXT PRIMARY KEY, vector BLOB NOT NULL);
CREATE TABLE edge (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL, relationship TEXT NOT NULL,
    attributes TEXT NOT NULL, forgotten_by TEXT);
CREATE TABLE access (id INTEGER PRIMARY KEY, node TEXT NOT NULL, at REAL NOT NULL, turn INTEGER NOT NULL, kind TEXT NOT NULL);
CREATE INDEX access_node ON access (node, at, turn);
CREATE TABLE provenance (
    item TEXT NOT NULL, turn TEXT NOT NULL, start INTEGER, stop INTEGER, PRIMARY KEY (item, turn)) WITHOUT ROWID;
CREATE INDEX provenance_turn ON provenance (turn, item);
CREATE TABLE value_history (
    id INTEGER PRIMARY KEY, item TEXT NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL, turn TEXT NOT NULL, at REAL NOT NULL);
CREATE INDEX value_history_item ON value_history (item);
CREATE TABLE question (id INTEGER PRIMARY KEY, text TEXT NOT NULL, at REAL NOT NULL, vector BLOB NOT NULL);
CREATE TABLE pair (
    id INTEGER PRIMARY KEY, a TEXT NOT NULL, b TEXT NOT NULL, kind TEXT NOT NULL, reason TEXT NOT NULL,
    similarity REAL, state TEXT NOT NULL);
CREATE TABLE change (
    id TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, at REAL NOT NULL, kind TEXT NOT NULL, made_by TEXT NOT NULL,
    state TEXT NOT NULL, summary TEXT NOT NULL, rows BLOB NOT NULL);
CREATE TABLE pending_vector (item TEXT PRIMARY KEY, embedder TEXT NOT NULL, text TEXT NOT NULL, vector BLOB NOT NULL);
