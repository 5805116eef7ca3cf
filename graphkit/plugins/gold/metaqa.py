"""MetaQA: questions about films over ``kb.txt``, each with the classes of the nodes on its path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import LINE, GoldRow, UnusableRowError, read_rows
from graphkit.plugins.gold.query_graphs import query_paths, shortest_paths

_ENTITY = re.compile(r"\[([^\[\]]+)\]")

#: The relation of a film to a node of each class, whatever the direction of the question.
_RELATIONS = {
    "actor": "starred_actors",
    "director": "directed_by",
    "writer": "written_by",
    "year": "release_year",
    "language": "in_language",
    "genre": "has_genre",
    "tag": "has_tags",
    "tags": "has_tags",
    "imdbrating": "has_imdb_rating",
    "imdbvotes": "has_imdb_votes",
}

_FILM, _TYPE = "movie", "type"


class MetaQA(GoldFormat):
    """Reads ``question with [entity]<tab>answer|answer``, and the type of each line in the file ``..._qtype.txt``."""

    name = "metaqa"
    title = "MetaQA: [entity] and answers, with kb.txt as --graph"
    lines = True
    graphs = True
    lacks = (
        "A line has no id: the question is named by its file and line.",
        "Paths come from the graph alone (--graph kb.txt): each that has the classes of the question's type "
        "(`movie_to_actor_to_movie`) and leads to an answer is an alternative. Without the file of types "
        "(`qa_test_qtype.txt` beside `qa_test.txt` or in the folder above), these are the shortest ones.",
        "A question with several answers has a path to each, and all are required.",
    )

    def rows(self, path: Path, problems: Problems) -> Iterator[GoldRow]:
        types = _types(path)
        for row in read_rows(path, True, problems):
            given = {LINE: row.get(LINE)} | ({_TYPE: types[row.number]} if row.number in types else {})
            yield GoldRow(row.where, row.stem, row.number, given)

    def question(self, row: GoldRow) -> dict[str, Any]:
        asked, tab, answers = row.text(LINE).partition("\t")
        topic = _ENTITY.search(asked)
        names = list(dict.fromkeys(name.strip() for name in answers.split("|") if name.strip()))
        if not tab or topic is None or not names:
            what = "a line must have a question with its entity in brackets, a tab, and answers with | between"
            raise UnusableRowError(what)
        kind = row.get(_TYPE)
        edges = _edges(kind) if isinstance(kind, str) else []
        graph = row.graph()
        if edges:
            paths = query_paths(row, graph, edges, {"0": topic[1]}, str(len(edges)), names)
        else:
            paths = shortest_paths(row, graph, [topic[1]], names)
        return {
            "id": f"{row.stem}-{row.number}{row.suffix}",
            "question": _ENTITY.sub(r"\1", asked).strip(),
            "category": kind,
            "gold_answer": ", ".join(names),
            "gold_answers": names,
            "relevant": dict.fromkeys(names, 1.0),
            "paths": paths,
        }


def _types(path: Path) -> dict[int, str]:
    """Return the type of each line by its number, from the file beside a file of questions or in the folder above."""
    name = path.name.replace(".txt", "_qtype.txt", 1)
    for file in (path.with_name(name), path.resolve().parent.parent / name):
        with suppress(InputError):
            if file.is_file() and file.name != path.name:
                rows = read_rows(file, True, Problems("skip"))
                return {row.number: str(row.get(LINE)).strip() for row in rows}
    return {}


def _edges(kind: str) -> list[tuple[str, str, str]]:
    """Return the pattern of a type's path, whose nodes are numbers; none if it has unknown classes.

    >>> _edges("movie_to_actor_to_movie")
    [('0', 'starred_actors', '1'), ('2', 'starred_actors', '1')]
    """
    classes = kind.split("_to_")
    found = []
    for number, (first, second) in enumerate(zip(classes, classes[1:], strict=False)):
        relation = _RELATIONS.get(second if first == _FILM else first)
        if relation is None or (first == _FILM) == (second == _FILM):
            return []
        ends = (number, number + 1) if first == _FILM else (number + 1, number)
        found.append((str(ends[0]), relation, str(ends[1])))
    return found
