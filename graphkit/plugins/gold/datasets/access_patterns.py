"""Patterns of access.jsonl that match nothing that the dataset knows, such as misspelt ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.records.access_rules import pattern_matches
from graphkit.records.structs import QuestionStruct


def idle_patterns(dataset: Dataset, questions: Sequence[QuestionStruct]) -> list[str]:
    """Return a sentence for each pattern that matches no known id, repository or relation.

    Known are those of the knowledge graphs, of gold and of the questions. Without any of a kind, its patterns aren't
    judged.
    """
    idle: dict[tuple[str, str, bool], list[str]] = {}
    for principal, rule in dataset.access.rules.items():
        for name, patterns in (("allow", rule.allow), ("deny", rule.deny)):
            for one in patterns:
                [(kind, text)] = [("id", one)] if isinstance(one, str) else one.items()
                idle.setdefault((kind, text, name == "deny"), []).append(f"{principal} ({name})")
    if not idle:
        return []
    places, seen, kinds = dataset.places(), set[tuple[str, str]](), set[str]()
    for node, relation in _known(dataset, questions):
        for kind, named in (("id", node), ("repository", places.repo(node)), ("relation", relation)):
            if named is not None and (kind, named) not in seen:
                seen.add((kind, named))
                kinds.add(kind)
                for pattern in [one for one in idle if one[0] == kind and pattern_matches(one[1], named, one[2])]:
                    del idle[pattern]
        if not idle:
            return []
    return [
        f"access.jsonl: the pattern {text!r} of {', '.join(of)} matches no {kind} that the dataset knows"
        for (kind, text, _), of in idle.items()
        if kind in kinds
    ]


def _known(dataset: Dataset, questions: Iterable[QuestionStruct]) -> Iterator[tuple[str, str | None]]:
    """Yield ids, each with a relation beside it if there is one."""
    for question in questions:
        for path in (*question.paths, *question.withheld):
            for step in path.steps:
                yield from ((step.source, step.relation), (step.target, None))
        yield from ((node, None) for node in question.relevant)
    problems = Problems("skip")  # others report them
    for artifacts, edges in dataset.graphs.values():
        if artifacts is not None:
            yield from ((one.id, None) for one in dataset.artifacts(artifacts, problems))
        if edges is not None:
            for one in dataset.edges(edges, problems):
                yield from ((one.source, one.relation), (one.target, None))
