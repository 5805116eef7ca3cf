"""The fields of a question in a row of somebody else's file, recognised by their names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from graphkit.plugins.logs.reprs import printed
from graphkit.records.aliases import QUESTION
from graphkit.records.gold import LONGEST_ANSWER
from graphkit.records.models import Question
from graphkit.records.path_texts import WrittenPath, has_arrow, paths_of_text, steps_of_text

#: Further common names, beside those that records accept.
_COMMON: Mapping[str, tuple[str, ...]] = {
    "id": ("qid", "number", "nr", "no", "key", "identifier", "question_no", "question_number"),
    "question": ("prompt", "question_text", "text", "input"),
    "gold_answer": ("expected_answer", "correct_answer", "reference_answer", "gold", "expected", "solution"),
    "paths": ("path", "gold_path", "expected_path", "expected_paths", "reasoning_path", "triples", "chain"),
    "relevant": ("relevant_documents", "documents", "docs", "sources", "expected_sources", "evidence", "nodes"),
    "expected_files": ("files", "file", "source", "source_file"),
    "expected_symbols": ("symbols", "symbol"),
    "category": ("type", "topic", "domain"),
    "difficulty": ("level",),
    "split": ("subset", "fold", "partition"),
    "relevant_texts": ("reference_contexts",),
    "gold_cypher": ("cypher", "cypher_query", "gold_query"),
    "facts": ("fact", "key_facts", "key_points"),
}

#: The field of each name, and how close the name is to the field's own.
_FIELDS: dict[str, tuple[str, int]] = {}
for _field in Question.model_fields:
    for _rank, _name in enumerate((_field, *QUESTION.get(_field, ()), *_COMMON.get(_field, ()))):
        _FIELDS.setdefault(_name, (_field, _rank))

#: The end of a file's name: a question's ``source`` is a file that answers it, or where the question is from.
_FILE = re.compile(r"\.[A-Za-z]\w{0,9}\Z")

#: How tables write whether a question has an answer.
_ANSWERABLE = {"true": True, "yes": True, "false": False, "no": False}

#: Fields whose cell in a table is a list.
_LISTS = ("relevant", "expected_files", "expected_symbols", "facts", "conflicts", "gold_answers", "relevant_texts")


def field_of(name: str) -> tuple[str, int] | None:
    """Return the field that a column means, and the rank of its name; None if no field has such a name.

    >>> field_of("Ground Truth"), field_of("gold-path 2"), field_of("owner")
    (('gold_answer', 1), ('paths', 3), None)
    """
    plain = re.sub(r"[\W_]+", "_", name.strip().casefold()).strip("_")
    return _FIELDS.get(plain) or _FIELDS.get(re.sub(r"_?\d+$", "", plain))


def fields_of(row: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the fields of the question in a row, and the columns that aren't used.

    Of several columns for one field, the one whose name is closest to the field's counts; columns of paths add up.
    Paths that are texts or lists of names are :class:`graphkit.records.path_texts.WrittenPath`, since only all rows
    of a file decide what every second name is.

    Raises
    ------
    ValueError
        A path can't be read.
    """
    row = Question.in_own_fields(row)
    found: dict[str, tuple[int, Any]] = {}
    paths: list[Any] = []
    unused: list[str] = []
    named = [(name, field_of(name), value) for name, value in row.items() if value not in (None, "", [], {})]
    for name, meaning, value in sorted(named, key=lambda one: one[1][1] if one[1] else 0):
        if meaning is not None and "category" in found and name.strip().casefold() == "domain":
            meaning = ("group", meaning[1])
        answers = _answers(value) if meaning is not None and meaning[0] == "gold_answer" else None
        if meaning is not None and answers is not None:
            meaning, value = ("gold_answers", meaning[1]), answers
        names_no_file = name.casefold() == "source" and not (isinstance(value, str) and _FILE.search(value))
        if meaning is None or names_no_file or (meaning[0] in found and meaning[0] != "paths"):
            unused.append(name)
        elif meaning[0] == "paths":
            paths += _paths(value, name.casefold())
        else:
            found[meaning[0]] = meaning[1], _value(meaning[0], value)
    fields = {name: value for name, (_, value) in found.items()}
    return fields | ({"paths": paths} if paths else {}), unused


def _answers(value: Any) -> list[str] | None:
    """Return the answers in a list under the name of one answer, which may be JSON in a cell; None for one answer."""
    found = _decoded(value) if isinstance(value, str) and value[:1] == "[" else value
    if not isinstance(found, list) or not all(isinstance(one, str | int | float) for one in found):
        return None
    return [str(one) for one in found]


def _value(field: str, value: Any) -> Any:
    """Return the value of a field; in a table every value is a text."""
    if not isinstance(value, str):
        # An id may be a number, and other texts of YAML and JSON too, such as the answer 42.
        if field == "gold_answers" and (answers := _answers(value)) is not None:
            return answers
        return str(value) if field in ("question", "gold_answer") and isinstance(value, int | float) else value
    if (
        field in ("absent", "commits", "evidence_sets", "criteria", "min_sources", "k", *_LISTS)
        and (decoded := _decoded(value)) is not None
    ):
        return decoded
    if field in _LISTS:
        if value[:1] == "[" and isinstance(parsed := printed(value), list):
            return parsed
        return [
            part for text in re.split(r"[;\n]" if field == "facts" else r"[;\n]|,\s", value) if (part := text.strip())
        ]
    if field == "answerable":
        return _ANSWERABLE.get(value.casefold(), value)
    if field == "absent":
        return [step for part in re.split(r"[;\n]", value) if part.strip() for step in steps_of_text(part)]
    if field in ("difficulty", "why_not"):
        return value.casefold()
    return value


def _paths(value: Any, column: str) -> list[Any]:
    """Return gold paths. A list is several paths or one, as the name of its column says."""
    stated = "triple" in column
    if isinstance(value, str):
        decoded = _decoded(value)
        return list(paths_of_text(value, stated=stated)) if decoded is None else _paths(decoded, column)
    if not isinstance(value, list):
        return [value]
    if all(isinstance(item, str) for item in value) and any(map(has_arrow, value)):
        return [path for item in value for path in paths_of_text(item, stated=stated)]
    if not column.endswith("paths") or all(isinstance(item, dict) and "steps" not in item for item in value):
        return [_listed(value, stated)]
    return [
        path
        for item in value
        for path in (paths_of_text(item, stated=stated) if isinstance(item, str) else [_listed(item, stated)])
    ]


def _listed(path: Any, stated: bool) -> Any:
    """Return a path that may be a list of names."""
    if not isinstance(path, list) or len(path) < 2 or not all(isinstance(name, str) and name for name in path):
        return path
    return WrittenPath(tuple(path), ((None, False),) * (len(path) - 1), len(path) == 3, stated)


def _decoded(text: str) -> Any:
    """Return the JSON in a cell, or None if the cell is plain text."""
    if text[:1] not in ("[", "{") and not text.isdecimal():
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


#: The kinds of gold, with the words for them; the first ones are counted even if no question has them.
GOLD_KINDS = {
    "paths": "gold paths",
    "relevant": "relevant ids",
    "expected_files": "files",
    "gold_answer": "answers",
    "evidence_sets": "evidence sets",
    "relevant_texts": "texts of evidence",
    "gold_cypher": "gold queries",
    "expected_symbols": "symbols",
    "facts": "facts",
    "long_answer": "answers of more than 5 words",
}
_ALWAYS = 4


def gold_kinds(questions: Iterable[Question]) -> dict[str, int]:
    """Return how many questions have each kind of gold; an answer is long if another may say it in other words.

    A question without an answer has none, whatever a table expects to be said of it.
    """
    counts = dict.fromkeys(GOLD_KINDS, 0)
    for question in (one for one in questions if one.answerable is not False):
        one = question.gold_answer or ""
        short = bool(question.gold_answers or question.expected_output) or 0 < len(one.split()) <= LONGEST_ANSWER
        held = {"gold_answer": short, "long_answer": bool(one) and not short}
        for kind in GOLD_KINDS:
            counts[kind] += bool(held[kind] if kind in held else getattr(question, kind))
    return {kind: count for place, (kind, count) in enumerate(counts.items()) if count or place < _ALWAYS}
