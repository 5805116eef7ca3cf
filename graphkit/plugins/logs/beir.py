"""Results of BEIR and pytrec_eval: an object of questions, each an object of documents with their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphkit.plugins.logs.judgements import JUDGEMENTS, are_gains, as_gold, refuse_judgements
from graphkit.plugins.logs.payloads import QUESTION_IDS, count_unread, plain_key
from graphkit.plugins.logs.trec import ranking
from graphkit.readers.json_values import identifier, number
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, Reader, ReadOptions, UnreadableLogError, Values
from graphkit.records.words import shortened

#: How many questions, and documents of each, a value is recognised by.
LOOKED_AT = 20

#: The keys under which a table of results, or the documents of one question, may be; and those of rows of one document.
_TABLES = ("results", "run", "ranking", "retrieved", "docs", "hits")
_DOCUMENTS = ("docid", "docno", "documentid", "corpusid", "pid")
_SCORES = ("score", "similarity")


class BeirReader(Reader):
    """Reads results."""

    name = "beir"
    priority = 20
    finds_edges = False
    options = ()
    title = "BEIR and pytrec_eval results: {qid: {docid: score}}, and rows of a question, a document and its score"
    lacks = (
        "Results are a ranking and nothing else: no traversal, no text, no answer, no times and no tokens.",
        "The order is that of trec_eval: by score in single precision, equal ones by the document's name backwards.",
    )

    def refuse(self, path: Path) -> None:
        refuse_judgements(path)

    def recognises(self, value: Any) -> bool:
        return _table(value) is not None or _of_question(value) is not None or _of_document(value) is not None

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        rows: dict[str, tuple[str, dict[str, Any]]] = {}
        first = ""
        for where, value in values:
            first = first or where
            if not isinstance(value, dict):
                raise _refused(where, "it is no object of questions")
            if (row := _of_document(value)) is not None:
                question, document, score, used = row
                _, scores = rows.setdefault(question, (where, {}))
                if document in scores:
                    what = f"the document {shortened(document)!r} stands twice for the question {shortened(question)!r}"
                    raise _refused(where, what)
                scores[document] = score
                count_unread(value, used, unread)
            elif (asked := _of_question(value)) is not None:
                question, key = asked
                count_unread(value, (key, *_question_keys(value)), unread)
                yield _answer(f"{where} {shortened(question)}", question, value[key])
            else:
                held = _table(value)
                count_unread(value, (held,) if held else value, unread)
                _refuse_gains(value[held] if held else value, where)
                for question, documents in (value[held] if held else value).items():
                    yield _answer(f"{where} {shortened(question)}", question, documents)
        _refuse_gains({question: scores for question, (_, scores) in rows.items()}, first)
        for question, (where, scores) in rows.items():
            yield _answer(f"{where} {shortened(question)}", question, scores)


def _refuse_gains(given: Mapping[str, Any], where: str) -> None:
    """Raise UnreadableLogError if the scores of documents by question are gains: what was judged wasn't ranked."""
    found = [list(documents.values()) for documents in given.values() if isinstance(documents, dict)]
    if all(type(score) is int for each in found for score in each) and are_gains(found):
        file = where.partition(" ")[0].rpartition(":")[0]
        raise UnreadableLogError(JUDGEMENTS, where=where, remedy=as_gold(file))


def _answer(where: str, question: str, documents: Any) -> LoggedAnswer:
    if not isinstance(documents, dict):
        raise _refused(where, "the question has no object of documents")
    given = {name: score for name, one in documents.items() if (score := number(one)) is not None}
    if len(given) < len(documents):
        bad = next(name for name in documents if name not in given)
        raise _refused(where, f"the score of {shortened(bad)!r} is no finite number")
    return LoggedAnswer(where, question, retrieved=[LoggedChunk(name, score=score) for name, score in ranking(given)])


def _table(value: Any) -> str | None:
    """Return the key of a table of results, an empty text if the value itself is the table, or None."""
    if not isinstance(value, dict):
        return None
    if _is_table(value):
        return ""
    return next((key for key in _TABLES if _is_table(value.get(key))), None)


def _is_table(value: Any) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    looked = [value[name] for name, _ in zip(value, range(LOOKED_AT), strict=False)]
    return any(looked) and all(map(_is_scored, looked))


def _is_scored(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(one, int | float) and not isinstance(one, bool)
        for one, _ in zip(value.values(), range(LOOKED_AT), strict=False)
    )


def _of_question(value: Any) -> tuple[str, str] | None:
    """Return the question of a row, and the key of its documents with their scores."""
    if not isinstance(value, dict):
        return None
    keys = _question_keys(value)
    key = next((key for key in _TABLES if value.get(key) and _is_scored(value[key])), None)
    question = identifier(value[keys[0]]) if keys else None
    return None if question is None or key is None else (question, key)


def _of_document(value: Any) -> tuple[str, str, Any, tuple[str, ...]] | None:
    """Return the question, the document and the score of a row that has one of each, and the keys that hold them."""
    if not isinstance(value, dict):
        return None
    held, asked = _names(value), _question_keys(value)
    documents = [held[name] for name in _DOCUMENTS if name in held]
    scores = [held[name] for name in _SCORES if name in held]
    if not asked or not documents or not scores:
        return None
    question, document = identifier(value[asked[0]]), identifier(value[documents[0]])
    used = (asked[0], documents[0], scores[0], held.get("rank", ""))
    return None if question is None or document is None else (question, document, value[scores[0]], used)


def _question_keys(value: Mapping[str, Any]) -> list[str]:
    held = _names(value)
    return [held[name] for name in QUESTION_IDS if name in held]


def _names(value: Mapping[str, Any]) -> dict[str, str]:
    return {plain_key(name): name for name in value}


def _refused(where: str, what: str) -> UnreadableLogError:
    return UnreadableLogError(what, where=where, remedy="Results are {question: {document: score}}.")
