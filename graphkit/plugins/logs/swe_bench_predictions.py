"""Predictions for SWE-bench: the patch that a system wrote for each instance, and the places that it changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from graphkit.plugins.logs.diffs import changed_files
from graphkit.plugins.logs.payloads import count_unread
from graphkit.plugins.logs.written_places import repository_of_instance
from graphkit.readers.json_values import identifier, text
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, Reader, ReadOptions, UnreadableLogError, Values

PATCH = "model_patch"

NO_RANKING = "what was retrieved are the places that the patch changes, in its order: measures of ranks mean nothing"
SYMBOLS = "the symbol around a change is the last definition above it, as in `import gold swe-bench` without --repo"
EMPTY = "the patch is empty: the system changed nothing"
ADDED = "files that a patch adds are no places of the repository, as in `import gold swe-bench`"
NO_DIFF = "the patch can't be read as a unified diff: its places are unknown"


class SweBenchReader(Reader):
    """Reads rows with ``instance_id``, ``model_name_or_path`` and ``model_patch``, or an object of them by instance."""

    name = "swe-bench"
    finds_edges = False
    priority = 113
    options = ()
    title = "SWE-bench predictions: instance_id, model_name_or_path and model_patch"
    lacks = (
        "A prediction is an answer, the patch, and no search: there is no traversal, no ranking, no time and no token.",
        "The changed files and symbols are what was retrieved: FileRecall, FilePrecision and SymbolRecall compare them "
        "with those of the patch that solved the issue, and say nothing of whether the patch is right.",
    )

    def recognises(self, value: Any) -> bool:
        return _predictions(value) is not None

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        for where, value in values:
            found = _predictions(value)
            if found is None:
                remedy = "Each needs an instance_id and a model_patch."
                raise UnreadableLogError("this is no prediction for SWE-bench", where=where, remedy=remedy)
            for name, row in found:
                count_unread(row, ("instance_id", "model_name_or_path", PATCH), unread)
                yield _answer(where if row is value else f"{where} {name}", name, row)


def _predictions(value: Any) -> list[tuple[str, dict[str, Any]]] | None:
    """Return the predictions in a value, each with its instance; None if it holds none."""
    if not isinstance(value, dict) or not value:
        return None
    if PATCH in value:
        name = identifier(value.get("instance_id"))
        return None if name is None else [(name, value)]
    if all(isinstance(row, dict) and PATCH in row for row in value.values()):
        return [(identifier(row.get("instance_id")) or str(name), row) for name, row in value.items()]
    return None


def _answer(where: str, name: str, row: dict[str, Any]) -> LoggedAnswer:
    answer = LoggedAnswer(where, name, run=text(row.get("model_name_or_path")))
    answer.repository = repository_of_instance(name)
    patch = row[PATCH]
    answer.answer = patch if isinstance(patch, str) else ""
    if not answer.answer.strip():
        answer.answer, answer.retrieved = "", []
        answer.notes.append(EMPTY)
        return answer
    try:
        files = changed_files(answer.answer)
    except ValueError:
        answer.notes.append(NO_DIFF)
        return answer
    if any(file.path is None for file in files):
        answer.notes.append(ADDED)
    places = [
        f"{file.path}#{symbol}" if symbol else file.path
        for file in files
        if file.path is not None
        for symbol in (list(file.symbols) or [""])
    ]
    answer.retrieved = [LoggedChunk(place) for place in dict.fromkeys(places)]
    answer.notes += [NO_RANKING] * (len(answer.retrieved) > 1) + [SYMBOLS] * any(file.symbols for file in files)
    return answer
