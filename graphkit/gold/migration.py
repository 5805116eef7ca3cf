"""Gold whose artifacts were renamed or moved since it was annotated, proposed anew for a later commit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from graphkit.errors import InputError, did_you_mean
from graphkit.files.dataset import Dataset
from graphkit.files.known import gold_ids
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.gold.question_file import QuestionLines
from graphkit.gold.renames import SHORT, Between, commit_of
from graphkit.records.aliases import QUESTION
from graphkit.records.ids import file_of, path_of, repo_of, symbol_of
from graphkit.records.structs import ArtifactStruct, QuestionStruct

if TYPE_CHECKING:
    from dulwich.repo import Repo

#: How many files of a symbol are offered before it is too common to be told by its name.
MOST_PLACES = 5


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a gold artifact may be called now.

    Attributes
    ----------
    renames
        The names of the gold that it changes: old to new.
    certain
        Whether the content under the new path is that of the old one, and no other new file has it.
    """

    new: str
    why: str
    certain: bool
    renames: Mapping[str, str]


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


class _Placed(NamedTuple):
    """A name with a path in a repository: ``repo:path#symbol``, ``repo:path``, ``repo/path``, or a path alone.

    Attributes
    ----------
    start
        Where in the name its path begins.
    loose
        Whether it may be something else: it is a path where there is such a file.
    """

    name: str
    start: int
    path: str
    loose: bool = False

    def at(self, path: str) -> str:
        """Return the name with another path."""
        return f"{self.name[: self.start]}{path}{self.name[self.start + len(self.path) :]}"


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
    placed: dict[str, _Placed] = field(default_factory=dict)
    changes: list[GoldChange] = field(default_factory=list)
    unsettled: dict[str, str] = field(default_factory=dict)


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
    """

    file: QuestionLines
    targets: dict[str, str] = field(default_factory=dict)
    pinned: list[_Pinned] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    unmoved: int = 0

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

    def apply(self, accepted: Iterable[Candidate]) -> tuple[list[str], dict[str, list[str]]]:
        """Write what was accepted: each question for whose names in a repository nothing is open any more.

        Such a question gets the new names, and the target as the commit of that repository. One that still names
        something that isn't at the target stays as it is: half of it would be gold of no commit.

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
                if still := sorted((names & (moved | one.unsettled.keys())) - renames.keys()):
                    open_names.setdefault(self.file.questions[number].id, []).extend(still)
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
        repo for question in result.file.questions.values() for name in _names(question) if (repo := repo_of(name))
    }
    for repo, (where, repository) in repositories.items():
        of_repo = {number: _of(repo, question) for number, question in result.file.questions.items()}
        if not any(of_repo.values()):
            remedy = f"{did_you_mean(repo, named)}Gold names: {', '.join(sorted(named)) or 'none'}."
            raise InputError(f"no gold names the repository {repo!r}", where="--repo", remedy=remedy)
        target = commit_of(repository, targets[repo], where).id.decode()
        result.targets[repo] = target
        by_pin: dict[str, _Pinned] = {}
        for number, placed in of_repo.items():
            if not placed:
                continue
            question = result.file.questions[number]
            pin = {**stacks.get(question.stack or "", {}), **question.commits}.get(repo)
            if pin is None:
                why = f"it isn't pinned in {repo}: at what it was annotated isn't known"
                result.left_out.setdefault(question.id, []).append(why)
                continue
            if pin not in by_pin:
                between = Between(repository, pin, target, f"{where}, to which {question.id} is pinned")
                by_pin[pin] = _Pinned(repo, pin, between)
            by_pin[pin].names[number] = {one.name for one in placed}
            by_pin[pin].placed.update({one.name: one for one in placed})
        artifacts = _artifacts_at(dataset, repo, repository, target)
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
    return result


def _names(question: QuestionStruct) -> Iterator[str]:
    yield from gold_ids(question)
    yield from question.expected_files


def _of(repo: str, question: QuestionStruct) -> list[_Placed]:
    """Return the names of a question's gold that are of a repository."""
    found = [placed for name in dict.fromkeys(_names(question)) if (placed := _placed(repo, name))]
    if not found:
        return []
    # What sources disagree is free text, and may be ids. A file without a repository is of the only one that there is.
    found += [
        placed._replace(loose=True)
        for conflict in question.conflicts
        for name in conflict.between
        if (placed := _placed(repo, name))
    ]
    if {repo_of(name) for name in gold_ids(question)} <= {repo}:
        bare = (name for name in question.expected_files if ":" not in name and not name.startswith(f"{repo}/"))
        found += [_Placed(name, 0, file_of(name), loose=True) for name in bare]
    return found


def _placed(repo: str, name: str) -> _Placed | None:
    """Return where the path of a name in a repository is, or None where it is of another one."""
    path = (path_of(name) if repo_of(name) == repo else None) if ":" in name else None
    if path is None and ":" not in name and file_of(name).startswith(f"{repo}/"):
        path = file_of(name)[len(repo) + 1 :]
    return _Placed(name, len(repo) + 1, path) if path else None


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
                others.append(Candidate(new, f"{fate.path} has the word, too", False, {name: new}))
            one.changes.append(GoldChange(one.repo, one.pin, name, tuple(others), result.naming(one, [name])))
        elif new is None:
            one.unsettled[name] = fate.why
        elif not word and (artifacts is None or new not in artifacts):
            one.unsettled[name] = f"{fate.path} holds no {symbol_of(name)} any more"
        elif new != name:
            moved.setdefault(placed.path, {})[name] = new
    for path, renames in moved.items():
        fate = fates[path]
        candidate = Candidate(f"{one.repo}:{fate.path}", fate.why, fate.certain, renames)
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
    return [Candidate(one, why, False, {name: one}) for one in found] if len(found) <= MOST_PLACES else []


def _artifacts_at(dataset: Dataset, repo: str, repository: Repo, target: str) -> set[str] | None:
    """Return the ids of a repository's artifacts that the dataset has at a commit; None where it has none."""
    found: set[str] = set()
    at: dict[str, bool] = {}
    for path, _ in dataset.graphs.values():
        for _, artifact in RecordReader(path, ArtifactStruct, Problems("skip")) if path is not None else ():
            if artifact.commit is None or (artifact.repo or repo_of(artifact.id)) != repo:
                continue
            if artifact.commit not in at:
                at[artifact.commit] = _names_commit(repository, artifact.commit, target)
            if at[artifact.commit]:
                found.add(artifact.id)
    return found or None


def _names_commit(repository: Repo, name: str, sha: str) -> bool:
    try:
        return bool(commit_of(repository, name, "").id.decode() == sha)
    except InputError:
        return False


def renamed(fields: Mapping[str, Any], renames: Mapping[str, str]) -> dict[str, Any]:
    """Return a question as it was written, with other names of its gold, in whatever form they stand.

    >>> renamed({"gold_paths": [[["a:x", "a:x", "a:y"]], ["a:x", "a:y"]], "relevant": ["a:x"]}, {"a:x": "a:z"})
    {'gold_paths': [[['a:z', 'a:x', 'a:y']], ['a:z', 'a:y']], 'relevant': ['a:z']}
    """
    result = dict(fields)

    def of(value: Any) -> Any:
        return renames.get(value, value) if isinstance(value, str) else value

    def step(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: of(part) if key in ("source", "target") else part for key, part in value.items()}
        if isinstance(value, list) and len(value) == 3:
            return [of(value[0]), value[1], of(value[2])]
        return of(value)

    def path(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: [step(part) for part in held] if key == "steps" else held for key, held in value.items()}
        return [step(part) for part in value]

    for key, value in fields.items():
        if value is None:
            continue
        if key in ("paths", *QUESTION["paths"]):
            result[key] = [path(part) for part in value]
        elif key in ("relevant", *QUESTION["relevant"]):
            if isinstance(value, dict):
                gains: dict[str, Any] = {}
                for name, gain in value.items():
                    gains[of(name)] = max(gain, gains.get(of(name), gain))
                result[key] = gains
            else:
                result[key] = [
                    {**part, "id": of(part.get("id"))} if isinstance(part, dict) else of(part) for part in value
                ]
        elif key == "expected_files":
            result[key] = list(dict.fromkeys(map(of, value)))
        elif key == "conflicts":
            result[key] = [
                {**part, "between": list(map(of, part.get("between") or ()))} if isinstance(part, dict) else part
                for part in value
            ]
    return result
