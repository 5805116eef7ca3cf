"""The share of a run that its dataset knows, reported before the scores: a run with other ids scores only zeros."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from graphkit.files.assets import command_text, option_text
from graphkit.files.dataset import Dataset
from graphkit.files.known_ids import LogCoverage, Meaning, read_known
from graphkit.files.normal_forms import GoldSpelling, respell
from graphkit.files.problems import Problems
from graphkit.files.run_files import RunSource
from graphkit.measures.edges import EdgeMeasure
from graphkit.measures.paths import PathMeasure
from graphkit.measures.registry import known_measure
from graphkit.measures.seeds import SeedMeasure
from graphkit.records.commits import CommitGraph
from graphkit.records.words import counted
from graphkit.scoring.further_measures import RECORDS, FirstRecords

#: With fewer ids or edges than this, nothing is concluded.
FEWEST = 10

_RESPELLED = "the ids of {} differ from the gold's in Unicode normalisation alone, and are compared as the gold's"


@dataclass(frozen=True, slots=True)
class KnownShare:
    """The share of the ids and edges in a run that the dataset knows.

    Attributes
    ----------
    records
        The number of examined records; ``all_records`` is true if the run has no more.
    ids
        The number of distinct ids, of known ones, and of those that gold, artifacts and edges know.
    edges
        The number of traversed edges that the knowledge graph holds forward, reversed, by another relation, or not at
        all; None if the dataset has no edges.
    line
        The same in words.
    meaning
        The usual cause if hardly anything is known, else None.
    """

    records: int
    all_records: bool
    ids: dict[str, int]
    edges: dict[str, int] | None
    line: str
    meaning: Meaning | None

    def explains(self, measure: str) -> bool:
        """Return whether a bad score by a measure follows from unknown ids or edges."""
        named = known_measure(measure)
        if self.meaning is None or named is None or not named.computed or named.layer != "retrieval":
            return False
        of_edges, of_seeds = isinstance(named, EdgeMeasure | PathMeasure), isinstance(named, SeedMeasure)
        return self.meaning.of in ("ids", "edges" if of_edges else "seeds" if of_seeds else "chunks")

    def as_json(self) -> dict[str, Any]:
        """Return the same for programs."""
        return {
            "records": self.records,
            "all_records": self.all_records,
            "ids": self.ids,
            "edges": self.edges,
            "meaning": None if self.meaning is None else str(self.meaning),
        }


@dataclass(slots=True)
class GoldSeen:
    """The ids of a run's first records that the gold holds, and whether a question expects files."""

    ids: set[str] = field(default_factory=set)
    expects_files: bool = False

    def merge(self, other: GoldSeen) -> None:
        """Add the finds of another part of the questions."""
        self.ids |= other.ids
        self.expects_files |= other.expects_files


def known_share(
    dataset: Dataset,
    run_file: Path,
    first: FirstRecords | None = None,
    gold: GoldSeen | None = None,
    respelled: int | None = None,
    *,
    source: RunSource | None = None,
    most: int | None = None,
) -> KnownShare | None:
    """Return the share of a run's first records that the dataset knows; None for a pipe, which can't be read again.

    Unusable records are skipped silently, since scoring has reported them.

    Parameters
    ----------
    first
        The first records, if they were read before.
    gold
        The ids that scoring found in the gold; by default this function reads the questions.
    respelled
        The number of the first records that were written in the spelling of the gold before scoring, if they were.
    source
        The user's file of the run, if ``run_file`` isn't it.
    most
        How many questions are looked at to name the id closest to an unknown one; by default all.
    """
    first = first or FirstRecords.read(dataset, run_file)
    if first is None:
        return None
    looked_at, more = first.answers, first.has_more
    unread = gold is None
    if respelled is None:
        spelling = GoldSpelling(dataset.questions_file)
        respelled = sum(respell(answer, spelling) > 0 for answer in looked_at)
        unread = unread or respelled > 0
    chunks = dict.fromkeys(chunk.id for answer in looked_at for chunk in answer.retrieved or ())
    seeds = dict.fromkeys(seed.id for answer in looked_at for seed in answer.seeds or ())
    steps = (step for answer in looked_at for step in answer.traversal or ())
    ids = chunks | seeds | dict.fromkeys(end for step in steps for end in (step.source, step.target))
    known, graph = read_known(dataset, dataset.every_question() if unread else (), ids)
    if gold is not None:
        known.gold |= gold.ids & ids.keys()
        known.expects_files |= gold.expects_files
    met = LogCoverage(known, {one: one for one in ids}, set(chunks), set(seeds))
    commits = dataset.commit_graph(Problems("skip")) if graph.spans else CommitGraph()
    elsewhen = 0
    for answer in looked_at:
        for step in answer.traversal or ():
            held = graph.held(step.source, step.relation, step.target)
            spans = graph.spans.get((step.source, step.relation or "", step.target))
            if spans and step.source_commit:
                repo = commits.places.repo(step.source) or ""
                sha = commits.meant(repo, step.source_commit).sha
                if all(commits.within(repo, sha, *span) is False for span in spans):
                    held, elsewhen = "unknown", elsewhen + 1
            met.count_edge(step.source, step.relation, step.target, held)

    def every() -> set[str]:
        return read_known(dataset, islice(dataset.every_question(), most))[0].all()

    return KnownShare(
        records=len(looked_at),
        all_records=not more,
        ids=met.known_ids(),
        edges=met.known_edges() if known.has_edges else None,
        line=_line(met, more)
        + (f"; held only at other commits than they were walked at: {elsewhen}" if elsewhen else "")
        + (f"; {_RESPELLED.format(counted(respelled, 'record'))}" if respelled else ""),
        meaning=met.meaning(every, FEWEST, _command(dataset, source or RunSource(run_file, run_file))),
    )


def _command(dataset: Dataset, source: RunSource) -> str:
    """Return the command that evaluates a run by a table of ids."""
    options = f"{source.options}{option_text('dataset', dataset.given)} --ids ids.jsonl"
    return command_text("evaluate", source.file, options=options)


def _line(met: LogCoverage, more: bool) -> str:
    parts = [part for part in (met.id_line(), met.edge_line()) if part]
    if not parts:
        parts = ["no record holds an id"]
    elif not met.known.has_artifacts:
        parts.append("the dataset lists no artifacts" if met.known.has_edges else "the dataset lists its gold alone")
    return "; ".join(parts) + f" (of the first {RECORDS:,} records)" * more
