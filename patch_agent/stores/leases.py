"""Leases: one writer for a session, one run for a working tree; dead holders lose theirs."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from patch_agent.core.errors import ConflictError, StoreError
from patch_agent.core.protocols import Lease
from patch_agent.stores.chain import shown
from patch_agent.stores.database import DAMAGE, transaction
from patch_agent.stores.owner import Owner, is_gone, is_here

LIFE_S = 12 * 3600.0
"""After so long a lease of another host, whose process cannot be looked at, may be taken over."""


class Leases:
    """The leases in a store's database."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        owner: Owner,
        now: Callable[[], str],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._connection = connection
        self._owner = owner
        self._now = now
        self._clock = clock

    def take_session(self, session_id: str) -> Lease:
        """The right to write a session, as its next generation. Raises ConflictError when held."""
        with self._errors(), transaction(self._connection):
            self._take(f"session:{session_id}", session_id, f"session {session_id}")
            self._connection.execute(
                "UPDATE sessions SET generation = generation + 1 WHERE id = ?", (session_id,)
            )
            row = self._connection.execute(
                "SELECT generation FROM sessions WHERE id = ?", (session_id,)
            ).fetchone()
            if row is None:
                raise StoreError(f"there is no session {session_id}")
        return Lease(session_id, row[0])

    def take_tree(self, tree_key: str, session_id: str) -> None:
        """The right to run in a working tree. Raises ConflictError, naming the other session."""
        with self._errors(), transaction(self._connection):
            self._take(f"tree:{shown(tree_key)}", session_id, "this working tree")

    def release(self, session_id: str) -> None:
        """Give back everything that this process holds for a session."""
        with self._errors(), transaction(self._connection):
            self._connection.execute(
                "DELETE FROM leases WHERE session = ? AND host = ? AND pid = ? AND token = ?",
                (session_id, self._owner.host, self._owner.pid, self._owner.token),
            )

    def _take(self, subject: str, session_id: str, what: str) -> None:
        row = self._connection.execute(
            "SELECT session, host, pid, token, since, expires FROM leases WHERE subject = ?",
            (subject,),
        ).fetchone()
        if row is not None:
            holder = Owner(row[1], row[2], row[3])
            # Time is no proof: a process that can be looked at keeps its lease while it runs.
            in_time = is_here(holder) or self._clock() < row[5]
            if holder != self._owner and not is_gone(holder) and in_time:
                raise ConflictError(
                    f"{what} is held by session {row[0]} ({holder.text}, since {row[4]}); "
                    "wait for it, stop it, or work in another git worktree"
                )
        self._connection.execute(
            "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                subject,
                session_id,
                self._owner.host,
                self._owner.pid,
                self._owner.token,
                self._now(),
                self._clock() + LIFE_S,
            ),
        )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except DAMAGE as error:
            raise StoreError(f"cannot use the log: {error}") from None
