"""Proposes gold for a later commit, after artifacts were renamed or moved."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from graphkit.errors import InputError, did_you_mean
from graphkit.files.atomic import together
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.plugins.compare.gold_renames import gold_names, record_renames, renamed
from graphkit.plugins.gold.gold_places import Placed, names_in
from graphkit.plugins.gold.question_file import QuestionLines
from graphkit.plugins.gold.renames import SHORT, Between, commit_of
from graphkit.plugins.gold.unproven import MovedEdge, UnprovenEdge, unproven_edges
from graphkit.records.aliases import QUESTION
from graphkit.records.ids import Places
from graphkit.records.structs import ArtifactStruct, GoldPathStruct, QuestionStruct

if TYPE_CHECKING:
    from dulwich.repo import Repo

#: A symbol in more places than this is too common to be found by its name.
MOST_PLACES = 5

#: The doubt about a symbol in another file.
_ALIKE = "only the name of the symbol matches"

#: The fields of a question, beside its paths, that may hold the names of several versions at once.
_OF_SEVERAL = ("relevant", *QUESTION["relevant"], "expected_files")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible new name of a gold artifact.

    Attributes
    ----------
    renames
        The new name for each old one in the gold.
    doubt
        Why it may be something else; None if only the new path has the old content.
    """

    new: str
    why: str
    doubt: str | None
    renames: Mapping[str, str]

    @property
    def certain(self) -> bool:
        """Whether there is no doubt."""
        return self.doubt is None


@dataclass(frozen=True, slots=True)
class GoldChange:
    """A moved file or artifact in the gold, with its possible new places, the likeliest first."""

    repo: str
    pin: str
    old: str
    candidates: tuple[Candidate, ...]
    questions: tuple[str, ...]

    @property
    def certain(self) -> list[Candidate]:
        """The candidates without doubt."""
        return [each for each in self.candidates if each.certain]

    @property
    def doubt(self) -> str:
        """Why the likeliest candidate may be wrong, and how many others there are."""
        first, more = self.candidates[0], len(self.candidates) - 1
        others = f"; {more} more of them" if more else ""
        return f"{self.old} -> {first.new}: {first.why}, but {first.doubt}{others}"


@dataclass(frozen=True, slots=True)
class GoneGold:
    """A name in the gold whose new place is unknown, with the reason."""

    repo: str
    pin: str
    name: str
    why: str
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Moving:
    """The gold paths of a question, by their places, that are about a commit of their own and move with it.

    ``kept`` are the files that its other paths name: they stay.
    """

    paths: frozenset[int]
    kept: frozenset[str]


@dataclass
class _Pinned:
    """The names that questions, or some paths of them, pinned to one commit of a repository use.

    ``names`` are those of each question, by its line; ``unresolved`` names have no known new place, with the reason.
    ``moving`` are the questions of which some paths have commits of their own in the repository.
    """

    repo: str
    pin: str
    between: Between
    names: dict[int, set[str]] = field(default_factory=dict)
    placed: dict[str, Placed] = field(default_factory=dict)
    changes: list[GoldChange] = field(default_factory=list)
    unresolved: dict[str, str] = field(default_factory=dict)
    moving: dict[int, _Moving] = field(default_factory=dict)

    def add(self, number: int, placed: Iterable[Placed]) -> None:
        """Add the names of the question at a line."""
        self.names[number] = {one.name for one in placed}
        for one in placed:
            if one.name not in self.placed or self.placed[one.name].loose:
                self.placed[one.name] = one

    def renames(self) -> dict[str, str]:
        """Return the new name of each old one, by the likeliest candidates."""
        return {old: new for change in self.changes for old, new in change.candidates[0].renames.items()}


@dataclass
class Migration:
    """The proposed changes of gold, and the questions without any.

    Attributes
    ----------
    targets
        The target commit of each repository.
    skipped
        The ids of skipped questions with the reasons.
    unmoved
        The number of questions with no moved name.
    unproven
        Gold edges, under their new names, that the target doesn't show.
    """

    file: QuestionLines
    targets: dict[str, str] = field(default_factory=dict)
    pinned: list[_Pinned] = field(default_factory=list)
    skipped: dict[str, list[str]] = field(default_factory=dict)
    unmoved: int = 0
    unproven: list[UnprovenEdge] = field(default_factory=list)

    @property
    def changes(self) -> list[GoldChange]:
        """All proposed changes."""
        return [change for one in self.pinned for change in one.changes]

    @property
    def certain(self) -> list[Candidate]:
        """The candidates without doubt, which may be accepted without a person."""
        return [each for change in self.changes for each in change.certain]

    @property
    def uncertain(self) -> list[GoldChange]:
        """The changes of which no candidate is certain; a person decides on them."""
        return [change for change in self.changes if not change.certain]

    @property
    def gone(self) -> list[GoneGold]:
        """The names without a known new place."""
        return [
            GoneGold(one.repo, one.pin, name, why, self.naming(one, [name]))
            for one in self.pinned
            for name, why in one.unresolved.items()
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the proposals, and the gold without any, as JSON."""
        return {
            "to": self.targets,
            "proposed": [
                asdict(change)
                | {"candidates": [{**asdict(each), "certain": each.certain} for each in change.candidates]}
                for change in self.changes
            ],
            "gone": [asdict(one) for one in self.gone],
            "unproven": [asdict(edge) for edge in self.unproven],
            "left_out": self.skipped,
            "unmoved": self.unmoved,
        }

    def skip(self, number: int, why: str) -> None:
        """Skip the question at a line."""
        self.skipped.setdefault(self.file.questions[number].id, []).append(why)

    def naming(self, one: _Pinned, names: Iterable[str]) -> tuple[str, ...]:
        """Return the questions at a pinned commit that use one of some names."""
        wanted = set(names)
        return tuple(self.file.questions[number].id for number, held in one.names.items() if held & wanted)

    def apply(
        self, accepted: Iterable[Candidate], *, only_proven: bool = False
    ) -> tuple[list[str], dict[str, list[str]]]:
        """Write the accepted changes to each question whose names in a repository are all resolved.

        Such a question gets the new names, and the target as the commit of that repository; the renames are recorded
        beside the questions. A question with an open
        name stays unchanged, since half-changed gold would fit no commit. With ``only_proven``, a question with an edge
        that the target doesn't show stays unchanged too.

        Raise InputError if a question can't hold its new names, or the file can't be written or was changed meanwhile.

        Returns
        -------
        tuple
            The changed questions; and the open names of unchanged questions with an accepted change.
        """
        given = {id(candidate) for candidate in accepted}
        fields: dict[int, dict[str, Any]] = {}
        open_names: dict[str, list[str]] = {}
        written: dict[str, str] = {}
        for one in self.pinned:
            chosen = [each for change in one.changes for each in change.candidates if id(each) in given]
            renames = {old: new for candidate in chosen for old, new in candidate.renames.items()}
            moved = {old for change in one.changes for each in change.candidates for old in each.renames}
            for number, names in one.names.items():
                if not names & renames.keys():
                    continue
                question = self.file.questions[number].id
                still = sorted((names & (moved | one.unresolved.keys())) - renames.keys())
                if (moving := one.moving.get(number)) is not None:
                    own = {old: new for old, new in renames.items() if old in names}
                    still += _of_both(self.file.fields[number], own, one, moving)
                if only_proven:
                    still += [edge.text for edge in self.unproven if (edge.question, edge.repo) == (question, one.repo)]
                if still:
                    open_names.setdefault(question, []).extend(still)
                    continue
                written |= {old: new for old, new in renames.items() if old in names}
                held = fields.get(number, self.file.fields[number])
                if (moving := one.moving.get(number)) is not None:
                    own = {old: new for old, new in renames.items() if old in names}
                    fields[number] = _with_moved_side(held, own, one, moving)
                    continue
                held = renamed(held, renames)
                fields[number] = {**held, "commits": {**(held.get("commits") or {}), one.repo: one.between.sha}}
        # First, since a rename that no gold took moves nothing.
        with together():
            record_renames(self.file.path.parent, written)
            self.file.write(fields)
        return [self.file.questions[number].id for number in sorted(fields)], open_names


def _with_moved_side(
    fields: Mapping[str, Any], renames: Mapping[str, str], one: _Pinned, moving: _Moving
) -> dict[str, Any]:
    """Return the fields of a question some of whose paths move: these get the new names and their commit.

    A relevant id or an expected file that the other paths name, too, stays beside its new name.
    """
    key = next(name for name in ("paths", *QUESTION["paths"]) if fields.get(name) is not None)
    paths = list(fields[key])
    commits = fields.get("commits")
    for place in moving.paths:
        [path] = renamed({key: [paths[place]]}, renames)[key]
        if isinstance(path, dict) and one.repo in (path.get("commits") or ()):
            path = {**path, "commits": {**path["commits"], one.repo: one.between.sha}}
        else:  # it has the commit of the question
            commits = {**(fields.get("commits") or {}), one.repo: one.between.sha}
        paths[place] = path
    held = renamed({name: value for name, value in fields.items() if name != key}, renames)
    for name in _OF_SEVERAL:
        before = fields.get(name)
        if isinstance(before, dict):
            held[name] |= {old: gain for old, gain in before.items() if _stays(old, one, moving)}
        elif before:
            held[name] = [
                *held[name],
                *(part for part in before if _stays(part, one, moving) and part not in held[name]),
            ]
    found = {name: paths if name == key else held[name] for name in fields}
    return found if commits is None else {**found, "commits": commits}


def _stays(part: Any, one: _Pinned, moving: _Moving) -> bool:
    """Return whether a relevant id or an expected file is also that of a path that stays."""
    name = part.get("id") if isinstance(part, dict) else part
    return name in one.placed and one.placed[name].path in moving.kept


def _of_both(fields: Mapping[str, Any], renames: Mapping[str, str], one: _Pinned, moving: _Moving) -> list[str]:
    """Return the names of paths that stay, too, in fields that can't hold the names of both versions."""
    both = {old: new for old, new in renames.items() if _stays(old, one, moving)}
    other = {name: value for name, value in fields.items() if name not in (*_OF_SEVERAL, "paths", *QUESTION["paths"])}
    changed = renamed(other, both)
    return sorted(
        f"{name} ({', '.join(sorted(both))} at both versions)" for name in other if changed[name] != other[name]
    )


def migration(dataset: Dataset, repositories: Mapping[str, tuple[str, Repo]], targets: Mapping[str, str]) -> Migration:
    """Find the new places of the artifacts that gold names.

    Raise InputError if the questions can't be used, no gold names a repository, or a repository lacks a commit or is
    damaged.

    ``repositories`` maps names to the path of a clone and the clone; ``targets`` maps them to the target commit, or to
    ``FROM..TARGET``, by which only gold at one commit moves.
    """
    problems = Problems("skip")
    stacks = {row.id: row.commits for row in dataset.compatibility(problems)}
    result = Migration(QuestionLines(dataset.questions_file))
    places = dataset.places()
    named = places.named(name for question in result.file.questions.values() for name in gold_names(question))
    for repo, (where, repository) in repositories.items():
        of_repo = {number: names_in(repo, question, places) for number, question in result.file.questions.items()}
        if not any(of_repo.values()):
            remedy = f"{did_you_mean(repo, named)}Gold names: {', '.join(sorted(named)) or 'none'}."
            raise InputError(f"no gold names the repository {repo!r}", where="--repo", remedy=remedy)
        start, dots, end = targets[repo].rpartition("..")
        if dots and not (start and end):
            raise InputError(f"{targets[repo]!r} isn't FROM..COMMIT", where="--to", remedy="Name both commits.")
        target = commit_of(repository, end, where).id.decode()
        origin = commit_of(repository, start, where).id.decode() if dots else None
        result.targets[repo] = target
        pinned = _pinned(result, repo, (where, repository), of_repo, stacks, origin, places)
        graphs = _graphs_at(dataset, repo, repository, target)
        artifacts: set[str] = set().union(*graphs.values())
        for one in pinned:
            if one.between.same:
                continue
            if one.between.is_backward():
                why = f"{repo} is pinned to {one.pin[:SHORT]}, which is newer than {target[:SHORT]}"
                for number in one.names:
                    result.skip(number, why)
                continue
            _propose(one, artifacts, result, places)
            result.pinned.append(one)
        result.unproven += _unproven(dataset, repo, set(graphs), result)
    return result


def _pinned(
    result: Migration,
    repo: str,
    clone: tuple[str, Repo],
    of_repo: Mapping[int, list[Placed]],
    stacks: Mapping[str, Mapping[str, str]],
    origin: str | None,
    places: Places,
) -> list[_Pinned]:
    """Return the names in a repository by the commit to which their questions are pinned; skip unknown commits.

    Of a question with paths about commits of their own, those at one commit move, at the ``origin`` if one is given.
    """
    where, repository = clone
    by_pin: dict[str, _Pinned] = {}
    unknown: dict[str, InputError] = {}
    for number, placed in of_repo.items():
        if not placed:
            continue
        question = result.file.questions[number]
        pin = {**stacks.get(question.stack or "", {}), **question.commits}.get(repo)
        sides = _sides(repo, repository, question, pin)
        if sides:
            movable = [sha for sha in sides if sha != result.targets[repo] and origin in (None, sha)]
            there = result.targets[repo] in sides
            if there or len(movable) != 1 or movable[0] is None:
                if movable and (origin is not None or not there):
                    result.skip(number, _undecided(repo, sides, result.targets[repo]))
                continue
            pin, paths = sides[movable[0]]
        elif origin is not None and pin is not None and _whole(repository, pin) != origin:
            continue
        if pin is None:
            result.skip(number, f"it isn't pinned in {repo}: the commit of its annotation is unknown")
            continue
        if pin not in by_pin and pin not in unknown:
            try:
                between = Between(repository, pin, result.targets[repo], f"{where}, to which {question.id} is pinned")
                by_pin[pin] = _Pinned(repo, pin, between)
            except InputError as error:
                unknown[pin] = error
        if pin in unknown:
            result.skip(number, f"it is pinned to {pin!r} in {repo}, and {where} has no such commit")
            continue
        if sides:
            moving, placed = _moving(repo, question, placed, frozenset(paths), places)
            by_pin[pin].moving[number] = moving
        if placed:
            by_pin[pin].add(number, placed)
    if unknown and not by_pin:  # another repository, or a clone without its history
        raise next(iter(unknown.values()))
    return list(by_pin.values())


def _whole(repository: Repo, name: str | None) -> str | None:
    """Return the sha of a commit's name, or the name if the clone doesn't know it."""
    try:
        return None if name is None else commit_of(repository, name, "").id.decode()
    except InputError:
        return name


def _sides(
    repo: str, repository: Repo, question: QuestionStruct, pin: str | None
) -> dict[str | None, tuple[str | None, list[int]]]:
    """Return the paths of a question, by their places, for each commit of a repository that they are about.

    Each commit has the name that gold gives it; it is None for paths that are about any. Nothing is returned for a
    question without a path that has a commit of its own in the repository.
    """
    found: dict[str | None, tuple[str | None, list[int]]] = {}
    for place, path in enumerate(question.paths):
        if path.steps:
            name = path.commits.get(repo, pin)
            found.setdefault(_whole(repository, name), (name, []))[1].append(place)
    return found if any(repo in path.commits for path in question.paths) else {}


def _undecided(repo: str, sides: Mapping[str | None, tuple[str | None, list[int]]], target: str) -> str:
    """Return why no path of a question about several commits of a repository moves."""
    if target in sides:
        return f"a path of it is about {target[:SHORT]} of {repo} already, so another one can't move there"
    named = ", ".join(sorted("any" if name is None else name[:SHORT] for name, _ in sides.values()))
    return f"its paths are about several commits of {repo} ({named}): name the one to move by --to {repo}=FROM..COMMIT"


def _moving(
    repo: str, question: QuestionStruct, placed: list[Placed], paths: frozenset[int], places: Places
) -> tuple[_Moving, list[Placed]]:
    """Return the moving paths of a question, and the names that move with them.

    Beside the names of the paths these are the names of the same files elsewhere in the question.
    """

    def files(some: list[GoldPathStruct]) -> frozenset[str]:
        bare = QuestionStruct(question.id, "", paths=some)
        return frozenset(one.path for one in names_in(repo, bare, places))

    moves = files([path for place, path in enumerate(question.paths) if place in paths])
    kept = files([path for place, path in enumerate(question.paths) if place not in paths])
    return _Moving(paths, kept), [one for one in placed if one.path in moves and not _only_kept(one, question, paths)]


def _only_kept(one: Placed, question: QuestionStruct, paths: frozenset[int]) -> bool:
    """Return whether a name is only that of paths that stay, such as another symbol of the same file."""
    holding = {
        place
        for place, path in enumerate(question.paths)
        for step in path.steps
        if one.name in (step.source, step.target)
    }
    return bool(holding) and not holding & paths


def _propose(one: _Pinned, artifacts: set[str], result: Migration, places: Places) -> None:
    """Find the new place of each name, and add the changes."""
    fates = one.between.fates(dict.fromkeys(placed.path for placed in one.placed.values()))
    moved: dict[str, dict[str, str]] = {}
    for name, placed in sorted(one.placed.items()):
        fate = fates.get(placed.path)
        if fate is None:
            if not placed.loose:
                one.unresolved[name] = f"there is no file {placed.path} at {one.pin[:SHORT]}"
            continue
        new = placed.at(fate.path) if fate.path is not None else None
        symbol = places.symbol(name)
        word = fate.path is not None and _has_symbol(symbol, placed.path, fate.path, one.between)
        others = _elsewhere(name, new, artifacts, places)
        if others:
            if new is not None and word:
                others.append(Candidate(new, f"{fate.path} has the word too", _ALIKE, {name: new}))
            one.changes.append(GoldChange(one.repo, one.pin, name, tuple(others), result.naming(one, [name])))
        elif new is None:
            one.unresolved[name] = fate.why
        elif not word and new not in artifacts:
            one.unresolved[name] = f"{fate.path} no longer contains {symbol}"
        elif new != name:
            moved.setdefault(placed.path, {})[name] = new
    for path, renames in moved.items():
        fate = fates[path]
        candidate = Candidate(f"{one.repo}:{fate.path}", fate.why, fate.doubt, renames)
        change = GoldChange(one.repo, one.pin, f"{one.repo}:{path}", (candidate,), result.naming(one, renames))
        one.changes.append(change)
    one.changes.sort(key=lambda change: change.old)
    looked_at = one.unresolved.keys() | {
        old for change in one.changes for each in change.candidates for old in each.renames
    }
    result.unmoved += sum(not names & looked_at for names in one.names.values())


def _has_symbol(symbol: str | None, path: str, new: str, between: Between) -> bool:
    """Return whether the file of a symbol still contains it, by its text."""
    last = re.split(r"\W+", symbol or "")[-1]
    if not last:
        return True
    word = re.compile(rf"(?<!\w){re.escape(last)}(?!\w)")
    before, after = between.text(path, new=False), between.text(new, new=True)
    # If the old text lacks the word too, the text decides nothing.
    return word.search(before or "") is None or word.search(after or "") is not None


def _elsewhere(name: str, new: str | None, artifacts: set[str], places: Places) -> list[Candidate]:
    """Return the artifacts at the target with the same symbol in the same repository, unless the new name is one."""
    symbol, repo = places.symbol(name), places.repo(name)
    if symbol is None or new in artifacts:
        return []
    found = sorted(one for one in artifacts if places.symbol(one) == symbol and places.repo(one) == repo)
    why = "the dataset's artifacts have this symbol there"
    return [Candidate(one, why, _ALIKE, {name: one}) for one in found] if len(found) <= MOST_PLACES else []


def _graphs_at(dataset: Dataset, repo: str, repository: Repo, target: str) -> dict[str, set[str]]:
    """Return the ids of a repository's artifacts at a commit, by knowledge graph."""
    found: dict[str, set[str]] = {}
    at: dict[str, bool] = {}
    places = dataset.places()
    for name, (path, _) in dataset.graphs.items():
        for _, artifact in RecordReader(path, ArtifactStruct, Problems("skip")) if path is not None else ():
            if artifact.commit is None or (artifact.repo or places.repo(artifact.id)) != repo:
                continue
            if artifact.commit not in at:
                at[artifact.commit] = _names_commit(repository, artifact.commit, target)
            if at[artifact.commit]:
                found.setdefault(name, set()).add(artifact.id)
    return found


def _unproven(dataset: Dataset, repo: str, graphs: Collection[str], result: Migration) -> list[UnprovenEdge]:
    """Return the edges of the questions to change that a repository's target doesn't show."""
    edges: list[MovedEdge] = []
    for one in result.pinned:
        renames = one.renames() if one.repo == repo else {}
        for number, names in one.names.items():
            question = result.file.questions[number]
            if names & renames.keys() and not names & one.unresolved.keys():
                moving = one.moving.get(number)
                steps = (
                    step
                    for place, path in enumerate(question.paths)
                    for step in path.steps
                    if moving is None or place in moving.paths
                )
                edges += [MovedEdge(repo, question.id, step, renames, one.between, dataset.places()) for step in steps]
    return unproven_edges(edges, dataset, graphs)


def _names_commit(repository: Repo, name: str, sha: str) -> bool:
    try:
        return bool(commit_of(repository, name, "").id.decode() == sha)
    except InputError:
        return False
