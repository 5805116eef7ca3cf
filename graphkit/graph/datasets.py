"""Loading a dataset into the graph: idempotent, resumable, and whole.

Each file is skipped where the graph holds its content already, each question where it holds it in this form. What is
replaced is deleted and created again: a MERGE between two popular artifacts would walk all their parallel edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import find_file, open_binary
from graphkit.files.problems import OnError, Problems
from graphkit.files.reading import note_missing_gold
from graphkit.files.spool import Spool
from graphkit.files.stale_gold import GoldCheck, invalid_reason
from graphkit.graph import form
from graphkit.graph import rows as to_rows
from graphkit.graph.claims import Claim, claim, unfinished_loads
from graphkit.graph.queries import cypher
from graphkit.records.models import Commit, Compatibility
from graphkit.records.structs import ArtifactStruct, EdgeStruct, QuestionStruct

T = TypeVar("T")
S = TypeVar("S", bound=Struct)
Progress = Callable[[str, int], None]

#: Rows of one transaction: nodes and edges, and questions or answers with all that belongs to them.
BATCH = 5000
RECORDS = 500

#: What one transaction deletes at most.
CLEARED = 10_000

#: How the keys of the sources that are knowledge graphs end.
_GRAPH = "/graph"


@dataclass
class LoadSummary:
    """What a load did: how many records of each kind were written, and how many were there already."""

    dataset: str
    written: dict[str, int] = field(default_factory=dict)
    unchanged: dict[str, int] = field(default_factory=dict)
    created_artifacts: list[str] = field(default_factory=list)

    def add(self, kind: str, written: int = 0, unchanged: int = 0) -> None:
        """Count records of a kind."""
        self.written[kind] = self.written.get(kind, 0) + written
        self.unchanged[kind] = self.unchanged.get(kind, 0) + unchanged


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of at most ``size``."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def file_digest(path: Path) -> str:
    """Return a digest of a file's bytes."""
    hasher = blake2b(form.FORM.encode(), digest_size=16)
    with open_binary(path):
        pass  # what can't be read is refused here, with what to do
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            hasher.update(block)
    return hasher.hexdigest()


def quiet(kind: str, count: int) -> None:
    """Report no progress."""


def load_dataset(store: Store, dataset: Dataset, problems: Problems, progress: Progress = quiet) -> LoadSummary:
    """Load a dataset: commits, compatibility, knowledge graphs, questions with their gold paths. Runs are not loaded.

    Everything is read and checked before anything is written.

    Raises
    ------
    InputError
        A record can't be used and problems aren't to be skipped, or a question belongs to another dataset.
    DatabaseError
        The database doesn't do as asked.
    """
    with ExitStack() as spools:
        loader = _DatasetLoader(store, dataset, problems, progress, spools)
        loader.check()
        with claim(store, _claimed(dataset)) as held:
            loader.load(held)
    return loader.summary


def _claimed(dataset: Dataset) -> str:
    return f"dataset {dataset.name}"


def ensure_loaded(store: Store, dataset: Dataset, problems: Problems, progress: Progress = quiet) -> None:
    """Load a dataset unless the graph holds it in just this form. Raises what :func:`load_dataset` raises."""
    held = {row["name"]: row["digest"] for row in store.read(cypher("read/datasets"))}
    # A load that died before it changed anything is still told as interrupted: one more, which ends, takes that back.
    unfinished = any(load.name == _claimed(dataset) and load.interrupted for load in unfinished_loads(store))
    if unfinished or held.get(dataset.name) != dataset_digest(dataset):
        load_dataset(store, dataset, problems, progress)


def file_digests(dataset: Dataset) -> dict[Path, str]:
    """Return the digest of each file that loading a dataset reads."""
    graphs = [path for pair in dataset.graphs.values() for path in pair]
    files = [
        dataset.questions_file,
        *(find_file(dataset.folder, kind) for kind in ("commits", "compatibility")),
        *graphs,
    ]
    return {path: file_digest(path) for path in files if path is not None}


def dataset_digest(dataset: Dataset, digests: Mapping[Path, str] | None = None) -> str:
    """Return a digest of everything that loading a dataset reads; those of its files may be known already."""
    known = file_digests(dataset) if digests is None else digests
    return to_rows.digest([[path.name, digest] for path, digest in known.items()])


@dataclass
class _KnowledgeGraph:
    """What was read of one knowledge graph, and a digest of its files."""

    digest: str
    artifacts: Spool[ArtifactStruct] | None = None
    edges: Spool[EdgeStruct] | None = None


class _DatasetLoader:
    """Reads everything once, puts it aside as it is checked, and writes from there."""

    def __init__(
        self, store: Store, dataset: Dataset, problems: Problems, progress: Progress, spools: ExitStack
    ) -> None:
        self.spools = spools
        self.store = store
        self.dataset = dataset
        self.problems = problems
        self.progress = progress
        self.summary = LoadSummary(dataset.name)
        self.commits: list[Commit] = []
        self.compatibility: list[Compatibility] = []
        self.graphs: dict[str, _KnowledgeGraph] = {}
        self.ids: list[str] = []
        self.questions = spools.enter_context(Spool(QuestionStruct))
        # Before anything is read: of a file that changes meanwhile, the next load sees that it is another one.
        self.digests = file_digests(dataset)

    def check(self) -> None:
        """Read everything, so that a mistake anywhere refuses the whole before anything is written."""
        self.commits = self.dataset.commits(self.problems)
        self.compatibility = self.dataset.compatibility(self.problems)
        self.gold = GoldCheck(self.dataset, self.compatibility)
        # First, since of the graphs only what gold names is kept; yet told last.
        asked = Problems(self.problems.on_error)
        for _, question in self.dataset.questions(asked):
            note_missing_gold(question, self.dataset.questions_file, asked)
            self.ids.append(question.id)
            self.gold.show(question)
            self.questions.put(question)
        self.questions.flush()
        for name, (artifacts, edges) in self.dataset.graphs.items():
            graph = _KnowledgeGraph("".join(self.digests[path] for path in (artifacts, edges) if path is not None))
            self.graphs[self._graph_name(name)] = graph
            if artifacts is not None:
                found = self.gold.artifacts(name, self.dataset.artifacts(artifacts, self.problems))
                graph.artifacts = self._put_aside(ArtifactStruct, found)
            if edges is not None:
                graph.edges = self._put_aside(
                    EdgeStruct, self.gold.edges(name, self.dataset.edges(edges, self.problems))
                )
        self.problems.merge(asked)
        self.problems.settle(usable=len(self.ids))
        if not self.ids:
            raise InputError("the dataset holds no question", where=str(self.dataset.questions_file))

    def _put_aside(self, kind: type[S], records: Iterable[S]) -> Spool[S]:
        spool = self.spools.enter_context(Spool(kind))
        for record in records:
            spool.put(record)
        spool.flush()
        return spool

    def load(self, held: Claim) -> None:
        known = {str(row["key"]): row["digest"] for row in self.store.read(cypher("load/sources"))}
        self._refuse_foreign()
        self.store.write(cypher("load/dataset_changes"), {"name": self.dataset.name})
        self._source(known, "commits", self._load_commits, held)
        self._source(known, "compatibility", self._load_compatibility, held)
        for name, graph in self.graphs.items():
            self._load_graph(known, name, graph, held)
        for key in known:
            if key.endswith(_GRAPH) and key.startswith(f"{self.dataset.name}/"):
                gone = key.removesuffix(_GRAPH)
                if known[key] and gone not in self.graphs:
                    self._clear_graph(known, gone)
        self._load_questions(held)
        self.store.write(cypher("load/late_commits"), {})
        held.complete(
            "load/dataset",
            {
                "name": self.dataset.name,
                "folder": str(self.dataset.folder.resolve()),
                "digest": dataset_digest(self.dataset, self.digests),
                "questions": len(self.ids),
            },
        )

    def _refuse_foreign(self) -> None:
        """Refuse questions whose ids belong to another dataset: they would overwrite it."""
        for ids in batched(self.ids, BATCH):
            for row in self.store.read(cypher("load/known_questions"), {"ids": ids}):
                if row["dataset"] != self.dataset.name:
                    raise InputError(
                        f"the question {row['id']!r} already belongs to the dataset {row['dataset']!r}",
                        where=str(self.dataset.questions_file),
                        remedy="Give the questions other ids, or load it into a database of its own (--data).",
                    )

    def _source(self, known: dict[str, Any], kind: str, load: Callable[[Claim], None], held: Claim) -> None:
        """Load a file unless the graph holds its content already."""
        path = find_file(self.dataset.folder, kind)
        key = f"{self.dataset.name}/{kind}"
        digest = self.digests[path] if path is not None else ""
        if known.get(key, "") == digest:
            if path is not None:
                self.summary.add(kind, unchanged=len(getattr(self, kind)))
            return
        self._forget(known, key)
        load(held)
        self.store.write(cypher("load/source"), {"key": key, "digest": digest})

    def _forget(self, known: dict[str, Any], key: str) -> None:
        """Forget a file's content before another one is written: what dies half-way is then neither of the two."""
        if key in known:
            self.store.write(cypher("load/source"), {"key": key, "digest": ""})

    def _load_commits(self, held: Claim) -> None:
        named = {"dataset": self.dataset.name}
        clear(self.store, "load/clear_listed", named)
        write_commits(self.store, self.commits, lambda count: self._step("commits", count, held), self.dataset.name)

    def _step(self, kind: str, count: int, held: Claim) -> None:
        self.summary.add(kind, written=count)
        self.progress(kind, count)
        held.beat()

    def _load_compatibility(self, held: Claim) -> None:
        named = {"dataset": self.dataset.name}
        stacks = [to_rows.stack_row(row, self.dataset.name) for row in self.compatibility]
        fitting = [row for row in self.compatibility if row.compatible and not row.environment]
        clashing = [row for row in self.compatibility if not row.compatible]
        self.store.write_many(
            [
                (cypher("load/members"), {"rows": to_rows.member_rows(self.compatibility)}),
                (cypher("load/clear_stacks"), named),
                (cypher("load/clear_deployments"), named),
                (cypher("load/clear_pairs"), named),
                (cypher("load/stacks"), {**named, "rows": stacks}),
                (cypher("load/deployments"), {**named, "rows": [row for row in stacks if row["environment"]]}),
                (
                    cypher("load/compatible"),
                    {**named, "rows": [pair for row in fitting for pair in to_rows.pair_rows(row)]},
                ),
                (
                    cypher("load/incompatible"),
                    {**named, "rows": [pair for row in clashing for pair in to_rows.pair_rows(row)]},
                ),
            ]
        )
        self._step("compatibility", len(self.compatibility), held)

    def _graph_name(self, name: str) -> str:
        return f"{self.dataset.name}/{name}" if name else self.dataset.name

    def _clear_graph(self, known: dict[str, Any], graph: str) -> None:
        self._forget(known, f"{graph}{_GRAPH}")
        clear(self.store, "load/clear_artifact_commits", {"graph": graph})
        clear(self.store, "load/clear_edges", {"graph": graph})

    def _load_graph(self, known: dict[str, Any], name: str, graph: _KnowledgeGraph, held: Claim) -> None:
        """Load one knowledge graph: its artifacts merged, their commits and edges replaced."""
        key = f"{name}{_GRAPH}"
        if known.get(key) == graph.digest:
            for kind, records in (("artifacts", graph.artifacts), ("edges", graph.edges)):
                if records is not None:
                    self.summary.add(kind, unchanged=len(records))
            return
        self._clear_graph(known, name)
        if graph.artifacts is not None:
            for batch in batched(map(to_rows.artifact_row, graph.artifacts), BATCH):
                pinned = [row for row in batch if row["commit_key"] is not None]
                self.store.write_many(
                    [
                        (cypher("load/artifacts"), {"rows": batch}),
                        (cypher("load/artifact_commits"), {"rows": pinned, "graph": name}),
                    ]
                )
                self._step("artifacts", len(batch), held)
        if graph.edges is not None:
            for some in batched(graph.edges, BATCH):
                batch = [{"source": one.source, "relation": one.relation, "target": one.target} for one in some]
                ends = {node for row in batch for node in (row["source"], row["target"])}
                self._name_artifacts(ends)
                self.store.write(cypher("load/edges"), {"rows": batch, "graph": name})
                self._step("edges", len(batch), held)
        self.store.write(cypher("load/source"), {"key": key, "digest": graph.digest})

    def _name_artifacts(self, nodes: Iterable[str]) -> None:
        """Create the artifacts that the graph doesn't hold from their ids, and remember which."""
        created = name_artifacts(self.store, nodes)
        self.summary.created_artifacts.extend(created)

    def _load_questions(self, held: Claim) -> None:
        for batch in batched(self.questions, RECORDS):
            rows = [
                to_rows.question_row(question, self.dataset.name, invalid_reason(self.gold.reasons(question)))
                for question in batch
            ]
            ids = [row["id"] for row in rows]
            known = {row["id"]: row["digest"] for row in self.store.read(cypher("load/known_questions"), {"ids": ids})}
            changed = [row for row in rows if known.get(row["id"]) != row["properties"]["digest"]]
            self.summary.add("questions", unchanged=len(rows) - len(changed))
            if changed:
                self._write_questions(changed, [row["id"] for row in changed if row["id"] in known])
                self._step("questions", len(changed), held)
        there = [row["id"] for row in self.store.read(cypher("load/dataset_questions"), {"dataset": self.dataset.name})]
        kept = set(self.ids)
        gone = [name for name in there if name not in kept]
        if gone:
            named = {"ids": gone}
            self.store.write_many(
                [*_clear_gold(gone), (cypher("load/stale_runs"), named), (cypher("load/delete_questions"), named)]
            )
            self.summary.add("questions removed", written=len(gone))

    def _write_questions(self, rows: Sequence[dict[str, Any]], stale: Sequence[Any]) -> None:
        steps = [step for row in rows for step in row["steps"]]
        paths = [{"question": row["id"], "properties": path} for row in rows for path in row["paths"]]
        self._name_artifacts({node for step in steps for node in (step["source"], step["target"])})
        self.store.write_many(
            [
                *_clear_gold(stale),
                (cypher("load/questions"), {"rows": [_pick(row, "id", "properties") for row in rows]}),
                (cypher("load/gold_paths"), {"rows": paths}),
                (cypher("load/gold"), {"rows": steps}),
            ]
        )


def _pick(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _clear_gold(ids: Sequence[Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the statements that delete what the graph holds of the gold paths of some questions."""
    if not ids:
        return []
    edges: list[tuple[str, dict[str, Any]]] = [(cypher("load/clear_gold"), {"question": name}) for name in ids]
    return [*edges, (cypher("load/clear_gold_paths"), {"ids": list(ids)})]


def clear(store: Store, query: str, parameters: dict[str, Any]) -> None:
    """Run a query that deletes some of something, until nothing is left."""
    while int(str(store.write(cypher(query), {**parameters, "limit": CLEARED})[0]["deleted"])):
        pass


def name_artifacts(store: Store, nodes: Iterable[str]) -> list[str]:
    """Create the artifacts that the graph doesn't hold yet from their ids, and return which those were."""
    wanted = sorted(nodes)
    if not wanted:
        return []
    missing = [str(row["id"]) for row in store.read(cypher("load/missing_artifacts"), {"ids": wanted})]
    if missing:
        store.write(cypher("load/named_artifacts"), {"rows": [to_rows.node_row(node) for node in missing]})
    return missing


def write_commits(
    store: Store, commits: Iterable[Commit], on_batch: Callable[[int], None], dataset: str | None = None
) -> None:
    """Merge commits, then link each to its parents: of a dataset that lists them, or of a repository's history."""
    listed = [to_rows.commit_row(commit) for commit in commits]
    for batch in batched(listed, BATCH):
        rows = {"rows": batch}
        statements: list[tuple[str, dict[str, Any]]] = [(cypher("load/commits"), {**rows, "history": dataset is None})]
        if dataset is not None:
            statements.append((cypher("load/listed"), {**rows, "dataset": dataset}))
        store.write_many(statements)
        on_batch(len(batch))
    for batch in batched(listed, BATCH):
        store.write(
            cypher("load/parents"), {"rows": [_pick(row, "key", "parent_keys") for row in batch if row["parents"]]}
        )


def load(store: Store, dataset: str | Path | Dataset, *, on_error: OnError = "fail") -> LoadSummary:
    """Load a dataset into the graph: commits, compatibility, knowledge graphs, questions with gold paths.

    Loading twice changes nothing. Nothing is written where a record can't be used, unless ``on_error`` is ``"skip"``.

    Raises
    ------
    InputError
        With file, line, record and remedy of what can't be used.
    """
    chosen = dataset if isinstance(dataset, Dataset) else Dataset(dataset)
    return load_dataset(store, chosen, Problems(on_error))
