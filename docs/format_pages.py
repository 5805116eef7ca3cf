"""The pages of log formats, ``importing/NAME.md``: what a reader declares, below the words that stand there already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from graphkit.readers.known_formats import readers
from graphkit.readers.logged import Reader

HERE = Path(__file__).parent

#: What stands above this line is written by hand; what stands below it is made of the reader.
MADE = "<!-- below: made by docs/generate.py -->"

#: What stands below this line comes of importing varied logs, which the tests do.
OUTCOMES = "<!-- outcomes: made by docs/generate.py -->"

#: What a new page begins with.
HEAD = """\
# {name}

With this page you turn logs of this format into a run.
"""

#: Where the rules stand that every format shares, with their words.
RULES = {
    "wrapped outputs": "wrapped-outputs",
    "ids": "ids",
    "what failed": "what-failed",
    "the report of an import": "the-report-of-an-import",
}


def contents() -> list[str]:
    """Return the lines of the table of contents: a row a format, with a link to its page."""
    rows = [
        f"| [`{one.name}`](importing/{one.name}.md) | {one.title} |"
        for one in sorted(readers()[0], key=lambda one: one.name)
    ]
    return ["| format | what is read |", "|---|---|", *rows]


def format_page(reader: Reader) -> str:
    """Return the page of a format; its last section stays as it is, see :func:`with_outcomes`."""
    path = HERE / "importing" / f"{reader.name}.md"
    old = path.read_text(encoding="utf-8") if path.exists() else HEAD.format(name=reader.name)
    above, outcomes = old.partition(MADE)[0].rstrip(), old.partition(OUTCOMES)[2]
    example = f"    graphkit import {reader.name} LOG --dataset my-dataset -o my-dataset/runs/mine.jsonl"
    rules = ", ".join(f"[{what}](../importing.md#{anchor})" for what, anchor in RULES.items())
    lines = [
        above,
        "",
        MADE,
        "",
        "## The command",
        "",
        f"What is read: {reader.title}.",
        "",
        example,
        "",
        *_options(reader),
        f"Every format shares these rules: {rules}.",
        "",
    ]
    if reader.lacks:
        lines += ["## What such a log doesn't say", "", *(f"- {one}" for one in reader.lacks), ""]
    return "\n".join([*lines, OUTCOMES]) + (outcomes or "\n")


def _options(reader: Reader) -> list[str]:
    """Return the table of the options that few formats have."""
    from graphkit.cli.imports import imports

    command = _command(imports, reader.name)
    helps = {one.name: (one.opts[0], one.metavar or "", one.help or "") for one in command.params}
    own = [helps[name] for name in reader.options if name != "question_key" and name in helps]
    if not own:
        return []
    rows = [f"| `{name}` {metavar} | {text} |" for name, metavar, text in own]
    return ["| option of this format | |", "|---|---|", *(row.replace("  |", " |") for row in rows), ""]


def _command(group: Any, name: str) -> Any:
    import typer

    made: Any = typer.main.get_command(group)
    return made.get_command(typer.Context(made), name)


def with_outcomes(page: str, outcomes: Mapping[str, str]) -> str:
    """Return a page of a format with what comes of each variation of its log."""
    rows: Iterable[str] = (f"| {variation} | {outcome} |" for variation, outcome in outcomes.items())
    about = "The tests import a log of this format varied in these ways"
    link = "../importing.md#what-was-found-and-what-wasnt-read"
    head = ["## Varied logs", "", f"{about}; [the words]({link}).", "", "| variation | what comes of it |", "|---|---|"]
    return "\n".join([f"{page.partition(OUTCOMES)[0]}{OUTCOMES}", "", *head, *rows, ""])
