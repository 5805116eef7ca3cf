"""``graphkit measures``."""

from __future__ import annotations

from graphkit.cli.base import command, present, say_text
from graphkit.cli.tables import print_table


@command()
def measures() -> None:
    """List the measures with definition and source."""
    import dataclasses

    from graphkit.measures.registry import measure_kinds

    rows = []
    kinds, wrong = measure_kinds()
    for error in wrong:
        say_text(f"note: ignored: {error}")
    for kind in kinds:
        parameters = [f"{field.name}={field.default!r}" for field in dataclasses.fields(kind) if field.name != "k"]
        cut = "@k" if any(field.name == "k" for field in dataclasses.fields(kind)) else ""
        name = kind.name + (f"({', '.join(parameters)})" if parameters else "") + cut
        rows.append(
            (name, kind.definition, kind.source, kind.layer, ", ".join(kind.engines()), ", ".join(kind.aliases))
        )
    columns = ("measure", "definition", "source", "layer", "engines", "aliases")
    present(lambda: print_table(None, columns, rows), *(dict(zip(columns, row, strict=True)) for row in rows))
