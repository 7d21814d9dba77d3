"""The tables of the SQLite store."""

VERSION = 1

TABLES = """
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  repo_key TEXT NOT NULL,
  root TEXT NOT NULL,
  started_at TEXT NOT NULL,
  task TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'running',
  reason TEXT NOT NULL DEFAULT '',
  generation INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_by_repo ON sessions (repo_key, started_at);

CREATE TABLE events (
  session TEXT NOT NULL REFERENCES sessions (id),
  seq INTEGER NOT NULL,
  node TEXT NOT NULL,
  generation INTEGER NOT NULL,
  type TEXT NOT NULL,
  version INTEGER NOT NULL,
  step INTEGER NOT NULL,
  at TEXT NOT NULL,
  body TEXT NOT NULL,
  prev_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
  subject TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  token TEXT NOT NULL,
  since TEXT NOT NULL,
  expires REAL NOT NULL
) STRICT;

CREATE TABLE trust (
  repo_key TEXT NOT NULL,
  subject TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (repo_key, subject, content_hash)
) STRICT;
"""
