"""Checks of questions without an answer: by the knowledge graph, absent edges are absent, and no path joins their ends.

Gold of other questions is a witness: an edge that one of them walks isn't absent. A trace alone contradicts nothing.
What it can't verify is said: a graph without edges, a question that lists none, and other reasons than a missing path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.plugins.gold.graph_search import LoadedGraph, graphs_of, load_graphs, path_text
from graphkit.records.access_rules import NOT_ALLOWED
from graphkit.records.commits import CommitGraph
from graphkit.records.structs import QuestionStruct, StepStruct
from graphkit.records.words import counted

#: The reasons that a path between the ends of an absent edge contradicts.
CONTRADICTED = ("no path",)

#: The evidence of a step that was seen running, and that nobody has confirmed.
TRACE = "trace"

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
    commits = dataset.commit_graph(problems)
    yield from _witnessed(listing, questions, commits)
    graphs = load_graphs(dataset, problems)
    if not graphs:
        what = f"absent edges of {counted(len(listing), 'question')} aren't verified"
        yield False, f"{what}: the dataset has no knowledge graph with edges", None
        return
    for question in listing:
        pins = commits.pins(question)
        for graph in graphs_of(question, graphs):
            sure, perhaps = graph.at(pins, commits, surely=True), graph.at(pins, commits, surely=False)
            for step in question.absent:
                found = _contradiction(question, step, sure)
                if found is None and (found := _contradiction(question, step, perhaps)) is not None:
                    found = False, f"{found[1]}, if it exists at its commits, which the known parents don't tell"
                if found is not None:
                    yield *found, question.id


def _contradiction(question: QuestionStruct, step: StepStruct, graph: LoadedGraph) -> tuple[bool, str] | None:
    """Return what a graph says against an absent edge, or why it knows nothing; and whether that makes it invalid."""
    edge = f"{step.source} -{step.relation or ''}-> {step.target}"
    if unknown := [node for node in (step.source, step.target) if node not in graph.nodes]:
        return False, f"{edge}: absent, since the knowledge graph doesn't know {unknown[0]}"
    if graph.holds(step.source, step.relation, step.target):
        return True, f"{edge}: it is listed as absent, and the knowledge graph holds it"
    if (path := graph.path(step.source, step.target)) is not None:
        what = f"{edge}: it is absent, but another path joins its ends: {path_text(path)}"
        return question.why_not in CONTRADICTED, what
    return None


def _at(commits: CommitGraph, question: QuestionStruct, own: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the shas of a question, and of a path with commits of its own: a tag and a sha may name the same."""
    return {**commits.pins(question), **{repo: commits.meant(repo, name).sha for repo, name in (own or {}).items()}}


def _witnessed(
    listing: Sequence[QuestionStruct], questions: Sequence[QuestionStruct], commits: CommitGraph
) -> Iterator[Verified]:
    """Yield the absent edges that gold holds; it contradicts them if it is of the same version, and no mere trace."""
    wanted = {(step.source, step.target) for question in listing for step in question.absent}
    gold = [
        (step, one, one.stack, _at(commits, one, path.commits))
        for one in questions
        for path in (*one.paths, *one.withheld)
        for step in path.steps
        if (step.source, step.target) in wanted
    ]
    for question in listing:
        place = question.stack, _at(commits, question)
        for step in question.absent:
            holding = [
                ((stack, at) == place and held.evidence != TRACE, held, one)
                for held, one, stack, at in gold
                if (held.source, held.target) == (step.source, step.target)
                and (None in (held.relation, step.relation) or held.relation == step.relation)
            ]
            if holding:  # one of the same version contradicts, whichever comes first
                same, held, one = max(holding, key=lambda found: found[0])
                seen = " by a trace" if held.evidence == TRACE else "" if same else ", at another version perhaps"
                edge = f"{step.source} -{step.relation or ''}-> {step.target}"
                yield same, f"{edge}: it is listed as absent, and the gold of {one.id!r} holds it{seen}", question.id
