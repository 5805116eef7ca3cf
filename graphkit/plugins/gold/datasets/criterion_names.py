"""Criteria of questions that can't be decided: blank ones, and names that the dataset doesn't know.

An answer that must not have an unknown name never has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from graphkit.errors import did_you_mean
from graphkit.files.dataset import Dataset
from graphkit.files.known_ids import nearest
from graphkit.files.problems import Problems
from graphkit.records.commits import CommitGraph, begins
from graphkit.records.structs import QuestionStruct

_UNSCORED = "the question gets no CriteriaScore"


def blank_criteria(question: QuestionStruct) -> Iterator[str]:
    """Yield what is blank of a question's criteria and rubric: what can't be decided leaves CriteriaScore unscored."""
    for place, criterion in enumerate(question.criteria, 1):
        for kind in ("must", "must_not"):
            subject = getattr(criterion, kind)
            if isinstance(subject, str) and not subject.strip():
                yield f"criterion {place} ({kind.replace('_', ' ')}) is blank: {_UNSCORED}"
    if question.rubric is not None and not question.rubric.strip():
        yield "the rubric is blank" + ("" if question.criteria else f": {_UNSCORED}")


def unknown_names(
    dataset: Dataset, questions: Sequence[QuestionStruct], commits: CommitGraph
) -> Iterator[tuple[str, str]]:
    """Yield the id of a question, and what is unknown of a criterion, for each name that no knowledge graph holds.

    What the dataset doesn't list at all isn't unknown: relations without edges, commits without commits.jsonl.
    """
    named = [(question.id, *one) for question in questions for one in _names(question)]
    if not named:
        return
    known = _known(dataset, {name for _, _, what, name in named if what == "id"}, commits)
    missing = [one for one in named if known[one[2]] and not _is_known(*one[2:], known, commits)]
    near = nearest([name for _, _, what, name in missing if what == "id"], dataset) if missing else {}
    for question, kind, what, name in missing:
        if what == "id":
            also = f"; the nearest name is {near[name]}" if near.get(name) else ""
        else:
            hint = did_you_mean(name, sorted(known[what])).strip()
            also = f"; {hint[0].lower()}{hint[1:]}" if hint and what != "commit" else ""
        yield question, f"{kind.replace('_', ' ')} {what} {name}: the dataset knows no such {what}{also}"


def _names(question: QuestionStruct) -> Iterator[tuple[str, str, str]]:
    """Yield ``must`` or ``must_not``, what a criterion names, and the name."""
    for criterion in question.criteria:
        for kind in ("must", "must_not"):
            subject = getattr(criterion, kind)
            if isinstance(subject, Mapping):
                yield (kind, *next(iter(subject.items())))


def _known(dataset: Dataset, ids: set[str], commits: CommitGraph) -> dict[str, set[str]]:
    """Return the known names by what they name; of the ids those that are looked for, and one that isn't."""
    problems = Problems("skip")  # reported with stale gold
    known: dict[str, set[str]] = {
        "id": set(),
        "repository": {repo for repo, _ in commits.commits},
        "relation": set(),
        "commit": {sha for (_, sha), commit in commits.commits.items() if commit is not None},
    }

    def note(node: str) -> None:
        if node in ids or not known["id"]:
            known["id"].add(node)
        if (repo := commits.places.repo(node)) is not None:
            known["repository"].add(repo)

    for artifacts, edges in dataset.graphs.values():
        for artifact in dataset.artifacts(artifacts, problems) if artifacts is not None else ():
            note(artifact.id)
        for edge in dataset.edges(edges, problems) if edges is not None else ():
            known["relation"].add(edge.relation)
            note(edge.source)
            note(edge.target)
    return known


def _is_known(what: str, name: str, known: Mapping[str, set[str]], commits: CommitGraph) -> bool:
    if what != "commit":
        return name in known[what]
    meant = (commits.meant(repo, name).sha for repo, _ in commits.commits)
    return any(sha in known["commit"] for sha in meant) or any(begins(sha, name) for sha in known["commit"])
