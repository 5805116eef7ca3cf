"""The places of the names in a question's gold: paths in repositories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from graphkit.files.known_ids import gold_ids
from graphkit.plugins.compare.gold_renames import gold_names
from graphkit.records.ids import Places
from graphkit.records.structs import QuestionStruct


class Placed(NamedTuple):
    """A name with a path in a repository: ``repo:path#symbol``, ``repo:path``, ``repo/path``, or a path alone.

    Attributes
    ----------
    start
        The position of the path in the name.
    loose
        Whether the name counts only if there is such a file.
    """

    name: str
    start: int
    path: str
    loose: bool = False

    def at(self, path: str) -> str:
        """Return the name with another path."""
        return f"{self.name[: self.start]}{path}{self.name[self.start + len(self.path) :]}"


def names_in(repo: str, question: QuestionStruct, places: Places) -> list[Placed]:
    """Return the names of a repository in a question's gold."""
    found = [placed for name in dict.fromkeys(gold_names(question)) if (placed := place(repo, name, places))]
    if not found:
        return []
    # Conflicting sources and arguments of calls are free text and may be names. A file without a repository belongs to
    # the only one in the gold.
    given = list(dict.fromkeys(text for call in question.expected_tool_calls for text in _texts(call.arguments)))
    free = [name for conflict in question.conflicts for name in conflict.between] + given
    found += [placed._replace(loose=True) for name in free if (placed := place(repo, name, places))]
    if {places.repo(name) for name in gold_ids(question)} <= {repo}:
        files = (*question.expected_files, *given)
        bare = (name for name in files if ":" not in name and not name.startswith(f"{repo}/"))
        found += [Placed(name, 0, places.file(name), loose=True) for name in bare]
    return found


def _texts(value: Any) -> Iterator[str]:
    """Yield the strings in the arguments of a call."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def place(repo: str, name: str, places: Places) -> Placed | None:
    """Return the place of a name in a repository, or None for a name of another repository."""
    path = (places.path(name) if places.repo(name) == repo else None) if ":" in name else None
    if path is None and ":" not in name and places.file(name).startswith(f"{repo}/"):
        path = places.file(name)[len(repo) + 1 :]
    return Placed(name, len(repo) + 1, path) if path else None
