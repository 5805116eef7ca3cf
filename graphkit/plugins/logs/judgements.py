"""Relevance judgements (qrels) of TREC, BEIR and MS MARCO, and the texts of their queries in a file beside them."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from graphkit.errors import InputError
from graphkit.files.assets import command_text
from graphkit.files.json_stream import json_documents
from graphkit.files.jsonl import read_lines, whole
from graphkit.files.parquet import parquet_rows
from graphkit.files.problems import Problem, Problems
from graphkit.files.tables import columns_of, is_table, read_table
from graphkit.imports.sources import is_json
from graphkit.readers.logged import UnreadableLogError
from graphkit.records.words import shortened

#: The names of the columns: the query, the document and its gain, without their signs and in lower case.
_QUERY = ("queryid", "qid", "topicid", "topic", "topicno")
_DOCUMENT = ("corpusid", "docid", "docno", "documentid", "pid", "passageid")
_GAIN = ("score", "relevance", "rel", "label", "gain", "judgment", "judgement")

#: The names of the columns of queries, beside those of the query's id.
_TEXT = ("text", "query", "querytext", "title", "question")

#: The beginning of a topic of TREC, its number, and its text.
_TOPIC = re.compile(r"<top(?:ic)?\b", re.IGNORECASE)
_NUMBER = re.compile(r"<num>\s*(?:Number:\s*)?([^\s<]+)|\bnumber=[\"']([^\"']+)", re.IGNORECASE)
_TITLE = re.compile(r"<(?:title|query)>\s*(?:Topic:\s*)?([^<]+)", re.IGNORECASE)

#: How many judgements tell the form of a file, and the largest gain by which they tell it from a run's scores.
_LOOKED_AT, _LARGEST = 1_000, 4

_NO_QUERIES = "these are relevance judgements (qrels), and no file beside them holds the texts of their queries"
_QUERIES_REMEDY = (
    "Put queries.jsonl (`_id`, `text`), queries.tsv (id, tab, text) or TREC's topics.txt beside them or into the "
    "folder above."
)

JUDGEMENTS = "these are relevance judgements (qrels), which are gold, rather than what a system ranked"

#: What judgements are.
_FORMS = "Judgements are lines of `qid 0 docno gain`, or a table of query-id, corpus-id and score, whole numbers."

NO_RELEVANT = "no judged document is relevant: measures of what was retrieved don't score the question"
NOT_RELEVANT = "judgements of 0 or less are left out: no measure uses documents that aren't relevant"
TWICE = "a judgement stands twice with one gain: it counts once"


class Judgement(NamedTuple):
    """The gain of a document for a query, with its place (``file:line``)."""

    where: str
    query: str
    document: str
    gain: float


def as_gold(path: Path | str) -> str:
    """Return the remedy for judgements in the place of a run."""
    return f"Make gold of them: {command_text('init', 'DATASET', path)}, with queries.jsonl or queries.tsv beside them."


def is_qrels(path: Path) -> bool:
    """Return whether a file has a form of judgements: four fields a line, three named columns, or objects of gains."""
    with suppress(InputError):
        return next(_judgements(path), None) is not None
    return False


def holds_gains(path: Path) -> bool:
    """Return whether a text or a table holds judgements rather than a run: whole numbers up to 4, and no ranks."""
    with suppress(InputError):
        found = [one.gain for one in islice(_judgements(path), _LOOKED_AT)]
        return bool(found) and max(found) <= _LARGEST
    return False


def refuse_judgements(path: Path) -> None:
    """Raise UnreadableLogError if lines of text are judgements, in the place of a run."""
    if not is_table(path) and not is_json(path) and holds_gains(path):
        raise UnreadableLogError(JUDGEMENTS, where=str(path), remedy=as_gold(path))


def are_gains(scores: Collection[Sequence[float]]) -> bool:
    """Return whether the scores of questions, in the order of a log, are gains.

    They are 0 and 1 alone, or small whole numbers that no ranking has in this order.

    >>> are_gains([[1, 0], [1]]), are_gains([[2, 1, 1]]), are_gains([[3, 2, 1]]), are_gains([[0.5, 0.5]])
    (True, True, False, False)
    """
    every = [score for each in scores for score in each]
    if not every or not all(float(score).is_integer() and score <= _LARGEST for score in every):
        return False
    return all(score in (0, 1) for score in every) or any(
        first <= second for each in scores for first, second in pairwise(each)
    )


def judged_questions(path: Path, problems: Problems) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (``file:line``, question) of each query that has judgements, in their order.

    A question has an ``id``, its text from a file beside the judgements, and the ``relevant`` documents with their
    gains. What is no judgement, and a query without a text, is added to ``problems``.
    """
    places: dict[str, str] = {}
    gains: dict[str, dict[str, float]] = {}
    for where, query, document, gain in _judgements(path, problems):
        places.setdefault(query, where)
        judged = gains.setdefault(query, {})
        if document not in judged:
            judged[document] = gain
        elif judged[document] == gain:
            problems.note(Problem(where, TWICE, query))
        else:
            what = f"the document {shortened(document)!r} has two gains: {judged[document]:g} and {gain:g}"
            problems.add(Problem(where, what, query, "Remove one of them."))
        if gain <= 0:
            problems.note(Problem(where, NOT_RELEVANT, query))
    if not gains:
        problems.add(Problem(str(path), "the file holds no judgement", remedy=_FORMS))
        return
    if (found := _queries_beside(path, gains)) is None:
        problems.add(Problem(str(path), _NO_QUERIES, remedy=_QUERIES_REMEDY))
        return
    beside, texts = found
    lacking = [query for query in gains if query not in texts]
    for query in lacking:
        problems.add(Problem(places[query], f"{beside} has no text of this query", query))
    for query, judged in gains.items():
        if query in texts:
            relevant = {document: gain for document, gain in judged.items() if gain > 0}
            if not relevant:
                problems.note(Problem(places[query], NO_RELEVANT, query))
            yield places[query], {"id": query, "question": texts[query], "relevant": relevant}


def _judgements(path: Path, problems: Problems | None = None) -> Iterator[Judgement]:
    """Yield the judgements of a file in any of their forms; a file of another form has none.

    Rows that are no judgements are added to ``problems``, or raise an InputError.
    """
    if is_table(path):
        rows = parquet_rows(path) if path.suffix.lower() == ".parquet" else (row for _, row in read_table(path))
        yield from _of_rows(((f"{path}:row {number}", row) for number, row in enumerate(rows, 1)), problems)
        return
    first = _first_line(path)
    if first[:1] in ("{", "["):
        yield from _of_json(path, problems)
    elif _columns(first.split("\t")) is not None:
        yield from _of_rows(_tabbed(path), problems)
    elif _columns([name.strip('"') for name in re.split(r"[,;]", first)]) is not None:
        yield from _of_rows(((f"{path}:{number}", dict(row)) for number, row in read_table(path)), problems)
    else:
        yield from _of_lines(path, problems)


def _first_line(path: Path) -> str:
    for _, line in read_lines(path):
        return line.decode(errors="replace").lstrip("\ufeff").strip("\r\n")
    return ""


def _tabbed(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of a file with tabs between its cells, whose quotes are text."""
    names: list[str] | None = None
    for number, line in read_lines(path):
        cells = _decoded(path, number, line).split("\t")
        if names is None:
            names = cells
        elif len(cells) != len(names):
            what = f"the line has {len(cells)} cells for {len(names)} columns"
            raise InputError(what, where=f"{path}:{number}", remedy="Put one tab between two cells.")
        else:
            yield f"{path}:{number}", dict(zip(names, cells, strict=True))


def _of_lines(path: Path, problems: Problems | None) -> Iterator[Judgement]:
    """Yield the judgements of lines of four fields: query, iteration, document, gain."""
    for number, line in read_lines(path):
        fields = _decoded(path, number, line).split()
        gain = _gain(fields[3]) if len(fields) == 4 else None
        if gain is None:
            _unusable(f"{path}:{number}", " ".join(fields), problems)
        else:
            yield Judgement(f"{path}:{number}", fields[0], fields[2], gain)


def _of_json(path: Path, problems: Problems | None) -> Iterator[Judgement]:
    """Yield the judgements of rows, or of objects of queries with the gains of their documents."""
    for where, value in json_documents(path):
        if not isinstance(value, dict):
            return
        if _columns(list(value)) is not None:
            yield from _of_rows([(where, value)], problems)
            continue
        for judged in value.values():
            if not isinstance(judged, dict) or not judged or any(type(gain) is not int for gain in judged.values()):
                return
        for query, judged in value.items():
            yield from (Judgement(f"{where} {shortened(query)}", query, one, gain) for one, gain in judged.items())


def _of_rows(rows: Iterable[tuple[str, Mapping[str, Any]]], problems: Problems | None) -> Iterator[Judgement]:
    """Yield the judgements of rows with a query, a document and a gain; none if they have other columns."""
    for where, row in rows:
        names = _columns(list(row))
        if names is None:
            return
        query, document, gain = (row[name] for name in names)
        found = _gain(gain)
        if found is None or query in (None, "") or document in (None, ""):
            _unusable(where, ", ".join(f"{name} {row[name]}" for name in names), problems)
        else:
            yield Judgement(where, str(query), str(document), found)


def _unusable(where: str, text: str, problems: Problems | None) -> None:
    """Add a row that is no judgement to the problems, or raise it."""
    problem = Problem(where, f"this is no judgement: {shortened(text)!r}", remedy=_FORMS)
    if problems is None:
        raise InputError(problem.what, where=where, remedy=_FORMS)
    problems.add(problem)


def _columns(names: Sequence[str]) -> tuple[str, str, str] | None:
    """Return the columns of a query, a document and a gain; None if one is missing, or another has a ranking."""
    plain = {re.sub(r"[\W_]+", "", name).casefold(): name for name in names}
    found = [next((plain[one] for one in known if one in plain), None) for known in (_QUERY, _DOCUMENT, _GAIN)]
    if len(names) > 5 or "rank" in plain or None in found:
        return None
    return str(found[0]), str(found[1]), str(found[2])


def _gain(value: Any) -> float | None:
    """Return a gain: a whole number, also as a text."""
    if isinstance(value, str):
        return float(value) if re.fullmatch(r"\s*[+-]?\d{1,9}(?:\.0*)?\s*", value) else None
    whole = isinstance(value, int | float) and not isinstance(value, bool) and float(value).is_integer()
    return float(value) if whole else None


def _decoded(path: Path, number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise InputError("the line isn't UTF-8", where=f"{path}:{number}", remedy="Save the file as UTF-8.") from None


def _queries_beside(path: Path, wanted: Collection[str]) -> tuple[Path, dict[str, str]] | None:
    """Return the file beside judgements that has the texts of most queries, and these texts; None if none has any.

    Raise InputError if none has any, and one can't be read.
    """
    best: tuple[Path, dict[str, str]] | None = None
    unreadable: InputError | None = None
    for file in _candidates(path):
        try:
            texts = {query: text for query, text in _queries(file) if query in wanted}
        except InputError as error:
            unreadable = unreadable or error
            continue
        if texts and (best is None or len(texts) > len(best[1])):
            best = file, texts
        if best is not None and len(best[1]) == len(wanted):
            break
    if best is None and unreadable is not None:
        raise unreadable
    return best


def _candidates(path: Path) -> list[Path]:
    """Return the files that may hold the queries, those first whose names share most with that of the judgements."""
    folders = [path.parent, path.resolve().parent.parent]
    folders += [folder / "queries" for folder in folders]
    found = [
        file
        for folder in folders
        if folder.is_dir()
        for file in sorted(folder.iterdir())
        if file.is_file() and re.search("quer|topic", file.name if folder.name != "queries" else "query", re.IGNORECASE)
    ]
    parts = set(re.split(r"[\W_]+", path.name))
    return sorted(dict.fromkeys(found), key=lambda file: -len(parts & set(re.split(r"[\W_]+", file.name))))


def _queries(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the id and the text of each query: JSON, a table, lines of an id, a tab and the text, or TREC's topics."""
    if is_table(path):
        rows = parquet_rows(path) if path.suffix.lower() == ".parquet" else (row for _, row in read_table(path))
    elif (first := _first_line(path))[:1] in ("{", "["):
        values = (value for _, value in json_documents(path))
        yield from (
            pair for value in values if isinstance(value, dict) for pair in _of_object(value) if pair is not None
        )
        return
    elif first.lstrip().startswith("<"):
        yield from _topics(whole(path, records=False).decode(errors="replace"))
        return
    elif "\t" in first and _named(first.split("\t")) is None:
        lines = (line.decode(errors="replace").rstrip("\r\n").partition("\t") for _, line in read_lines(path))
        yield from ((query.lstrip("\ufeff"), text) for query, _, text in lines if text.strip())
        return
    elif "\t" in first:
        rows = (row for _, row in _tabbed(path))  # type: ignore[assignment]
    else:
        rows = (row for _, row in read_table(path)) if _named(columns_of(path)) is not None else iter(())
    for row in rows:
        yield from (pair for pair in _of_object(row) if pair is not None)


def _topics(text: str) -> Iterator[tuple[str, str]]:
    """Yield the number and the title or query of each topic of TREC."""
    for block in _TOPIC.split(text)[1:]:
        number = _NUMBER.search(block)
        title = _TITLE.search(block)
        if number is not None and title is not None and (words := " ".join(html.unescape(title[1]).split())):
            yield number[1] or number[2], words


def _of_object(value: Mapping[str, Any]) -> Iterator[tuple[str, str] | None]:
    """Yield the query of a row, or those of an object of ids and texts."""
    names = _named(list(value))
    if names is not None:
        query, text = value[names[0]], value[names[1]]
        yield (str(query), text) if isinstance(query, str | int) and isinstance(text, str) and text.strip() else None
    elif value and all(isinstance(text, str) for text in value.values()):
        yield from value.items()


def _named(names: Sequence[str]) -> tuple[str, str] | None:
    plain = {re.sub(r"[\W_]+", "", name).casefold(): name for name in reversed(names)}
    query = next((plain[one] for one in ("id", *_QUERY) if one in plain), None)
    text = next((plain[one] for one in _TEXT if one in plain), None)
    return None if query is None or text is None else (query, text)
