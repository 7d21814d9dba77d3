"""Answers that a person gave once for exactly this content in this repository."""

import sqlite3
from collections.abc import Callable

from patch_agent.core.errors import StoreError
from patch_agent.stores.chain import shown
from patch_agent.stores.database import DAMAGE, transaction


class Trust:
    """The remembered answers in a store's database."""

    def __init__(self, connection: sqlite3.Connection, now: Callable[[], str]) -> None:
        self._connection = connection
        self._now = now

    def remember(self, repo_key: str, subject: str, content_hash: str) -> None:
        """Keep a yes. Raises StoreError when it cannot be written."""
        try:
            with transaction(self._connection):
                self._connection.execute(
                    "INSERT OR IGNORE INTO trust VALUES (?, ?, ?, ?)",
                    (shown(repo_key), shown(subject), content_hash, self._now()),
                )
        except DAMAGE as error:
            raise StoreError(f"cannot remember the answer: {error}") from None

    def is_remembered(self, repo_key: str, subject: str, content_hash: str) -> bool:
        """Whether a person said yes to exactly this before."""
        try:
            row = self._connection.execute(
                "SELECT 1 FROM trust WHERE repo_key = ? AND subject = ? AND content_hash = ?",
                (shown(repo_key), shown(subject), content_hash),
            ).fetchone()
        except DAMAGE as error:
            raise StoreError(f"cannot read the log: {error}") from None
        return row is not None
