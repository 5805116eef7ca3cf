"""``graphkit db start``, ``stop`` and ``compact``: the embedded database as it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphkit.cli.base import command, present, settings
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.database.settings import Settings


@command(graph=True)
def start() -> None:
    """Start the embedded database and keep it running, so that each command responds at once."""
    from graphkit.cli.progress import shown_progress
    from graphkit.database.settings import Settings
    from graphkit.files.assets import option_text
    from graphkit.plugins.embedded import client

    chosen = _embedded_settings()
    named = "" if chosen.data == Settings.resolve().data else option_text("data", chosen.data)
    with shown_progress(f"starting the database in {chosen.data}"):
        endpoint = client.ensure_running(chosen.data, keep=True, waiting=shown_progress)
    try:
        folder = str(chosen.data.resolve())
        text = f"running at {endpoint.uri} on {folder}; `graphkit db stop{named}` ends it"
        present(text, {"uri": endpoint.uri, "path": folder})
    finally:
        endpoint.release()


@command(graph=True)
def stop() -> None:
    """Stop the embedded database."""
    from graphkit.cli.progress import shown_progress
    from graphkit.plugins.embedded import client

    with shown_progress("stopping the database"):
        stopped = client.stop(_embedded_settings().data)
    present("stopped" if stopped else "it was not running", {"stopped": stopped})


@command(graph=True)
def compact() -> None:
    """Give the disk space of removed records back: copy the stopped embedded database into new files."""
    import dataclasses

    from graphkit.cli.progress import shown_progress
    from graphkit.graph.queries import schema_statements
    from graphkit.plugins.embedded.compact_client import compact

    chosen = settings()
    if chosen.uri is not None:
        raise InputError(
            "a Neo4j server is named, and graphkit compacts the embedded database only",
            remedy="A server uses the space of removed records again. On its machine, `neo4j-admin database copy` "
            "(Enterprise Edition) writes a smaller copy of the stopped database.",
        )
    with shown_progress("compacting the database") as progress:
        found = compact(chosen.data, schema_statements(), lambda count: progress("records", count))
    text = f"{found.before} bytes before, {found.after} after"
    present(text, dataclasses.asdict(found))


def _embedded_settings() -> Settings:
    """Return the settings of the running command; refuse a Neo4j server."""
    chosen = settings()
    if chosen.uri is not None:
        raise InputError(
            "a Neo4j server is named, and graphkit doesn't start or stop it",
            remedy="Unset NEO4J_URI to use the embedded database.",
        )
    return chosen
