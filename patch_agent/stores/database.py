"""Opening the database file: private, WAL, fully synced, of a schema this Patch knows."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from patch_agent.core.errors import StoreError
from patch_agent.stores import schema
from patch_agent.stores.private_files import make_file, make_folder

BUSY_S = 10.0
DAMAGE = (sqlite3.Error, UnicodeDecodeError)
"""What `sqlite3` raises; the names of a damaged file may be no text at all."""


def open_database(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode. Raises StoreError, with the path, when it cannot be used."""
    try:
        make_folder(path.parent)
        make_file(path)
        connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    except (OSError, *DAMAGE) as error:
        raise StoreError(f"cannot open the log {path}: {error}") from None
    try:
        _write_ahead(connection)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        _migrate(connection, path)
    except DAMAGE as error:
        connection.close()
        raise StoreError(f"cannot use the log {path}: {error}") from None
    except StoreError:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    # SQLite does not wait for its busy timeout here, so two first runs at once would meet an error.
    last = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > last:
                raise
        time.sleep(0.01)


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > schema.VERSION:
        raise StoreError(
            f"the log {path} was written by a newer Patch (schema {found}); upgrade Patch to use it"
        )
    if found == schema.VERSION:
        return
    with transaction(connection):
        # Another process may have made the tables while this one waited.
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in schema.TABLES.split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version={schema.VERSION}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """One IMMEDIATE transaction: all of it is committed, or (on any exception) none of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
