"""The chunks of a pool: the first of each run, and their neighbours in the knowledge graph.

A neighbour is pooled whether any run retrieved it or not, so that what all runs missed can count as relevant, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from graphkit.files.dataset import Dataset
from graphkit.plugins.judging.grading.surroundings import Distances, by_graph, distances_in
from graphkit.plugins.judging.grading.verdict_job import RunToGrade
from graphkit.plugins.judging.judges.materials import CHARACTERS_PER_TOKEN
from graphkit.records.structs import AnswerStruct, ChunkStruct, QuestionStruct
from graphkit.records.words import counted

#: How many chunks of each run are pooled, and at most how many neighbours of those of a question.
DEPTH = 10
MOST_NEIGHBOURS = 20


@dataclass(frozen=True)
class PoolSize:
    """The size and the parts of a pool, which each figure over it names.

    Attributes
    ----------
    runs, depth, hops
        The number of runs, how many chunks of each are pooled, and how far their pooled neighbours are; 0 for none.
    chunks, textless, differing
        How many chunks are in the pool (of each question), have no text, and have another text in another run, of which
        the first counts.
    neighbours, beyond, unknown
        How many of the chunks are there as neighbours, how many neighbours with a text are left out since a question
        has more than ``MOST_NEIGHBOURS``, and of how many no text is known.
    questions, in_graph
        The number of questions with a pool, and of those whose chunks were looked for in a knowledge graph.
    """

    runs: int
    depth: int
    hops: int = 0
    chunks: int = 0
    textless: int = 0
    differing: int = 0
    neighbours: int = 0
    beyond: int = 0
    unknown: int = 0
    questions: int = 0
    in_graph: int = 0

    def __str__(self) -> str:
        """Return over what a figure is."""
        first = f"the first {counted(self.depth, 'chunk')} of {counted(self.runs, 'run')}"
        if not self.hops:
            return first
        within = f"{first} with their neighbours within {counted(self.hops, 'hop')}"
        apart = self.questions - self.in_graph
        return f"{within} ({counted(apart, 'question')} without a graph)" if apart else within


@dataclass
class Pool:
    """The texts of the pooled chunks by question, in the order in which a judge sees them, and what was noticed."""

    depth: int = DEPTH
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    textless: set[tuple[str, str]] = field(default_factory=set)
    differing: set[tuple[str, str]] = field(default_factory=set)
    hops: int = 0
    neighbours: set[tuple[str, str]] = field(default_factory=set)
    beyond: int = 0
    unknown: int = 0
    in_graph: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, runs: Sequence[RunToGrade], depth: int = DEPTH) -> Pool:
        """Return the first chunks of each run in a drawn order, which tells neither their run nor their rank."""
        pool = cls(depth)
        for run in runs:
            for question in run.questions:
                pool._add(question, run.case(question).chunks)
        for question, some in pool.texts.items():
            pool.texts[question] = {chunk: some[chunk] for chunk in drawn(question, some)}
        return pool

    def _add(self, question: str, chunks: Iterable[ChunkStruct]) -> None:
        """Add the first chunks of a ranking, each id once."""
        some = self.texts.setdefault(question, {})
        for chunk in list({one.id: one for one in reversed([*chunks])}.values())[::-1][: self.depth]:
            if not (chunk.text or "").strip():
                self.textless.add((question, chunk.id))
            elif some.setdefault(chunk.id, chunk.text or "") != chunk.text:
                self.differing.add((question, chunk.id))

    def extend(
        self,
        dataset: Dataset,
        questions: Mapping[str, QuestionStruct],
        hops: int,
        answers: Iterable[AnswerStruct],
        given: Mapping[str, str],
    ) -> None:
        """Add the neighbours of each question's chunks in its knowledge graph, and put neighbours beside each other.

        The nearest come first, those at one distance in a drawn order, at most ``MOST_NEIGHBOURS`` a question. The text
        of a neighbour is what a run retrieved of it for a question over the same graph, else the one in ``given``.
        """
        self.hops = hops
        retrieved = [(one.question_id, one.retrieved or ()) for one in answers]
        for names, some in by_graph({one: questions[one] for one in self.texts}, dataset).items():
            graph, here = distances_in(dataset, names), {*by_graph(questions, dataset)[names]}
            texts = {**given}
            for question, chunks in retrieved:
                if question in here:
                    texts |= {one.id: one.text for one in reversed(chunks) if (one.text or "").strip() and one.text}
            for question in some:
                self._extend(question, graph, texts)

    def _extend(self, question: str, graph: Distances, texts: Mapping[str, str]) -> None:
        pooled = self.texts[question]
        seeds = {*pooled, *(chunk for of, chunk in self.textless if of == question)}
        self.in_graph.add(question)
        near = [one for ring in graph.around(seeds, self.hops) for one in drawn(question, ring)]
        known = [one for one in near if one in texts]
        self.unknown += len(near) - len(known)
        self.beyond += max(0, len(known) - MOST_NEIGHBOURS)
        more = {one: texts[one] for one in islice(known, MOST_NEIGHBOURS)}
        self.neighbours |= {(question, one) for one in more}
        both = {**pooled, **more}
        self.texts[question] = {one: both[one] for one in beside(drawn(question, both), graph)}

    @property
    def size(self) -> PoolSize:
        """The size of the pool, counted as that of one run."""
        return PoolSize(
            runs=1,
            depth=self.depth,
            hops=self.hops,
            chunks=sum(map(len, self.texts.values())),
            textless=len(self.textless),
            differing=len(self.differing),
            neighbours=len(self.neighbours),
            beyond=self.beyond,
            unknown=self.unknown,
            questions=sum(map(bool, self.texts.values())),
            in_graph=len(self.in_graph),
        )


def drawn(question: str, chunks: Iterable[str]) -> list[str]:
    """Return chunks in an order that tells neither their run nor their rank."""
    return sorted(chunks, key=lambda chunk: digest(f"{question}\0{chunk}"))


def digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def beside(chunks: Sequence[str], graph: Distances) -> Iterator[str]:
    """Yield chunks so that those of a neighbourhood follow each other; only the graph and their order decide."""
    left = dict.fromkeys(chunks)
    while left:
        queue = [next(iter(left))]
        del left[queue[0]]
        for chunk in queue:
            yield chunk
            near = {*next(iter(graph.around([chunk], 1)), ())}
            joined = [one for one in left if one in near]
            for one in joined:
                del left[one]
            queue += joined


def prompts_of(texts: Mapping[str, str], chunks: Collection[str], context_tokens: int) -> list[dict[str, str]]:
    """Return the chunks that one prompt each holds, in their order; one that is too long by itself is in none.

    >>> prompts_of({"a": "123456", "b": "12345", "c": "1" * 9, "d": "1"}, ["a", "b", "c", "d"], 2)
    [{'a': '123456'}, {'b': '12345', 'd': '1'}]
    """
    room = context_tokens * CHARACTERS_PER_TOKEN
    found: list[dict[str, str]] = []
    left = 0
    for chunk in chunks:
        text = texts[chunk]
        if len(text) > room:
            continue
        if not found or len(text) > left:
            found.append({})
            left = room
        found[-1][chunk] = text
        left -= len(text)
    return found
