"""A dataset that was read to its end and checked, put aside on the disk, before any of it is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeVar

from msgspec import Struct

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.known_ids import gold_ids
from graphkit.files.problems import Problems
from graphkit.files.reading import note_missing_gold
from graphkit.files.spool import Spool
from graphkit.files.stale_gold import GoldCheck
from graphkit.graph.digests import file_digests
from graphkit.measures.repositories import named
from graphkit.records.commits import CommitGraph, is_whole
from graphkit.records.ids import repo_of
from graphkit.records.models import Commit, Compatibility
from graphkit.records.structs import ArtifactStruct, EdgeStruct, QuestionStruct

S = TypeVar("S", bound=Struct)


@dataclass
class KnowledgeGraph:
    """What was read of one knowledge graph, and a digest of its files."""

    digest: str
    artifacts: Spool[ArtifactStruct] | None = None
    edges: Spool[EdgeStruct] | None = None


class CheckedDataset:
    """Everything that a dataset holds, and a digest of each file; what is large lies in temporary files.

    A mistake anywhere refuses the whole.

    Raises
    ------
    InputError
        A record can't be used and problems aren't to be skipped, or there is no question.
    """

    def __init__(self, dataset: Dataset, problems: Problems, spools: ExitStack) -> None:
        self.dataset = dataset
        self._spools = spools
        # Before anything is read: of a file that changes meanwhile, the next load sees that it is another one.
        self.digests = file_digests(dataset)
        self.commits: list[Commit] = dataset.commits(problems)
        self.compatibility: list[Compatibility] = dataset.compatibility(problems)
        #: The repositories that are named, and the commits that are by whole shas, beside those of ``commits``.
        self.repositories = {commit.repo for commit in self.commits}
        self.named_commits: set[tuple[str, str]] = set()
        for row in self.compatibility:
            self._note(row.commits.items())
        self.gold = GoldCheck(dataset, CommitGraph.build(self.commits, self.compatibility))
        self.ids: list[str] = []
        self.questions = spools.enter_context(Spool(QuestionStruct))
        self.graphs: dict[str, KnowledgeGraph] = {}
        # First, since of the graphs only what gold names is kept; yet told last.
        asked = Problems(problems.on_error)
        self._read_questions(asked)
        self._read_graphs(problems)
        problems.merge(asked)
        problems.raise_if_refused(usable=len(self.ids))
        if not self.ids:
            raise InputError("the dataset holds no question", where=str(dataset.questions_file))

    def _read_questions(self, problems: Problems) -> None:
        for _, question in self.dataset.questions(problems):
            note_missing_gold(question, self.dataset.questions_file, problems)
            self.ids.append(question.id)
            self.gold.show(question)
            self._note(question.commits.items())
            self.repositories.update(named(*gold_ids(question)))
            self.questions.put(question)
        self.questions.flush()

    def _note(self, commits: Iterable[tuple[str, str]]) -> None:
        for repo, sha in commits:
            self.repositories.add(repo)
            if is_whole(sha):
                self.named_commits.add((repo, sha))

    def _noted(self, artifacts: Iterable[ArtifactStruct]) -> Iterator[ArtifactStruct]:
        """Pass artifacts on, and take note of their repositories and commits."""
        for artifact in artifacts:
            if repo := artifact.repo or repo_of(artifact.id):
                self.repositories.add(repo)
                if artifact.commit:
                    self._note([(repo, artifact.commit)])
            yield artifact

    def _read_graphs(self, problems: Problems) -> None:
        for name, (artifacts, edges) in self.dataset.graphs.items():
            graph = KnowledgeGraph("".join(self.digests[path] for path in (artifacts, edges) if path is not None))
            self.graphs[f"{self.dataset.name}/{name}" if name else self.dataset.name] = graph
            if artifacts is not None:
                found = self._noted(self.gold.artifacts(name, self.dataset.artifacts(artifacts, problems)))
                graph.artifacts = self._put_aside(ArtifactStruct, found)
            if edges is not None:
                graph.edges = self._put_aside(EdgeStruct, self.gold.edges(name, self.dataset.edges(edges, problems)))

    def _put_aside(self, kind: type[S], records: Iterable[S]) -> Spool[S]:
        spool = self._spools.enter_context(Spool(kind))
        for record in records:
            spool.put(record)
        spool.flush()
        return spool
