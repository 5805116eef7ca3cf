"""``graphkit db``."""

from __future__ import annotations

import dataclasses
from typing import Any

from graphkit.cli.base import as_json, print_json, print_line, settings
from graphkit.cli.tables import cell
from graphkit.database.embedded import client as embedded
from graphkit.database.settings import Settings
from graphkit.errors import InputError


def _embedded() -> Settings:
    chosen = settings()
    if chosen.uri is not None:
        raise InputError(
            "a Neo4j server is named, and graphkit doesn't start or stop that",
            remedy="Unset NEO4J_URI to use the embedded database.",
        )
    return chosen


def start_command() -> None:
    """Start the embedded server and keep it."""
    chosen = _embedded()
    endpoint = embedded.ensure_running(chosen.data, keep=True)
    try:
        if as_json():
            print_json({"uri": endpoint.uri, "path": str(chosen.data.resolve())})
        else:
            print_line(f"running at {endpoint.uri} on {chosen.data.resolve()}; `graphkit db stop` ends it")
    finally:
        endpoint.release()


def stop_command() -> None:
    """Stop the embedded server."""
    stopped = embedded.stop(_embedded().data)
    if as_json():
        print_json({"stopped": stopped})
    else:
        print_line("stopped" if stopped else "it was not running")


def path_command() -> None:
    """Print where the embedded database lies."""
    path = str(settings().data.resolve())
    if as_json():
        print_json({"path": path})
    else:
        print_line(path)


def status_command() -> None:
    """Tell which database is used and what it holds."""
    chosen = settings()
    facts: dict[str, Any] = {}
    running = True
    if chosen.uri is None:
        state = embedded.status(chosen.data)
        running = state.running
        facts = {name: value for name, value in dataclasses.asdict(state).items() if value is not None}
    if running:
        facts |= _held(chosen)
    if as_json():
        print_json(facts)
        return
    for name, value in facts.items():
        print_line(f"{name}: {_shown(value)}")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} ({count})" for name, count in value.items())
    return "; ".join(value) if isinstance(value, list) else cell(value)


def _held(chosen: Settings) -> dict[str, Any]:
    """Return what a database that runs holds."""
    from graphkit.database.store import Store
    from graphkit.graph.claims import unfinished_loads
    from graphkit.graph.queries import cypher

    with Store.open(chosen) as store:
        return {
            "engine": f"{store.engine} {store.version}",
            "uri": store.uri,
            "datasets": {str(row["name"]): row["questions"] for row in store.read(cypher("read/datasets"))},
            "runs": [str(row["id"]) for row in store.read(cypher("read/runs")) if row["complete"]],
            "unfinished": [str(load) for load in unfinished_loads(store)],
        }
