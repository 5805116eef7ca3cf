"""A guide through the named queries for Neo4j Browser, and a style that tells gold edges from traversed ones.

The guide has a page for each query, with its title, its question and its parameters, ten for analysts first. It is
written twice: in AsciiDoc, which Neo4j Browser reads now, and as the slides in HTML of the Browser in Neo4j 5.

A style selects nodes by their labels alone, so colours of repositories need a label for each: a page of the guide sets
those, which no load does.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.atomic import together, written
from graphkit.graph.known_names import require_run
from graphkit.graph.queries import Parameter, Query, analysis_queries, cypher, failure_queries

GUIDE, SLIDES, STYLE = "guide.adoc", "guide.html", "graphkit.grass"

_TITLE = "graphkit: what a run did wrong"

#: How each file begins, by which a later guide knows what it may replace.
_BEGINNINGS = {GUIDE: f"= {_TITLE}\n", SLIDES: '<article class="guide graphkit">\n', STYLE: "node {\n"}

_FIRST = (
    "Each page asks one question about a run in graphkit's graph. Set the parameters once, then run the query of a "
    "page: all pages use the same ones. A question of null means all questions."
)
_COLOURS = (
    "Drop graphkit.grass on this window first: gold edges are drawn broad and green, traversed ones narrow and blue, "
    "with position and run. A green edge without a blue one was missed. Set a question, and switch off the setting "
    "that connects result nodes: it would add the edges of all other questions."
)
_LABELLING = (
    "A style chooses colours by labels alone. The first statement gives each artifact the label of its repository, for "
    "which graphkit.grass has a colour; run it again after a load. The second takes all of them away. Both write into "
    "the database and need Neo4j 5.26 or newer; nothing of graphkit's looks at these labels."
)

#: The failures that belong to the ten queries for analysts, which come first.
_FIRST_FAILURES = ("wrong-turns",)

#: The examples of parameters without a default.
_EXAMPLES = {"run": "my-run", "other": "my-baseline", "question": "my-question"}

#: The colours and captions of the labels; all other nodes are grey.
_LABELS = (
    ("Artifact", "#5B7083", "{repo} {symbol} {path}"),
    ("Question", "#6A4C93", "{id}"),
    ("Answer", "#2A7F62", "{run} {question}"),
    ("Run", "#1B998B", "{id}"),
    ("GoldPath", "#1A7F37", "gold {id}"),
    ("RetrievedPath", "#1F6FEB", "path {index}"),
    ("Score", "#B8860B", "{measure} {value}"),
    ("Verdict", "#8C5E9C", "{judge} {grade}"),
    ("Claim", "#8C5E9C", "{support}"),
    ("Chunk", "#8D99AE", "{repo} {symbol} {path}"),
    ("Commit", "#A44A3F", "{repo} {sha}"),
    ("Repository", "#3D4C5C", "{name}"),
)

#: The colour, the width in pixels, and the caption of relationships. Lines can't be dashed.
_TYPES = (
    ("GOLD", "#1A7F37", 7, "{position} {relation}"),
    ("TRAVERSED", "#1F6FEB", 3, "{position} {relation} {run}"),
    ("EDGE", "#C8CDD3", 1, "{relation}"),
    ("RETRIEVED", "#8D99AE", 1, "#{rank}"),
    ("SCORED", "#B8860B", 1, ""),
    ("WALKED", "#1F6FEB", 1, ""),
    ("EXPECTS", "#1A7F37", 1, ""),
)

#: The colours of repositories, in turn; white text is legible on each.
REPOSITORY_COLOURS = (
    *("#0B6E99", "#9A3412", "#5B21B6", "#166534", "#9D174D", "#92600A", "#1E40AF", "#0F766E"),
    *("#7C2D12", "#4D7C0F", "#86198F", "#475569"),
)


@dataclass(frozen=True, slots=True)
class GuidePage:
    """A page: its title, its text, the commands that set parameters, and the statements."""

    title: str
    text: str
    parameters: tuple[str, ...]
    statements: tuple[str, ...] = ()


def guide_queries() -> list[Query]:
    """Return the queries of the guide in its order: ten for analysts, then the other failures."""
    failures = failure_queries()
    first = [query for query in failures if query.name in _FIRST_FAILURES]
    return [*analysis_queries(), *first, *(query for query in failures if query not in first)]


def repositories_of(store: Store, run: str | None = None) -> list[str]:
    """Return the repositories that the dataset of a run names, or without a run all datasets.

    Raise InputError if the graph doesn't hold the run.
    """
    if run is not None:
        require_run(store, run)
    return [str(row["repo"]) for row in store.read(cypher("read/dataset_repositories"), {"run": run})]


def repository_labels(repositories: Iterable[str]) -> dict[str, str]:
    """Return a label for each repository, of letters, digits and underscores, no two the same.

    >>> repository_labels(["web", "my-api", "my.api"])
    {'my-api': 'Repo_my_api', 'my.api': 'Repo_my_api_2', 'web': 'Repo_web'}
    """
    labels: dict[str, str] = {}
    for name in sorted({*repositories}):
        label = own = "Repo_" + re.sub(r"\W", "_", name, flags=re.ASCII)
        number = 1
        while label in labels.values():
            number += 1
            label = f"{own}_{number}"
        labels[name] = label
    return labels


def guide_pages(
    run: str | None = None, question: str | None = None, repositories: Sequence[str] = ()
) -> list[GuidePage]:
    """Return the pages, the first of which sets the parameters.

    Parameters
    ----------
    run, question
        What the parameters are set to.
    repositories
        The repositories that get a colour; without any, no page sets their labels.
    """
    given = {name: value for name, value in (("run", run), ("question", question)) if value is not None}
    queries = guide_queries()
    every = {one.name: one for query in reversed(queries) for one in query.parameters}
    pages = [GuidePage(_TITLE, _FIRST, tuple(_command(one, given) for one in every.values()))]
    if repositories:
        pages.append(GuidePage("Colours of repositories", _LABELLING, (), _labelling(repositories)))
    for query in queries:
        text = f"{query.answers} {_COLOURS}" if query is queries[0] else query.answers
        commands = tuple(_command(one, given) for one in query.parameters)
        pages.append(GuidePage(query.title, text, commands, (query.text.strip(),)))
    return pages


def _labelling(repositories: Sequence[str]) -> tuple[str, str]:
    """Return a statement that gives each artifact the label of its repository, and one that takes all away."""
    labels = repository_labels(repositories)
    known = ", ".join(f"{{repo: {_literal(name)}, label: '{label}'}}" for name, label in labels.items())
    away = "MATCH (a:Artifact)\nREMOVE " + ", ".join(f"a:{label}" for label in labels.values())
    return f"UNWIND [{known}] AS one\nMATCH (a:Artifact {{repo: one.repo}})\nSET a:$(one.label)", away


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
        parts.append(f"== {page.title if page.statements else 'Parameters'}\n\n{page.text}\n")
        parts += [f"[source,cypher]\n----\n{code}\n----\n" for code in (*page.parameters, *page.statements)]
    return "\n".join(parts)


def as_slides(pages: Sequence[GuidePage]) -> str:
    """Return the guide as slides in HTML."""
    lines = [_BEGINNINGS[SLIDES] + '<carousel class="deck container-fluid">']
    for page in pages:
        codes = [*page.parameters, *page.statements]
        lines += ['<slide class="row-fluid">', '<div class="col-sm-3">', f"<h3>{html.escape(page.title)}</h3>"]
        lines += [f'<p class="lead">{html.escape(page.text)}</p>', "</div>", '<div class="col-sm-9">']
        lines += [f'<pre class="pre-scrollable code runnable">{html.escape(code)}</pre>' for code in codes]
        lines += ["</div>", "</slide>"]
    return "\n".join([*lines, "</carousel>", "</article>", ""])


def style(repositories: Sequence[str] = ()) -> str:
    """Return the style sheet (GraSS), with a colour for the label of each repository.

    Of rules that fit a node, a later one wins.
    """
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
    for place, label in enumerate(repository_labels(repositories).values()):
        colour = REPOSITORY_COLOURS[place % len(REPOSITORY_COLOURS)]
        rules.append(_rule(f"node.Artifact.{label}", {"color": colour, "border-color": colour}))
    return "\n".join(rules)


def _rule(selector: str, properties: dict[str, str]) -> str:
    lines = "".join(f"  {name}: {value};\n" for name, value in properties.items())
    return f"{selector} {{\n{lines}}}\n"


def write_guide(
    folder: Path, run: str | None = None, question: str | None = None, repositories: Sequence[str] = ()
) -> list[Path]:
    """Write the guide in both forms and the style into a folder, and return the files.

    See :func:`guide_pages` for the parameters.

    Raises
    ------
    InputError
        A file of another kind is there, or one can't be written.
    """
    pages = guide_pages(run, question, repositories)
    texts = {GUIDE: as_asciidoc(pages), SLIDES: as_slides(pages), STYLE: style(repositories)}
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
