"""``graphkit db`` with ``status`` and ``path``; plug-ins add the other commands."""

from __future__ import annotations

from typing import Any

from graphkit.cli.base import ExtendedCommands, command, group, present, settings
from graphkit.cli.tables import cell

db = group("Keep the database running; look into it.", ExtendedCommands)


@db.command()
@command(graph=True)
def status() -> None:
    """Show which database is used, whether it runs, and what it contains."""
    import dataclasses

    from graphkit.database.access import embedded_database
    from graphkit.database.store import Store
    from graphkit.graph.content import graph_content

    chosen = settings()
    facts: dict[str, Any] = {}
    running = True
    if chosen.uri is None:
        facts = embedded_database().status(chosen.data)
        running = facts["running"]
    if running:
        with Store.open(chosen) as store:
            facts |= dataclasses.asdict(graph_content(store))
    lines = [f"{name}: {_text(value) or 'none'}" for name, value in facts.items() if value != []]
    present(lines, facts)


@db.command()
@command(graph=True)
def path() -> None:
    """Print the folder of the embedded database."""
    folder = str(settings().data.resolve())
    present(folder, {"path": folder})


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} ({count})" for name, count in value.items())
    return "; ".join(value) if isinstance(value, list) else cell(value)
