"""Candidates for questions without an answer, each with the search of the knowledge graph that found nothing.

Four kinds are made of the edges of gold paths: the end of a path is replaced by a node that no search reaches, an edge
is turned round, a relation is one that no pair of these kinds of nodes has, and a node is one that only the graph of
another version has. A person accepts, in a sheet.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.plugins.gold.graph_search import LoadedGraph, load_graphs
from graphkit.plugins.gold.question_file import QuestionLines
from graphkit.plugins.gold.sheets import decided, write_sheet
from graphkit.records.structs import GoldPathStruct, QuestionStruct, StepStruct
from graphkit.records.words import counted

#: The columns of a sheet: a person fills in the last one, and may put the question better.
COLUMNS = ("question_id", "question", "why_not", "source", "relation", "target", "stack", "proof", "decision")

#: How many other ends are tried for one path, or edge, before the next one is taken.
TRIED = 50

Edge = tuple[str, str, str]


class AbsenceCandidate(NamedTuple):
    """A question that has no answer: the edge that doesn't exist, and the search that says so."""

    kind: str
    question: str
    why_not: str
    absent: Edge | None
    proof: str
    stack: str | None = None


@dataclass(frozen=True)
class Sampler:
    """Draws candidates from the gold paths of a dataset and its knowledge graphs."""

    graphs: Mapping[str, LoadedGraph]
    questions: Sequence[QuestionStruct]

    @classmethod
    def of(cls, dataset: Dataset, problems: Problems) -> Sampler:
        """Read the graphs and the questions of a dataset.

        Raises
        ------
        InputError
            The dataset has no knowledge graph with edges, which alone proves that something is absent.
        """
        graphs = load_graphs(dataset, problems)
        if not graphs:
            what = "the dataset has no knowledge graph with edges, by which an absence could be proved"
            remedy = "Add edges.jsonl, or import a graph: `graphkit import graph`."
            raise InputError(what, where=str(dataset.folder), remedy=remedy)
        return cls(graphs, [question for _, question in dataset.questions(problems)])

    def candidates(self, count: int, seed: int) -> list[AbsenceCandidate]:
        """Return at most so many candidates, the four kinds in turn; a seed gives the same ones again."""
        dice = random.Random(seed)  # noqa: S311 - a sample, not a secret
        kinds = [self._unreached(dice), self._turned(dice), self._unrelated(dice), self._other_version(dice)]
        asked = {" ".join(one.question.split()) for one in self.questions}
        found: list[AbsenceCandidate] = []
        while kinds and len(found) < count:
            for kind in [*kinds]:
                one = next((one for one in kind if one.question not in asked), None)
                if one is None:
                    kinds.remove(kind)
                elif len(found) < count:
                    asked.add(one.question)
                    found.append(one)
        return found

    def _paths(self, dice: random.Random) -> Iterator[tuple[LoadedGraph, QuestionStruct, GoldPathStruct]]:
        """Yield the gold paths in a drawn order, each with the knowledge graph of its question.

        A question of no stack has one only if it is the only one: else a search of one graph proves nothing.
        """
        every = [(question, path) for question in self.questions for path in question.paths if path.steps]
        dice.shuffle(every)
        for question, path in every:
            graph = self.graphs.get(question.stack or "")
            if graph is None and len(self.graphs) == 1:
                graph = next(iter(self.graphs.values()))
            if graph is not None:
                yield graph, question, path

    def _steps(self, dice: random.Random) -> Iterator[tuple[LoadedGraph, QuestionStruct, StepStruct, str]]:
        """Yield the edges of gold that a knowledge graph holds, with their relations, in a drawn order."""
        for graph, question, path in self._paths(dice):
            for step in dice.sample(path.steps, len(path.steps)):
                if step.relation is not None and graph.holds(step.source, step.relation, step.target):
                    yield graph, question, step, step.relation

    def _unreached(self, dice: random.Random) -> Iterator[AbsenceCandidate]:
        for graph, question, path in self._paths(dice):
            start, last = path.steps[0].source, path.steps[-1]
            if start not in graph.nodes or last.relation is None:
                continue
            there, kind = graph.reached(start), graph.nodes.get(last.target, "")
            others = [node for node, of in graph.nodes.items() if node not in there and of == kind]
            for other in dice.sample(others, min(TRIED, len(others))):
                back = graph.reached(other, start)
                if start in back:
                    continue
                proof = (
                    f"a search from {start} along all {counted(graph.size, 'edge')} reached "
                    f"{counted(len(there) - 1, 'node')}, and one from {other} {len(back) - 1}: neither found the other"
                )
                edge = (last.source, last.relation, other) if last.source in there else (start, last.relation, other)
                yield AbsenceCandidate(
                    "unreached", f"How does {start} reach {other}?", "no path", edge, proof, question.stack
                )
                break

    def _turned(self, dice: random.Random) -> Iterator[AbsenceCandidate]:
        for graph, question, step, relation in self._steps(dice):
            source, target = step.target, step.source
            if source == target or graph.holds(source, None, target):
                continue
            proof = (
                f"of {counted(graph.size, 'edge')} none goes from {source} to {target}; "
                f"{target} -{relation}-> {source} is there"
            )
            text = f"Why does {source} have the relation {relation} to {target}?"
            yield AbsenceCandidate("turned", text, "false premise", (source, relation, target), proof, question.stack)

    def _unrelated(self, dice: random.Random) -> Iterator[AbsenceCandidate]:
        for graph, question, step, _ in self._steps(dice):
            ends = graph.nodes[step.source], graph.nodes[step.target]
            if "" in ends:
                continue
            pairs = _relations_by_kinds(graph)
            others = sorted({one for some in pairs.values() for one in some} - pairs.get(ends, set()))
            if not others:
                continue
            relation = dice.choice(others)
            proof = (
                f"of {counted(graph.size, 'edge')} none with the relation {relation} goes from a node of the kind "
                f"{ends[0]} to one of the kind {ends[1]}"
            )
            text = f"Why does {step.source} have the relation {relation} to {step.target}?"
            edge = (step.source, relation, step.target)
            yield AbsenceCandidate("unrelated", text, "false premise", edge, proof, question.stack)

    def _other_version(self, dice: random.Random) -> Iterator[AbsenceCandidate]:
        names = [name for name in self.graphs if name]
        for name in names:
            graph = self.graphs[name]
            only = [
                (node, other)
                for other in names
                for node in sorted(self.graphs[other].nodes.keys() - graph.nodes.keys())
                if other != name
            ]
            for node, other in dice.sample(only, min(TRIED, len(only))):
                proof = f"of {counted(len(graph.nodes), 'node')} at {name} none is {node}; {other} has it"
                yield AbsenceCandidate("other version", f"What does {node} do?", "other version", None, proof, name)


def _relations_by_kinds(graph: LoadedGraph) -> dict[tuple[str, str], set[str]]:
    """Return the relations between nodes of each two kinds."""
    found: dict[tuple[str, str], set[str]] = {}
    for source, targets in graph.edges.items():
        for target, relations in targets.items():
            found.setdefault((graph.nodes[source], graph.nodes[target]), set()).update(relations)
    return found


def write_candidates(path: Path, candidates: Sequence[AbsenceCandidate], taken: set[str]) -> None:
    """Write a sheet with a row for each candidate, whose decisions are to be filled in.

    ``taken`` are the ids of questions that there are. Raise InputError if the file can't be written.
    """
    rows = [
        (one.question, one.why_not, *(one.absent or ("", "", "")), one.stack or "", one.proof) for one in candidates
    ]
    write_sheet(path, COLUMNS, rows, "unanswerable", taken)


def accepted_in(path: Path, known: set[str]) -> tuple[list[dict[str, Any]], int, int]:
    """Return the questions that a sheet accepts, how many it rejects, and how many are open.

    A question whose id is ``known`` was accepted before, and is left out: a sheet may be read twice.

    Raises
    ------
    InputError
        A column is missing, a decision isn't understood, or an accepted question is blank.
    """
    found: list[dict[str, Any]] = []
    accepted, rejected, undecided = decided(path, COLUMNS, known)
    for cells in accepted:
        edge = [cells["source"], cells["relation"] or None, cells["target"]]
        question = {
            "id": cells["question_id"],
            "question": cells["question"],
            **({"stack": cells["stack"]} if cells["stack"] else {}),
            "answerable": False,
            "why_not": cells["why_not"],
            **({"absent": [edge]} if cells["source"] else {}),
        }
        found.append(question)
    return found, rejected, undecided


def append_questions(dataset: Dataset, questions: Sequence[dict[str, Any]]) -> None:
    """Add questions to the file of a dataset; raise InputError if one can't be used, or the file can't be written."""
    lines = QuestionLines(dataset.questions_file)
    for one in questions:
        lines.write({}, one)
