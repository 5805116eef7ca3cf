"""How the gold of a run differs from that of its baseline, and one dataset by which both can be scored."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from graphkit.analysis.findings import listed
from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import read_lines
from graphkit.files.known_ids import read_known
from graphkit.files.leftovers import held_folder
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.measures.case import Case
from graphkit.measures.matching import Edge, same_edge
from graphkit.measures.sided_case import sided
from graphkit.plugins.compare.gold_renames import gold_names, recorded_renames, renamed
from graphkit.records.commits import CommitGraph
from graphkit.records.gold import NOT_GOLD
from graphkit.records.structs import AnswerStruct, GoldPathStruct, QuestionStruct, StepStruct
from graphkit.records.words import counted

#: The fields that say at which commits gold is true: a rename moves them.
PINS = frozenset(("commits", "stack"))

#: How many changed questions a sentence names.
NAMED = 5


@dataclass(frozen=True, slots=True)
class QuestionChange:
    """The gold of one question, of which the later dataset removed and added some parts.

    ``missed`` are the removed parts that the run doesn't have.
    """

    question: str
    removed: tuple[str, ...]
    added: tuple[str, ...]
    missed: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What was removed and added."""
        parts = [
            f"{what} {listed(list(some), NAMED)}"
            for what, some in (("removed", self.removed), ("added", self.added))
            if some
        ]
        return f"{self.question}: {'; '.join(parts)}"


@dataclass(frozen=True, slots=True)
class GoldDifference:
    """How the gold of a run differs from that of its baseline.

    Attributes
    ----------
    added, removed
        The questions that only the run's dataset and only the baseline's has.
    changed
        The questions of both whose gold differs, after the renames that ``gold migrate`` recorded.
    meant
        Whether both runs are scored by the new gold, since the change is meant; else by that of the baseline.
    renamed
        The names in the baseline's gold that are read under later ones, as pairs: what says so is part of the change.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[QuestionChange, ...] = ()
    meant: bool = False
    renamed: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.renamed)

    @property
    def missed(self) -> list[str]:
        """The questions of which gold was removed that the run misses: a removed question is missed as a whole."""
        return [*self.removed, *(one.question for one in self.changed if one.missed)]

    @property
    def sentence(self) -> str:
        """How the gold differs, by name, and by which both are scored."""
        changed = [one.question for one in self.changed]
        kinds = (("added", self.added), ("removed", self.removed), ("with other gold", changed))
        parts = [
            f"{counted(len(some), 'question')} {what} ({listed(list(some), NAMED)})" for what, some in kinds if some
        ]
        if self.renamed:
            names = listed([f"{old} to {new}" for old, new in self.renamed], NAMED)
            parts.append(f"{counted(len(self.renamed), 'name')} renamed ({names})")
        by = "the new gold" if self.meant else "the baseline's gold"
        return f"gold differs from the baseline's: {', '.join(parts)}; both runs are scored by {by}"

    def as_json(self) -> dict[str, Any]:
        """Return the fields."""
        changed = [{name: getattr(one, name) for name in QuestionChange.__slots__} for one in self.changed]
        facts = {"added": self.added, "removed": self.removed, "changed": changed, "meant": self.meant}
        return {**facts, "renamed": dict(self.renamed)}


@dataclass(frozen=True)
class GoldOfBoth:
    """The questions of a baseline and of a later dataset, by id.

    Attributes
    ----------
    baseline, later
        The questions of each, as it writes them.
    moved
        Those of the baseline under the names of the later dataset, where that no longer has the old ones.
    back
        The old name of each new one.
    renamed
        The names in the baseline's gold that are other ones in ``moved``.
    commits
        The commits of the baseline's dataset; empty if none of its gold paths has commits of its own.
    """

    baseline: Mapping[str, QuestionStruct]
    later: Mapping[str, QuestionStruct]
    moved: Mapping[str, QuestionStruct]
    back: Mapping[str, str]
    renamed: Mapping[str, str]
    commits: CommitGraph = field(default_factory=CommitGraph)

    @classmethod
    def read(cls, baseline: Dataset, later: Dataset) -> GoldOfBoth:
        """Read the questions of both; what can't be used is reported elsewhere."""
        old, new = ({one.id: one for one in some.every_question()} for some in (baseline, later))
        renames = _believed(recorded_renames(later.folder), baseline, old)
        moved, used = dict(old), dict[str, str]()
        for name, question in old.items() if renames else ():
            names = {*gold_names(new[name])} if name in new else {*renames}
            own = {was: to for was, to in renames.items() if was not in names}
            moved[name] = _moved(question, own)
            used |= {was: own[was] for was in gold_names(question) if was in own}
        back = {new: old for old, new in (*renames.items(), *used.items())}
        about_sides = any(path.commits for question in old.values() for path in question.paths)
        commits = baseline.commit_graph(Problems("skip")) if about_sides else CommitGraph()
        return cls(old, new, moved, back, dict(sorted(used.items())), commits)

    def change(self, run: Mapping[str, AnswerStruct], meant: bool = False) -> GoldDifference:
        """Return how the gold differs, and which removed parts a run lacks, given its records of changed questions."""
        old, new = self.moved, self.later
        changed = []
        for question in self.differing():
            before, after = _parts(old[question]), _parts(new[question])
            removed, added = before - after, after - before
            if not removed and not added:  # the same steps, in other paths or in another order
                paths = _paths(old[question]), _paths(new[question])
                removed, added = ({*map(_GoldPart, some)} for some in (paths[0] - paths[1], paths[1] - paths[0]))
            case = Case(old[question], run.get(question), self.commits)
            missed = {part for part in removed if _is_missed(part, case)}
            texts = (tuple(sorted(part.text for part in some)) for some in (removed, added, missed))
            changed.append(QuestionChange(question, *texts))
        return GoldDifference(
            tuple(sorted(new.keys() - old.keys())),
            tuple(sorted(old.keys() - new.keys())),
            tuple(changed),
            meant,
            tuple(self.renamed.items()),
        )

    def differing(self) -> list[str]:
        """Return the questions of both whose gold differs, whatever the commits that the questions are pinned to.

        The commits of a path are gold: they decide which edges of a traversal match it.
        """
        both = {one: (self.moved[one], self.later[one]) for one in sorted(self.moved.keys() & self.later.keys())}
        return [one for one, (old, new) in both.items() if _parts(old) != _parts(new) or _paths(old) != _paths(new)]

    def by_baseline(self, questions: Iterable[str]) -> dict[str, QuestionStruct]:
        """Return questions with the baseline's gold, at the commits of the later dataset."""
        return {one: _pinned(self.moved[one], self.later[one]) for one in questions}

    def by_later(self, questions: Iterable[str]) -> dict[str, QuestionStruct]:
        """Return questions with the later gold, under the names and at the commits of the baseline."""
        return {one: _pinned(_moved(self.later[one], self.back), self.baseline[one]) for one in questions}


def _believed(renames: Mapping[str, str], baseline: Dataset, questions: Mapping[str, QuestionStruct]) -> dict[str, str]:
    """Return the renames that are some: not to a name that the baseline has for something else, nor of two to one."""
    if not renames:
        return {}
    names = {name for question in questions.values() for name in gold_names(question)}
    held = read_known(baseline, questions.values(), {*renames.values()})[0].all() | names
    ends = Counter(renames[name] for name in names & renames.keys())
    return {old: new for old, new in renames.items() if ends[new] < 2 and (new not in held or new in renames)}


@contextmanager
def with_questions(dataset: Dataset, questions: Mapping[str, QuestionStruct]) -> Iterator[Dataset]:
    """Yield a temporary copy of a dataset in which some questions are replaced, by id."""
    with held_folder() as folder:
        place = folder / dataset.name
        place.mkdir()
        for path in (*dataset.files(), dataset.folder / "dataset.json"):
            if path != dataset.questions_file and path.is_file():
                _link(path, place / path.name)
        lines = dict(read_lines(dataset.questions_file))
        with (place / "questions.jsonl").open("wb") as stream:
            for number, one in RecordReader(dataset.questions_file, QuestionStruct, Problems("skip")):
                line = lines[number] if one.id not in questions else msgspec.json.encode(_as_plain(questions[one.id]))
                stream.write(line + b"\n")
        yield Dataset(place, principal=dataset.principal)


def _link(path: Path, target: Path) -> None:
    try:
        target.symlink_to(path.resolve())
    except OSError:  # a file system without links
        shutil.copyfile(path, target)


def _as_plain(question: QuestionStruct) -> dict[str, Any]:
    """Return the fields that have a value."""
    fields: dict[str, Any] = msgspec.to_builtins(question)
    return {name: value for name, value in fields.items() if value not in (None, [], {})}


def _moved(question: QuestionStruct, renames: Mapping[str, str]) -> QuestionStruct:
    return msgspec.convert(renamed(_as_plain(question), renames), QuestionStruct) if renames else question


def _pinned(question: QuestionStruct, other: QuestionStruct) -> QuestionStruct:
    return replace(question, commits=other.commits, stack=other.stack)


class _GoldPart(NamedTuple):
    """A part of a question's gold; ``edge`` or ``relevant`` is what a run can be asked for."""

    text: str
    edge: Edge | None = None
    relevant: str | None = None
    side: str = ""


def _step(step: StepStruct) -> str:
    return f"{step.source} -{step.relation or ''}-> {step.target}{' (optional)' if step.optional else ''}"


def _side(path: GoldPathStruct) -> str:
    """Return the commits of a gold path as words; empty if it has none of its own."""
    return " at " + ", ".join(f"{repo} {name}" for repo, name in sorted(path.commits.items())) if path.commits else ""


def _paths(question: QuestionStruct) -> Counter[str]:
    """Return the paths as texts: their steps in order."""
    return Counter(f"path {', '.join(map(_step, path.steps))}{_side(path)}" for path in question.paths)


def _parts(question: QuestionStruct) -> set[_GoldPart]:
    parts = set[_GoldPart]()
    for path in question.paths:
        steps, side = [*map(_step, path.steps)], _side(path)
        parts.update(
            _GoldPart(text + side, (step.source, step.relation, step.target), side=side)
            for text, step in zip(steps, path.steps, strict=True)
        )
        if path.group is not None:
            parts.add(_GoldPart(f"alternative of {path.group}: {', '.join(steps)}{side}"))
    for name, gain in question.relevant.items():
        parts.add(_GoldPart(name if gain == 1 else f"{name} ({gain:g})", relevant=name))
    for name, value in _as_plain(question).items():
        if name not in NOT_GOLD and name not in PINS and name not in ("paths", "relevant"):
            for item in value if isinstance(value, list) else [value]:
                parts.add(_GoldPart(f"{name} {json.dumps(item, ensure_ascii=False, sort_keys=True)}"))
    return parts


def _is_missed(part: _GoldPart, case: Case) -> bool:
    """Return whether a run lacks a part of gold that it can be asked for, of several sides at its own."""
    if part.edge is not None:
        compared, paths = sided(case), [path for path in case.question.paths if path.steps]
        return not any(
            is_walked(edge, compared.walked)
            for path, plain, gold in zip(paths, case.gold, compared.gold, strict=True)
            for own, edge in zip(plain.edges, gold.edges, strict=True)
            if own == part.edge and _side(path) == part.side
        )
    return part.relevant is not None and part.relevant not in case.ranks


def is_walked(edge: Edge, walked: Iterable[Edge]) -> bool:
    """Return whether a traversal holds an edge."""
    return any(same_edge(edge, one) for one in walked)
