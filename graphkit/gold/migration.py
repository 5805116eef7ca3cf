"""Gold whose artifacts were renamed or moved since it was annotated, proposed anew for a later commit."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphkit.errors import InputError, did_you_mean
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.gold.gold_names import Placed, gold_names, names_in, renamed
from graphkit.gold.question_file import QuestionLines
from graphkit.gold.renames import SHORT, Between, commit_of
from graphkit.gold.unproven import MovedEdge, UnprovenEdge, unproven_edges
from graphkit.records.ids import repo_of, symbol_of
from graphkit.records.structs import ArtifactStruct

if TYPE_CHECKING:
    from dulwich.repo import Repo

#: How many files of a symbol are offered before it is too common to be told by its name.
MOST_PLACES = 5

#: The doubt about a symbol that was found elsewhere.
_ALIKE = "only the name of the symbol speaks for it"


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a gold artifact may be called now.

    Attributes
    ----------
    renames
        The names of the gold that it changes: old to new.
    doubt
        Why it may be something else; None where the content under the new path is that of the old one, and no other new
        file has it.
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
    """A file or artifact that some gold names, which is elsewhere now, with where it may be, the likeliest first."""

    repo: str
    pin: str
    old: str
    candidates: tuple[Candidate, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoneGold:
    """Something that some gold names, of which it isn't known where it is now, with the reason."""

    repo: str
    pin: str
    name: str
    why: str
    questions: tuple[str, ...]


@dataclass
class _Pinned:
    """What the questions that are pinned to one commit of a repository name there.

    Attributes
    ----------
    names
        The names of each question, by its line; and what they are.
    unsettled
        The names that can't be followed, with the reason.
    """

    repo: str
    pin: str
    between: Between
    names: dict[int, set[str]] = field(default_factory=dict)
    placed: dict[str, Placed] = field(default_factory=dict)
    changes: list[GoldChange] = field(default_factory=list)
    unsettled: dict[str, str] = field(default_factory=dict)

    def take(self, number: int, placed: Iterable[Placed]) -> None:
        """Add what the question of a line names."""
        self.names[number] = {one.name for one in placed}
        for one in placed:
            if one.name not in self.placed or self.placed[one.name].loose:
                self.placed[one.name] = one

    def renames(self) -> dict[str, str]:
        """Return the new name of each old one, by the likeliest candidates."""
        return {old: new for change in self.changes for old, new in change.candidates[0].renames.items()}


@dataclass
class Migration:
    """What can be proposed, what can't, and what became of it.

    Attributes
    ----------
    targets
        The commit of each repository to which gold is brought.
    left_out
        Questions that aren't looked at, with the reasons.
    unmoved
        How many questions name nothing that moved.
    unproven
        Gold edges, under their new names, that the target doesn't show.
    """

    file: QuestionLines
    targets: dict[str, str] = field(default_factory=dict)
    pinned: list[_Pinned] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    unmoved: int = 0
    unproven: list[UnprovenEdge] = field(default_factory=list)

    @property
    def changes(self) -> list[GoldChange]:
        """Everything that is proposed."""
        return [change for one in self.pinned for change in one.changes]

    @property
    def gone(self) -> list[GoneGold]:
        """What can't be followed."""
        return [
            GoneGold(one.repo, one.pin, name, why, self.naming(one, [name]))
            for one in self.pinned
            for name, why in one.unsettled.items()
        ]

    def naming(self, one: _Pinned, names: Iterable[str]) -> tuple[str, ...]:
        """Return the questions at a pinned commit that have one of some names."""
        wanted = set(names)
        return tuple(self.file.questions[number].id for number, held in one.names.items() if held & wanted)

    def apply(
        self, accepted: Iterable[Candidate], *, only_proven: bool = False
    ) -> tuple[list[str], dict[str, list[str]]]:
        """Write what was accepted: each question for whose names in a repository nothing is open any more.

        Such a question gets the new names, and the target as the commit of that repository. One that still names
        something that isn't at the target stays as it is: half of it would be gold of no commit. With ``only_proven``
        a question with an edge that the target doesn't show stays as well.

        Returns
        -------
        tuple
            The questions that were changed; and of those that weren't though something was accepted, what is open.

        Raises
        ------
        InputError
            A question can't hold its new names, or the file can't be written or was changed meanwhile.
        """
        given = {id(candidate) for candidate in accepted}
        fields: dict[int, dict[str, Any]] = {}
        open_names: dict[str, list[str]] = {}
        for one in self.pinned:
            taken = [each for change in one.changes for each in change.candidates if id(each) in given]
            renames = {old: new for candidate in taken for old, new in candidate.renames.items()}
            moved = {old for change in one.changes for each in change.candidates for old in each.renames}
            for number, names in one.names.items():
                if not names & renames.keys():
                    continue
                question = self.file.questions[number].id
                still = sorted((names & (moved | one.unsettled.keys())) - renames.keys())
                if only_proven:
                    still += [edge.text for edge in self.unproven if (edge.question, edge.repo) == (question, one.repo)]
                if still:
                    open_names.setdefault(question, []).extend(still)
                    continue
                held = renamed(fields.get(number, self.file.fields[number]), renames)
                fields[number] = {**held, "commits": {**(held.get("commits") or {}), one.repo: one.between.sha}}
        self.file.write(fields)
        return [self.file.questions[number].id for number in sorted(fields)], open_names


def migration(dataset: Dataset, repositories: Mapping[str, tuple[str, Repo]], targets: Mapping[str, str]) -> Migration:
    """Look for what became of the artifacts that gold names.

    Parameters
    ----------
    repositories
        By name: where each is, and it.
    targets
        By name: the commit to which the gold is brought.

    Raises
    ------
    InputError
        The questions can't be used or no gold names a repository; a repository lacks a commit, or is damaged.
    """
    problems = Problems("skip")
    stacks = {row.id: row.commits for row in dataset.compatibility(problems)}
    result = Migration(QuestionLines(dataset.questions_file))
    named = {
        repo for question in result.file.questions.values() for name in gold_names(question) if (repo := repo_of(name))
    }
    for repo, (where, repository) in repositories.items():
        of_repo = {number: names_in(repo, question) for number, question in result.file.questions.items()}
        if not any(of_repo.values()):
            remedy = f"{did_you_mean(repo, named)}Gold names: {', '.join(sorted(named)) or 'none'}."
            raise InputError(f"no gold names the repository {repo!r}", where="--repo", remedy=remedy)
        target = commit_of(repository, targets[repo], where).id.decode()
        result.targets[repo] = target
        by_pin: dict[str, _Pinned] = {}
        unknown: dict[str, InputError] = {}
        for number, placed in of_repo.items():
            if not placed:
                continue
            question = result.file.questions[number]
            pin = {**stacks.get(question.stack or "", {}), **question.commits}.get(repo)
            if pin is None:
                why = f"it isn't pinned in {repo}: at what it was annotated isn't known"
                result.left_out.setdefault(question.id, []).append(why)
                continue
            if pin not in by_pin and pin not in unknown:
                try:
                    between = Between(repository, pin, target, f"{where}, to which {question.id} is pinned")
                    by_pin[pin] = _Pinned(repo, pin, between)
                except InputError as error:
                    unknown[pin] = error
            if pin in unknown:
                why = f"it is pinned to {pin!r} in {repo}, and {where} has no such commit"
                result.left_out.setdefault(question.id, []).append(why)
                continue
            by_pin[pin].take(number, placed)
        if unknown and not by_pin:  # another repository, or a clone without its history
            raise next(iter(unknown.values()))
        graphs = _graphs_at(dataset, repo, repository, target)
        artifacts = set().union(*graphs.values()) or None
        for one in by_pin.values():
            if one.between.same:
                continue
            if one.between.is_backward():
                why = f"{repo} is pinned to {one.pin[:SHORT]}, which is newer than {target[:SHORT]}"
                for number in one.names:
                    result.left_out.setdefault(result.file.questions[number].id, []).append(why)
                continue
            _propose(one, artifacts, result)
            result.pinned.append(one)
        result.unproven += _unproven(dataset, repo, set(graphs), result)
    return result


def _propose(one: _Pinned, artifacts: set[str] | None, result: Migration) -> None:
    """Find out what became of each name."""
    fates = one.between.fates(dict.fromkeys(placed.path for placed in one.placed.values()))
    moved: dict[str, dict[str, str]] = {}
    for name, placed in sorted(one.placed.items()):
        fate = fates.get(placed.path)
        if fate is None:
            if not placed.loose:
                one.unsettled[name] = f"there is no file {placed.path} at {one.pin[:SHORT]}"
            continue
        new = placed.at(fate.path) if fate.path is not None else None
        word = fate.path is not None and _has_symbol(name, placed.path, fate.path, one.between)
        if new is not None and artifacts is not None and new in artifacts:
            others: list[Candidate] = []
        else:
            others = _elsewhere(name, new, artifacts)
        if others:
            if new is not None and word:
                others.append(Candidate(new, f"{fate.path} has the word, too", _ALIKE, {name: new}))
            one.changes.append(GoldChange(one.repo, one.pin, name, tuple(others), result.naming(one, [name])))
        elif new is None:
            one.unsettled[name] = fate.why
        elif not word and (artifacts is None or new not in artifacts):
            one.unsettled[name] = f"{fate.path} holds no {symbol_of(name)} any more"
        elif new != name:
            moved.setdefault(placed.path, {})[name] = new
    for path, renames in moved.items():
        fate = fates[path]
        candidate = Candidate(f"{one.repo}:{fate.path}", fate.why, fate.doubt, renames)
        change = GoldChange(one.repo, one.pin, f"{one.repo}:{path}", (candidate,), result.naming(one, renames))
        one.changes.append(change)
    one.changes.sort(key=lambda change: change.old)
    looked_at = one.unsettled.keys() | {
        old for change in one.changes for each in change.candidates for old in each.renames
    }
    result.unmoved += sum(not names & looked_at for names in one.names.values())


def _has_symbol(name: str, path: str, new: str, between: Between) -> bool:
    """Tell whether the symbol of a name is still in its file, as far as the text tells."""
    last = re.split(r"\W+", symbol_of(name) or "")[-1]
    if not last:
        return True
    word = re.compile(rf"(?<!\w){re.escape(last)}(?!\w)")
    before, after = between.text(path, new=False), between.text(new, new=True)
    # Where the older text doesn't hold the word either, it tells nothing.
    return word.search(before or "") is None or word.search(after or "") is not None


def _elsewhere(name: str, new: str | None, artifacts: set[str] | None) -> list[Candidate]:
    """Return where else the symbol of a name is among the artifacts of its repository at the target."""
    symbol, repo = symbol_of(name), repo_of(name)
    if symbol is None or not artifacts:
        return []
    found = sorted(one for one in artifacts - {new} if symbol_of(one) == symbol and repo_of(one) == repo)
    why = "the dataset's artifacts have this symbol there"
    return [Candidate(one, why, _ALIKE, {name: one}) for one in found] if len(found) <= MOST_PLACES else []


def _graphs_at(dataset: Dataset, repo: str, repository: Repo, target: str) -> dict[str, set[str]]:
    """Return the ids of a repository's artifacts at a commit, by the knowledge graph of the dataset that has them."""
    found: dict[str, set[str]] = {}
    at: dict[str, bool] = {}
    for name, (path, _) in dataset.graphs.items():
        for _, artifact in RecordReader(path, ArtifactStruct, Problems("skip")) if path is not None else ():
            if artifact.commit is None or (artifact.repo or repo_of(artifact.id)) != repo:
                continue
            if artifact.commit not in at:
                at[artifact.commit] = _names_commit(repository, artifact.commit, target)
            if at[artifact.commit]:
                found.setdefault(name, set()).add(artifact.id)
    return found


def _unproven(dataset: Dataset, repo: str, graphs: Collection[str], result: Migration) -> list[UnprovenEdge]:
    """Return the edges of the questions to be changed that a repository's target doesn't show."""
    edges: list[MovedEdge] = []
    for one in result.pinned:
        renames = one.renames() if one.repo == repo else {}
        for number, names in one.names.items():
            question = result.file.questions[number]
            if names & renames.keys() and not names & one.unsettled.keys():
                steps = (step for path in question.paths for step in path.steps)
                edges += [MovedEdge(repo, question.id, step, renames, one.between) for step in steps]
    return unproven_edges(edges, dataset, graphs)


def _names_commit(repository: Repo, name: str, sha: str) -> bool:
    try:
        return bool(commit_of(repository, name, "").id.decode() == sha)
    except InputError:
        return False
