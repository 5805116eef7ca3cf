"""Generates the pages and the pictures that come from the code: run ``python docs/generate.py`` after changing it.

``measures.md`` comes from ``measures-head.txt`` and the registry, ``commands.md`` from ``commands-head.txt``, the
declarations of commands and ``examples.txt``, ``queries.md`` from the headers of
``cypher/analysis`` and ``cypher/failures``, the tables in ``graph.md`` from ``cypher/schema.cypher``, the table of
contents in ``importing.md`` and the pages in ``importing/`` from the readers and from importing varied logs,
``demo.svg`` from a real run of ``graphkit demo``, ``failure.svg`` from the storefront, and ``pictures/`` from what the
queries for analysts find there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from command_pages import commands_page
from failure_picture import failure_picture
from format_pages import contents, format_page, with_outcomes
from query_pictures import query_pictures

from graphkit.graph.queries import analysis_queries, failure_queries
from graphkit.measures.base import Measure
from graphkit.measures.registry import MEASURES, measure_kinds
from graphkit.plugins.demo.commands import CODE_PAGE
from graphkit.readers.known_formats import readers

if TYPE_CHECKING:
    from tests.helpers.graph_schema import GraphElement

HERE = Path(__file__).parent


#: The width of the terminal in the picture.
COLUMNS = 80

#: What a command in the picture gets of the caller's environment: where programs, modules and caches lie.
NEEDED = ("PATH", "HOME", "JAVA_HOME", "PYTHONPATH", "TMPDIR")

#: The terminal of the picture.
TERMINAL = {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONUTF8": "1"}

#: Between these lines of the page of imports stands the table of formats.
FORMATS = "<!-- formats: made by docs/generate.py -->"
END = "<!-- end of formats -->"

#: Between these lines of the page of the graph stand its tables.
SCHEMA = "<!-- schema: made by docs/generate.py -->"
END_OF_SCHEMA = "<!-- end of schema -->"

QUERIES_HEAD = """\
# Named queries

After this page you can ask the graph by name what went wrong, without writing Cypher.

`graphkit query NAME -p run=RUN` runs a query, and `graphkit failures RUN --kind NAME` one of those for failures. They
refuse a run or question that the graph doesn't hold. A parameter with a default is optional; `question = null` means
all questions. If `limit` cuts rows, the output shows how many. `--open` shows the rows, or what they draw, on a page.

First come the queries for analysts. Where they are over all runs, `run` is any run of the dataset.
"""


def measures_page() -> str:
    """Return the page of measures."""
    lines = [(HERE / "measures-head.txt").read_text(encoding="utf-8")]
    # The core's, then those of its plug-ins by name; whatever else is installed or was loaded before isn't among them.
    own = [kind for kind in measure_kinds()[0] if kind.__module__.startswith("graphkit.")]
    further = sorted({*own}.difference(MEASURES), key=lambda kind: kind.__name__)
    for kind in (*MEASURES, *further):
        document = " ".join((kind.__doc__ or "").partition("\n\n")[2].split())
        parameters = [f"`{field.name}={field.default!r}`" for field in dataclasses.fields(kind) if field.name != "k"]
        cut = "@k" if any(field.name == "k" for field in dataclasses.fields(kind)) else ""
        lines += [f"## {kind.__name__}{cut}", "", f"{kind.definition[0].upper()}{kind.definition[1:]}."]
        if document:
            lines += ["", document.replace("``", "`")]
        facts = [
            f"Layer: {kind.layer}",
            f"engines: {', '.join(one.capitalize() for one in kind.engines())}"
            if kind.computed
            else f"scored by a {kind.engines()[0]}",
            f"source: {kind.source}",
        ]
        if parameters:
            facts.append(f"parameters: {', '.join(parameters)}")
        if kind.aliases:
            facts.append(f"aliases: {', '.join(f'`{alias}`' for alias in kind.aliases)}")
        if not kind.higher_is_better:
            facts.append("lower is better")
        facts += _thresholds(kind)
        lines += ["", f"{'; '.join(facts)}.", ""]
    return "\n".join(lines)


def _thresholds(kind: type[Measure]) -> list[str]:
    """Return the target and the severe threshold, with their parameters."""
    cut = kind.target_parameters.get("k")
    of = f" of @{cut}" if cut is not None else ""
    better, worse = (">", "<") if kind.higher_is_better else ("<", ">")
    given = (("target", better, kind.target), ("severe", worse, kind.severe))
    return [f"{name}{of} {sign} {bound:g}" for name, sign, bound in given if bound is not None]


def queries_page() -> str:
    """Return the page of named queries."""
    lines = [QUERIES_HEAD]
    failures = sorted(failure_queries(), key=lambda query: query.name)
    for query in [*analysis_queries(), *failures]:
        parameters = ", ".join(
            one.name if one.default is None else f"{one.name} = {one.default}" for one in query.parameters
        )
        if query is failures[0]:
            lines += ["---", "", "These are the kinds of `graphkit failures`.", ""]
        lines += [
            f"## {query.name}",
            "",
            query.answers,
            "",
            f"- parameters: `{parameters}`",
            f"- columns: `{', '.join(query.columns)}`",
            "",
        ]
        if query not in failures:
            lines += [f"![{query.title}, in the storefront](pictures/{query.name}.svg)", ""]
    return "\n".join(lines)


def importing_page() -> str:
    """Return the page of imports, whose table of contents names the page of each format."""
    page = (HERE / "importing.md").read_text(encoding="utf-8")
    head, _, rest = page.partition(FORMATS)
    return "\n".join([f"{head}{FORMATS}", *contents(), f"{END}{rest.partition(END)[2]}"])


def outcomes_of(name: str) -> dict[str, str]:
    """Return what comes of each variation of a format's log, computed by the tests."""
    sys.path.insert(0, str(HERE.parent))
    from tests.plugins.logs.log_outcomes import outcomes

    return outcomes(name)


def graph_page() -> str:
    """Return the page of the graph, with a table of each label and of each type of relationships with properties."""
    page = (HERE / "graph.md").read_text(encoding="utf-8")
    head, _, rest = page.partition(SCHEMA)
    sys.path.insert(0, str(HERE.parent))
    from tests.helpers.graph_schema import graph_schema

    elements = graph_schema()
    lines = ["### Relationships", "", "```cypher"]
    lines += [f"{one.pattern}  // {one.meaning}" for one in elements if one.starts]
    lines += ["```", "", "### Properties of nodes", ""]
    lines += [line for one in elements if not one.starts for line in _properties(one)]
    lines += ["### Properties of relationships", ""]
    lines += [line for one in elements if one.starts and one.properties for line in _properties(one)]
    return "\n".join([f"{head}{SCHEMA}", "", *lines, f"{END_OF_SCHEMA}{rest.partition(END_OF_SCHEMA)[2]}"])


def _properties(element: GraphElement) -> list[str]:
    """Return the table of the properties of a label or a type, with its keys and indexes."""
    facts = [f"unique by {_named(one)}" for one in element.keys] + [
        f"index on {_named(one)}" for one in element.indexes
    ]
    about = f"{element.meaning} " + (f"({'; '.join(facts)})" if facts else "")
    rows = [f"| `{one.name}` | {one.type.replace('<', '&lt;')} | {one.meaning} |" for one in element.properties]
    return [f"`{element.pattern}`: {about.strip()}", "", "| property | type | meaning |", "|---|---|---|", *rows, ""]


def _named(names: tuple[str, ...]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def demo_picture() -> str | None:
    """Return what ``graphkit demo`` prints in a terminal of 80 columns as a drawing, without fonts from elsewhere.

    Where no sandbox works, the demo prints other lines: then there is no picture.
    """
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console
    from rich.text import Text

    printed, written = in_a_terminal("demo")
    if CODE_PAGE not in written:
        return None
    # Whatever the caller's terminal is, what is drawn has this width and these colours.
    console = Console(
        record=True,
        width=COLUMNS,
        file=io.StringIO(),
        highlight=False,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        _environ={},
    )
    console.print(Text("$ graphkit demo", style="bold"))
    for line in printed.splitlines():
        console.print(Text.from_ansi(line))
    style = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    style = re.sub(r"<!--.*?-->", "", style, flags=re.DOTALL)
    return console.export_svg(title="graphkit demo", code_format=style, unique_id="graphkit")


def in_a_terminal(*words: str) -> tuple[str, frozenset[str]]:
    """Return what a command prints on standard output if that is a terminal, and the names of the files it writes.

    Its progress isn't shown. Settings of the caller, such as ``NO_COLOR``, ``PYTHONIOENCODING`` or a variable whose
    value is masked as a secret, don't reach it.
    """
    master, slave = pty.openpty()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "graphkit", *words],
            cwd=folder,
            env={
                **{name: os.environ[name] for name in NEEDED if name in os.environ},
                **TERMINAL,
                "GRAPHKIT_HOME": f"{folder}/graph",
            },
            stdout=slave,
            stderr=subprocess.DEVNULL,
        )
        os.close(slave)
        parts = []
        with contextlib.suppress(OSError):  # the other end is closed
            while part := os.read(master, 65536):
                parts.append(part)
        os.close(master)
        if process.wait() != 0:
            raise SystemExit(f"graphkit {' '.join(words)} failed")
        written = frozenset(path.name for path in Path(folder).iterdir())
    return b"".join(parts).decode(), written


def main() -> None:
    """Write the pages and the picture."""
    (HERE / "measures.md").write_text(measures_page(), encoding="utf-8")
    (HERE / "queries.md").write_text(queries_page(), encoding="utf-8")
    (HERE / "graph.md").write_text(graph_page(), encoding="utf-8")
    (HERE / "commands.md").write_text(commands_page(), encoding="utf-8")
    (HERE / "importing.md").write_text(importing_page(), encoding="utf-8")
    for reader in readers()[0]:
        page = with_outcomes(format_page(reader), outcomes_of(reader.name))
        (HERE / "importing" / f"{reader.name}.md").write_text(page, encoding="utf-8")
    (HERE / "failure.svg").write_text(failure_picture(), encoding="utf-8")
    (HERE / "pictures").mkdir(exist_ok=True)
    for name, picture in query_pictures().items():
        (HERE / "pictures" / f"{name}.svg").write_text(picture, encoding="utf-8")
    if (demo := demo_picture()) is None:
        sys.stderr.write("docs/demo.svg is left as it is: no sandbox works here, so the demo prints other lines\n")
    else:
        (HERE / "demo.svg").write_text(demo, encoding="utf-8")


if __name__ == "__main__":
    main()
