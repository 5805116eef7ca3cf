"""A dataset that was read completely and checked, spooled to disk before anything is written to the graph."""

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
from graphkit.graph.rows import repository_rules_row
from graphkit.records.commits import CommitGraph, is_whole
from graphkit.records.models import AccessRule, Commit, Compatibility
from graphkit.records.structs import ArtifactStruct, EdgeStruct, QuestionStruct

S = TypeVar("S", bound=Struct)


@dataclass
class KnowledgeGraph:
    """The records of one knowledge graph, and a digest of its files."""

    digest: str
    artifacts: Spool[ArtifactStruct] | None = None
    edges: Spool[EdgeStruct] | None = None


class CheckedDataset:
    """All records of a dataset, and a digest of each file; large parts are in temporary files.

    Raise InputError if a record can't be used and ``problems`` doesn't skip it, or there is no question.
    """

    def __init__(self, dataset: Dataset, problems: Problems, spools: ExitStack) -> None:
        self.dataset = dataset
        self._spools = spools
        # Computed before reading, so that the next load notices a file that changes meanwhile.
        self.digests = file_digests(dataset)
        self.commits: list[Commit] = dataset.commits(problems)
        self.compatibility: list[Compatibility] = dataset.compatibility(problems)
        #: All named repositories, and the commits that are named by whole shas besides those of ``commits``.
        self.repositories = {commit.repo for commit in self.commits}
        self.named_commits: set[tuple[str, str]] = set()
        for row in self.compatibility:
            self._note(row.commits.items())
        self.access: list[AccessRule] = [*dataset.access.rules.values()]
        self.places = dataset.places()
        commits = CommitGraph.build(self.commits, self.compatibility)
        commits.places = self.places
        self.gold = GoldCheck(dataset, commits)
        self.ids: list[str] = []
        self.questions = spools.enter_context(Spool(QuestionStruct))
        self.graphs: dict[str, KnowledgeGraph] = {}
        # Questions come first because only artifacts that gold names are kept, but their problems are reported last.
        asked = Problems(problems.on_error)
        self._read_questions(asked)
        self._read_graphs(problems)
        for question in self.questions if self.gold.knows_history else ():
            self.gold.undated(question, asked)
        problems.merge(asked)
        problems.raise_if_refused(usable=len(self.ids))
        if not self.ids:
            raise InputError("the dataset holds no question", where=str(dataset.questions_file))

    @property
    def graph_names(self) -> dict[str, list[str]]:
        """The names of the knowledge graphs whose edges are given, and of the others."""
        given = {name: graph.edges is not None for name, graph in self.graphs.items()}
        return {
            kind: [name for name, one in given.items() if one is (kind == "graphs")] for kind in ("graphs", "edgeless")
        }

    def _read_questions(self, problems: Problems) -> None:
        for _, question in self.dataset.questions(problems):
            note_missing_gold(question, self.dataset.questions_file, problems)
            self.ids.append(question.id)
            self.gold.show(question)
            self._note(question.commits.items())
            for path in question.paths:
                self._note(path.commits.items())
            self.repositories.update(self.places.named(gold_ids(question)))
            self.questions.put(question)
        self.questions.flush()

    def _note(self, commits: Iterable[tuple[str, str]]) -> None:
        for repo, sha in commits:
            self.repositories.add(repo)
            if is_whole(sha):
                self.named_commits.add((repo, sha))

    def _noted(self, artifacts: Iterable[ArtifactStruct]) -> Iterator[ArtifactStruct]:
        """Yield artifacts, and note their repositories and commits."""
        for artifact in artifacts:
            if repo := artifact.repo or self.places.repo(artifact.id):
                self.repositories.add(repo)
                if artifact.commit:
                    self._note([(repo, artifact.commit)])
            yield artifact

    def _read_graphs(self, problems: Problems) -> None:
        rules = repository_rules_row(self.places)["digest"]
        for name, (artifacts, edges) in self.dataset.graphs.items():
            digests = (self.digests[path] for path in (artifacts, edges) if path is not None)
            graph = KnowledgeGraph("".join((*digests, rules)))
            self.graphs[f"{self.dataset.name}/{name}" if name else self.dataset.name] = graph
            if artifacts is not None:
                found = self._noted(self.gold.artifacts(name, self.dataset.artifacts(artifacts, problems)))
                graph.artifacts = self._spooled(ArtifactStruct, found)
            if edges is not None:
                graph.edges = self._spooled(EdgeStruct, self.gold.edges(name, self.dataset.edges(edges, problems)))

    def _spooled(self, kind: type[S], records: Iterable[S]) -> Spool[S]:
        spool = self._spools.enter_context(Spool(kind))
        for record in records:
            spool.put(record)
        spool.flush()
        return spool
