"""Gold edges that would follow their files, but that the later commit doesn't show."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.plugins.gold.gold_places import place
from graphkit.plugins.gold.renames import SHORT, Between
from graphkit.records.ids import Places
from graphkit.records.structs import StepStruct


@dataclass(frozen=True, slots=True)
class UnprovenEdge:
    """A gold edge under its new names that the target of a repository doesn't show, with the reason."""

    repo: str
    question: str
    source: str
    relation: str | None
    target: str
    why: str

    @property
    def text(self) -> str:
        """The edge for messages."""
        return f"{self.source} -{self.relation or ''}-> {self.target}"


@dataclass(frozen=True, slots=True)
class MovedEdge:
    """A gold edge of a question, with the new names in a repository and the commits before and after."""

    repo: str
    question: str
    step: StepStruct
    renames: Mapping[str, str]
    between: Between
    places: Places

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends under their new names."""
        source, target = self.step.source, self.step.target
        return self.renames.get(source, source), self.renames.get(target, target)

    def is_known(self, edges: Collection[tuple[str, str | None, str]]) -> bool:
        """Return whether known edges contain this edge; an edge without a relation may have any."""
        source, target = self.ends
        return (source, self.step.relation, target) in edges

    def lost_its_word(self) -> str | None:
        """Return why the text of a file contradicts the edge, or None if it doesn't.

        The old text of one end has to contain the name of the other; otherwise the texts decide nothing.
        """
        old = (self.step.source, self.step.target)
        held = [end for end in (0, 1) if self._mentions(old, end, new=False)]
        if not held or any(self._mentions(self.ends, end, new=True) for end in held):
            return None
        own = place(self.repo, self.ends[held[0]], self.places)
        return f"{own.path if own else ''} doesn't mention {self._word(self.ends[1 - held[0]])} any more"

    def _mentions(self, ends: tuple[str, str], end: int, *, new: bool) -> bool:
        own, other = (place(self.repo, ends[one], self.places) for one in (end, 1 - end))
        text = self.between.text(own.path, new=new) if own is not None else None
        word = self._word(ends[1 - end])
        if text is None or not word or own is None:
            return False
        # A file that defines a symbol contains its name anyway; only a second place mentions it.
        needed = 2 if other is not None and other.path == own.path else 1
        return len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", text)) >= needed

    def _word(self, name: str) -> str:
        """Return the word with which code mentions a symbol or a file: the last part of its name."""
        own = self.places.symbol(name) or PurePosixPath(name.rpartition(":")[2]).stem
        return re.split(r"\W+", own)[-1]


def unproven_edges(edges: Iterable[MovedEdge], dataset: Dataset, graphs: Collection[str]) -> list[UnprovenEdge]:
    """Return the edges that the later commit doesn't show.

    The dataset's knowledge graphs at that commit decide, or without such graphs the texts of the files. Edges whose
    evidence isn't static are ignored.

    ``graphs`` are the names of the knowledge graphs at the later commit.
    """
    wanted = [one for one in edges if one.step.evidence in (None, "static")]
    known = _known(dataset, graphs, {one.ends for one in wanted})
    found: dict[UnprovenEdge, None] = {}
    for one in wanted:
        if known is None:
            why = one.lost_its_word()
        else:
            why = None if one.is_known(known) else f"no edge of the dataset at {one.between.sha[:SHORT]} is this one"
        if why is not None:
            source, target = one.ends
            found[UnprovenEdge(one.repo, one.question, source, one.step.relation, target, why)] = None
    return list(found)


def _known(
    dataset: Dataset, graphs: Collection[str], wanted: Collection[tuple[str, str]]
) -> set[tuple[str, str | None, str]] | None:
    """Return the edges of some knowledge graphs between wanted ends, with and without relation; None without edges."""
    paths = [path for name, (_, path) in dataset.graphs.items() if name in graphs and path is not None]
    if not paths:
        return None
    found: set[tuple[str, str | None, str]] = set()
    for path in paths:
        for edge in dataset.edges(path, Problems("skip")):
            if (edge.source, edge.target) in wanted:
                found |= {(edge.source, edge.relation, edge.target), (edge.source, None, edge.target)}
    return found
