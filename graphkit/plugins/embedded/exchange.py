"""Put a database that a process of its own has filled into the place of the former one, whenever that is killed.

The caller holds the server's lock. Names tell how far it came: ``bulk/neo4j`` is being filled, ``bulk/complete`` is
whole, ``bulk/former`` was replaced.
"""

from __future__ import annotations

import os
import shutil

from graphkit.plugins.embedded.place import Layout


def place(layout: Layout) -> None:
    """Replace the database by the one that was filled and closed; after a kill, :func:`settle` does the rest."""
    os.sync()
    layout.partial.rename(layout.complete)
    settle(layout)


def settle(layout: Layout) -> None:
    """Put a complete database into its place, and delete one that isn't complete, or was replaced."""
    if layout.complete.exists():
        if layout.database.exists():
            shutil.rmtree(layout.former, ignore_errors=True)
            layout.database.rename(layout.former)
        layout.database.parent.mkdir(mode=0o700, exist_ok=True)
        layout.complete.rename(layout.database)
        os.sync()
    shutil.rmtree(layout.partial.parent, ignore_errors=True)
