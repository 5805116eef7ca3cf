"""Decisions on proposed gold paths: as a person types them, as a sheet holds them, and the gold that follows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from graphkit.errors import InputError
from graphkit.files.atomic import written
from graphkit.files.tables import meant, read_table, write_table
from graphkit.records.path_texts import text_of_steps

Edge = tuple[str, str, str]

#: The columns of a sheet; only those of ``_NEEDED`` are read.
COLUMNS = ("question_id", "question", "path", "commits", "decision")
_NEEDED = ("question_id", "path", "decision")

CHOICES = "a accept, a NAME as an alternative, o optional, o 1 2 only these steps, r reject"


def decided(line: str, steps: Sequence[Edge]) -> dict[str, Any] | None:
    """Return the path as a person accepts it, an empty one for a rejection, or None if the line is no decision.

    >>> decided("a either", [("x", "CALLS", "y")])
    {'group': 'either', 'steps': [{'source': 'x', 'relation': 'CALLS', 'target': 'y'}]}
    """
    word, _, more = line.strip().partition(" ")
    word, more = word.lower(), more.strip()
    if word in ("r", "reject") and not more:
        return {}
    if word in ("a", "accept"):
        return {**({"group": more} if more else {}), "steps": _written(steps, ())}
    if word in ("o", "optional"):
        places = range(1, len(steps) + 1)
        chosen = [int(text) for text in more.split() if text.isdecimal()] if more else list(places)
        if len(chosen) == len(more.split() or places) and set(chosen) <= set(places):
            return {"steps": _written(steps, chosen)}
    return None


def _written(steps: Sequence[Edge], optional: Collection[int]) -> list[dict[str, Any]]:
    return [
        {"source": source, "relation": relation, "target": target, **({"optional": True} if place in optional else {})}
        for place, (source, relation, target) in enumerate(steps, 1)
    ]


@dataclass
class AcceptedPaths:
    """The accepted paths of a question, and the commits that are pinned for them.

    ``pinned`` are the commits that the question is pinned to already.
    """

    pinned: Mapping[str, str]
    paths: list[dict[str, Any]] = field(default_factory=list)
    commits: dict[str, str] = field(default_factory=dict)

    def conflict(self, commits: Mapping[str, str]) -> str | None:
        """Return why a path at some commits doesn't fit the question, or None if it does."""
        already = {**self.pinned, **self.commits}
        other = next((repo for repo, sha in commits.items() if already.get(repo, sha) != sha), None)
        return None if other is None else f"the question is pinned to {other} at {already[other]}"

    def add(self, path: dict[str, Any], commits: Mapping[str, str]) -> None:
        """Add an accepted path at some commits."""
        self.paths.append(path)
        self.commits.update({repo: sha for repo, sha in commits.items() if repo not in self.pinned})


class ProposedPath(NamedTuple):
    """A proposed path of a question, as a sheet has it."""

    question_id: str
    question: str
    steps: Sequence[Edge]
    commits: Mapping[str, str]

    @property
    def key(self) -> tuple[str, str]:
        """The question and the text of the path, by which a row of a sheet is found."""
        return self.question_id, text_of_steps(self.steps)


def write_decisions(path: Path, proposed: Iterable[ProposedPath]) -> None:
    """Write a sheet with a row for each proposed path, whose decisions are to be filled in.

    Raise InputError if the file can't be written.
    """
    with written(path) as temporary:
        write_table(temporary, COLUMNS, map(_row, proposed))


def _row(one: ProposedPath) -> dict[str, str]:
    commits = ", ".join(f"{repo}@{sha}" for repo, sha in one.commits.items())
    return {
        "question_id": one.question_id,
        "question": one.question,
        "path": one.key[1],
        "commits": commits,
        "decision": "",
    }


def read_decisions(
    path: Path, proposed: Iterable[ProposedPath], known: Collection[tuple[str, str]]
) -> Iterator[tuple[ProposedPath, dict[str, Any]]]:
    """Yield each proposed path that a sheet decides on, and the path as accepted, empty for a rejection.

    Raise InputError if the sheet can't be read, a decision isn't understood, or its path isn't proposed.

    ``known`` are the paths that are gold already: a sheet may be read twice.
    """
    by_key = {one.key: one for one in proposed}
    seen: dict[tuple[str, str], str] = {}
    for number, row in read_table(path):
        where = f"{path}:{number}"
        if missing := [name for name in _NEEDED if name not in row]:
            remedy = f"A sheet has the columns {', '.join(COLUMNS)}."
            raise InputError(f"the column {missing[0]!r} is missing", where=where, remedy=remedy)
        key, line = (meant(row["question_id"]), meant(row["path"])), row["decision"].strip()
        if not line or key in known:
            continue
        if (first := seen.setdefault(key, where)) != where:
            raise InputError(f"{first} already decides on this path", where=where, remedy="Remove one of the rows.")
        if (one := by_key.get(key)) is None:
            remedy = "Give the pattern and the --limit that the sheet was written with, or empty the decision."
            raise InputError("the pattern doesn't propose this path for the question", where=where, remedy=remedy)
        if (decision := decided(line, one.steps)) is None:
            raise InputError(f"{line!r} is no decision", where=where, remedy=f"Decide by: {CHOICES}.")
        yield one, decision
