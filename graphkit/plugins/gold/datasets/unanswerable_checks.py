"""Checks of questions without an answer: by the knowledge graph, absent edges are absent, and no path joins their ends.

What it can't verify is said: a graph without edges, a question that lists none, and other reasons than a missing path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.plugins.gold.graph_search import graphs_of, load_graphs, path_text
from graphkit.records.access_rules import NOT_ALLOWED
from graphkit.records.structs import QuestionStruct
from graphkit.records.words import counted

#: The reasons that a path between the ends of an absent edge contradicts.
CONTRADICTED = ("no path",)

#: What a finding says of a question: whether that makes it invalid, the sentence, and the question, None for all.
Verified = tuple[bool, str, str | None]


def absence_checks(dataset: Dataset, questions: Sequence[QuestionStruct], problems: Problems) -> Iterator[Verified]:
    """Yield what contradicts the questions without an answer, and what can't be verified."""
    unanswerable = [one for one in questions if one.answerable is False]
    listing = [one for one in questions if one.absent]
    # That nothing is left to a principal follows from the rules, and needs no graph.
    by_rules = {one.id for one in unanswerable if one.principal is not None and one.why_not == NOT_ALLOWED}
    unlisted = [one for one in unanswerable if not one.absent and one.id not in by_rules]
    if unlisted:
        what = f"{counted(len(unlisted), 'question')} without an answer, and without absent edges"
        yield False, f"{what}: no graph can verify that there is none", None
    if not listing:
        return
    graphs = load_graphs(dataset, problems)
    if not graphs:
        what = f"absent edges of {counted(len(listing), 'question')} aren't verified"
        yield False, f"{what}: the dataset has no knowledge graph with edges", None
        return
    for question in listing:
        for step in question.absent:
            edge = f"{step.source} -{step.relation or ''}-> {step.target}"
            for graph in graphs_of(question, graphs):
                if unknown := [node for node in (step.source, step.target) if node not in graph.nodes]:
                    yield False, f"{edge}: absent, since the knowledge graph doesn't know {unknown[0]}", question.id
                elif graph.holds(step.source, step.relation, step.target):
                    yield True, f"{edge}: it is listed as absent, and the knowledge graph holds it", question.id
                elif (path := graph.path(step.source, step.target)) is not None:
                    what = f"{edge}: it is absent, but another path joins its ends: {path_text(path)}"
                    yield question.why_not in CONTRADICTED, what, question.id
