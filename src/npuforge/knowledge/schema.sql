-- SPDX-License-Identifier: Apache-2.0
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE entries (
    number INTEGER PRIMARY KEY,          -- the row of `words` and `vectors`
    id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    state TEXT NOT NULL,
    text TEXT NOT NULL,
    scope TEXT NOT NULL,                 -- where it may be served, as JSON: read without the text
    terms INTEGER NOT NULL               -- how many it has in `words`
);
CREATE INDEX entries_by_state ON entries (state);

-- One row for each entry that a change touches; rows of one batch are undone together.
CREATE TABLE changes (
    number INTEGER PRIMARY KEY,
    batch INTEGER NOT NULL,
    at TEXT NOT NULL,
    action TEXT NOT NULL,
    why TEXT NOT NULL,
    entry TEXT NOT NULL,
    before_state TEXT, before_text TEXT, -- null: there was no such entry
    after_state TEXT, after_text TEXT,   -- null: there is none any more
    undoes INTEGER                       -- the batch that this one takes back
);
CREATE INDEX changes_by_batch ON changes (batch);
CREATE INDEX changes_by_entry ON changes (entry);

CREATE TABLE uses (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    entry TEXT NOT NULL,
    task TEXT NOT NULL,
    effect TEXT NOT NULL,
    use TEXT NOT NULL                    -- the whole of it as JSON
);
CREATE INDEX uses_by_entry ON uses (entry);

CREATE TABLE vectors (
    number INTEGER PRIMARY KEY,
    embedder TEXT NOT NULL,
    vector BLOB NOT NULL                 -- float16, little end first
);

-- Terms are made by `terms.indexed`; the tokenizer has only to leave them whole.
CREATE VIRTUAL TABLE words USING fts5(
    head, code, content = '', columnsize = 0, detail = column, tokenize = "unicode61 tokenchars '_'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, 'row');
