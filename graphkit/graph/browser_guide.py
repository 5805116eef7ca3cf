"""A guide through the named queries for Neo4j Browser, and a style that tells gold edges from traversed ones.

The guide has a page for each query, with its title, its question and its parameters. It is written twice: in AsciiDoc,
which Neo4j Browser reads now, and as the slides in HTML of the Browser in Neo4j 5.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphkit.errors import InputError
from graphkit.files.assets import cypher_folder
from graphkit.files.atomic import together, written
from graphkit.graph.queries import Parameter, Query, failure_queries, read_query

GUIDE, SLIDES, STYLE = "guide.adoc", "guide.html", "graphkit.grass"

_TITLE = "graphkit: what a run did wrong"

#: How each file begins, by which a later guide knows what it may replace.
_BEGINNINGS = {GUIDE: f"= {_TITLE}\n", SLIDES: '<article class="guide graphkit">\n', STYLE: "node {\n"}

_FIRST = (
    "Each page asks one question about a run in graphkit's graph. Set the parameters once, then run the query of a "
    "page: all pages use the same ones. A question of null means all questions."
)
_COLOURS = (
    "Drop graphkit.grass on this window first: gold edges are drawn broad and golden, traversed ones narrow and blue. "
    "A gold edge without a blue one is where the run broke. Set a question, and switch off the setting that connects "
    "result nodes: it would add the edges of all other questions."
)

#: The examples of parameters without a default.
_EXAMPLES = {"run": "my-run", "other": "my-baseline", "question": "my-question"}

#: The colours of the labels; all other nodes are grey.
_LABELS = (
    ("Artifact", "#5B7083", "{path} {symbol}"),
    ("Question", "#6A4C93", "{id}"),
    ("Answer", "#2A7F62", "{question}"),
    ("Chunk", "#8D99AE", "{id}"),
    ("Commit", "#A44A3F", "{repo} {sha}"),
    ("Run", "#1B998B", "{id}"),
)

#: The colour, the width in pixels, and the caption of the relationships that tell gold from the traversal.
_TYPES = (
    ("GOLD", "#C99700", 7, "{relation}"),
    ("TRAVERSED", "#1F6FEB", 3, "{relation}"),
    ("EDGE", "#C8CDD3", 1, "{relation}"),
)


@dataclass(frozen=True, slots=True)
class GuidePage:
    """A page: its title, its text, the commands that set parameters, and the query."""

    title: str
    text: str
    parameters: tuple[str, ...]
    query: str | None = None


def guide_queries() -> list[Query]:
    """Return the queries of the guide in its order: what draws a question, then the named queries."""
    return [read_query(cypher_folder() / "read" / "gold_and_walk.cypher"), *failure_queries()]


def guide_pages(run: str | None = None, question: str | None = None) -> list[GuidePage]:
    """Return the pages, the first of which sets the parameters.

    Parameters
    ----------
    run, question
        What the parameters are set to.
    """
    given = {name: value for name, value in (("run", run), ("question", question)) if value is not None}
    queries = guide_queries()
    every = {one.name: one for query in reversed(queries) for one in query.parameters}
    pages = [GuidePage(_TITLE, _FIRST, tuple(_command(one, given) for one in every.values()))]
    for query in queries:
        text = query.answers if query.order is not None else f"{query.answers} {_COLOURS}"
        commands = tuple(_command(one, given) for one in query.parameters)
        pages.append(GuidePage(query.title, text, commands, query.text.strip()))
    return pages


def _command(parameter: Parameter, given: dict[str, str]) -> str:
    """Return the command of Neo4j Browser that sets a parameter, to an example if there is no default."""
    name = parameter.name
    if name in given or parameter.default is None:
        return f":param {name} => {_literal(given.get(name, _EXAMPLES.get(name, name)))}"
    return f":param {name} => {parameter.default}"


def _literal(text: str) -> str:
    r"""Return a text as a literal of Cypher on one line.

    >>> print(_literal("it's\n"))
    'it\'s\u000a'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in escaped) + "'"


def as_asciidoc(pages: Sequence[GuidePage]) -> str:
    """Return the guide in AsciiDoc: a section a page, with listings that run at a click."""
    parts = [f"= {pages[0].title}\n"]
    for page in pages:
        parts.append(f"== {'Parameters' if page.query is None else page.title}\n\n{page.text}\n")
        for code in (*page.parameters, page.query):
            if code is not None:
                parts.append(f"[source,cypher]\n----\n{code}\n----\n")
    return "\n".join(parts)


def as_slides(pages: Sequence[GuidePage]) -> str:
    """Return the guide as slides in HTML."""
    lines = [_BEGINNINGS[SLIDES] + '<carousel class="deck container-fluid">']
    for page in pages:
        codes = [*page.parameters, *([] if page.query is None else [page.query])]
        lines += ['<slide class="row-fluid">', '<div class="col-sm-3">', f"<h3>{html.escape(page.title)}</h3>"]
        lines += [f'<p class="lead">{html.escape(page.text)}</p>', "</div>", '<div class="col-sm-9">']
        lines += [f'<pre class="pre-scrollable code runnable">{html.escape(code)}</pre>' for code in codes]
        lines += ["</div>", "</slide>"]
    return "\n".join([*lines, "</carousel>", "</article>", ""])


def style() -> str:
    """Return the style sheet (GraSS)."""
    node = {"diameter": "50px", "color": "#A5ABB6", "border-color": "#7A8491", "border-width": "2px"}
    rules = [_rule("node", node | {"text-color-internal": "#FFFFFF", "font-size": "10px"})]
    edge = {"color": "#A5ABB6", "shaft-width": "1px", "font-size": "9px", "padding": "3px"}
    edge |= {"text-color-external": "#000000", "text-color-internal": "#FFFFFF", "caption": '"<type>"'}
    rules.append(_rule("relationship", edge))
    for label, colour, caption in _LABELS:
        rules.append(_rule(f"node.{label}", {"color": colour, "border-color": colour, "caption": f'"{caption}"'}))
    for name, colour, width, caption in _TYPES:
        rules.append(
            _rule(f"relationship.{name}", {"color": colour, "shaft-width": f"{width}px", "caption": f'"{caption}"'})
        )
    return "\n".join(rules)


def _rule(selector: str, properties: dict[str, str]) -> str:
    lines = "".join(f"  {name}: {value};\n" for name, value in properties.items())
    return f"{selector} {{\n{lines}}}\n"


def write_guide(folder: Path, run: str | None = None, question: str | None = None) -> list[Path]:
    """Write the guide in both forms and the style into a folder, and return the files.

    Raises
    ------
    InputError
        A file of another kind is there, or one can't be written.
    """
    pages = guide_pages(run, question)
    texts = {GUIDE: as_asciidoc(pages), SLIDES: as_slides(pages), STYLE: style()}
    for name in texts:
        _refuse_others(folder / name, _BEGINNINGS[name])
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"the folder can't be made: {error.strerror}"
        raise InputError(what, where=str(folder), remedy="Name another folder.") from None
    with together():
        for name, text in texts.items():
            with written(folder / name) as temporary:
                temporary.write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def _refuse_others(path: Path, beginning: str) -> None:
    if path.is_file() and not path.read_bytes().startswith(beginning.encode()):
        what = "the file isn't one of a guide of graphkit's, and would be replaced"
        raise InputError(what, where=str(path), remedy="Name another folder.")
