"""Load a dataset into the graph: idempotent, resumable, and complete or marked as incomplete.

A load skips each file and each question that the graph already holds unchanged. It deletes and recreates the others,
because a MERGE between two popular artifacts would visit all their parallel edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.assets import command_text
from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import find_file
from graphkit.files.problems import OnError, Problems
from graphkit.files.stale_gold import invalid_reason
from graphkit.graph import rows as to_rows
from graphkit.graph import schema_version
from graphkit.graph.checked import CheckedDataset, KnowledgeGraph
from graphkit.graph.commit_names import GRAPH, know_histories, resolve_commits
from graphkit.graph.digests import dataset_digest
from graphkit.graph.edge_directions import align_runs
from graphkit.graph.knowledge import known_commits, known_places, question_ids
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import Reservation, reserved, unfinished_loads
from graphkit.graph.rights import grant, write_principals
from graphkit.graph.runs import forget_questions, recount_runs
from graphkit.graph.schema_version import names_no_dataset
from graphkit.graph.score_nodes import outdated_scores
from graphkit.graph.stream import TEXT, Artifacts, Joins, Statement, StreamWriter, Transaction
from graphkit.graph.walk_sides import align_sides
from graphkit.graph.writing import BATCH, batched, clear, clear_former, clear_unnamed, write_commits
from graphkit.records.collector import quiet_collector
from graphkit.records.commits import CommitGraph
from graphkit.records.gold import GoldSum, as_number, gold_number
from graphkit.records.ids import Places
from graphkit.records.notebook_html import block
from graphkit.records.progress import Progress, expect, quiet
from graphkit.records.structs import EdgeStruct, QuestionStruct
from graphkit.records.words import counted

T = TypeVar("T")

#: Questions that are compared with the graph together.
RECORDS = 500


@dataclass
class LoadSummary:
    """The result of a load: how many records of each kind were written or already there.

    ``retried_writes`` counts the writes that were tried again because another writer held the same nodes. ``notes`` are
    sentences on runs whose scores are outdated.
    """

    dataset: str
    written: dict[str, int] = field(default_factory=dict)
    unchanged: dict[str, int] = field(default_factory=dict)
    created_artifacts: list[str] = field(default_factory=list)
    retried_writes: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """A sentence: how many records of each kind were written, and how many were there."""
        kinds = (
            f"{name} {count}"
            + ("" if name.endswith(" removed") else f" written, {self.unchanged.get(name, 0)} unchanged")
            for name, count in self.written.items()
        )
        return f"{self.dataset}: {'; '.join(kinds) or 'nothing to load'}"

    def __repr__(self) -> str:
        return f"<{self.verdict}>"

    def _repr_html_(self) -> str:
        """Draw the counts in a notebook."""
        created = len(self.created_artifacts)
        named = [f"{counted(created, 'artifact')} named by edges alone"] if created else []
        return block(self.verdict, notes=[*named, *self.notes])

    def add(self, kind: str, written: int = 0, unchanged: int = 0) -> None:
        """Count records of a kind."""
        self.written[kind] = self.written.get(kind, 0) + written
        self.unchanged[kind] = self.unchanged.get(kind, 0) + unchanged


@quiet_collector()
def load_dataset(
    store: Store, dataset: Dataset, problems: Problems, progress: Progress = quiet, *, partial: bool = False
) -> LoadSummary:
    """Load a dataset without its runs: commits, compatibility, knowledge graphs, questions with their gold paths.

    Everything is read and checked before anything is written.

    Of a ``partial`` dataset, only the questions that the graph holds already are loaded; :func:`add_questions` adds
    others.

    Raise InputError if a record can't be used and ``problems`` doesn't skip it. Raise DatabaseError if the database
    fails.
    """
    conflicts = store.conflicts
    with ExitStack() as spools:
        loader = _DatasetLoader(store, CheckedDataset(dataset, problems, spools), progress, partial)
        with reserved(store, reservation_of(dataset.name)) as held:
            loader.load(held)
    loader.summary.retried_writes = store.conflicts - conflicts
    if loader.cleared:
        loader.summary.notes = outdated_scores(store, dataset.name)
    return loader.summary


def reservation_of(dataset: str) -> str:
    """Return the name of the reservation of a dataset."""
    return f"dataset {dataset}"


def ensure_loaded(
    store: Store, dataset: Dataset, problems: Problems, progress: Progress = quiet, *, partial: bool = False
) -> bool:
    """Load a dataset unless the graph holds it unchanged, and return whether its questions are stored only in part.

    ``partial`` leaves out the questions of a dataset that the graph doesn't hold whole. Raises what
    :func:`load_dataset` raises.
    """
    known = {row["name"]: row for row in store.read(cypher("read/datasets"))}.get(dataset.name)
    part = known is not None and bool(known["partial"])
    partial = partial and (known is None or part)
    # A history read since then may change what a name in the dataset means, which makes it outdated.
    digest = known["digest"] if known is not None and not known["outdated"] else None
    # A load that died before it changed anything still counts as interrupted until another one ends.
    unfinished = any(load.name == reservation_of(dataset.name) and load.interrupted for load in unfinished_loads(store))
    if unfinished or (part and not partial) or digest != dataset_digest(dataset):
        load_dataset(store, dataset, problems, progress, partial=partial)
    return partial


def add_questions(
    store: Store,
    dataset: Dataset,
    ids: Set[str],
    commits: CommitGraph,
    invalid: Mapping[str, str],
    progress: Progress = quiet,
) -> None:
    """Add questions with their gold to a dataset that is stored in part, and skip those that are there.

    Parameters
    ----------
    commits
        The commits that the dataset knows.
    invalid
        The questions with stale gold, and why.
    """
    wanted = ids - question_ids(store, dataset.name)
    if not wanted:
        return
    expect(progress, "questions kept", len(wanted))
    places, found = dataset.places(), dataset.questions(Problems("skip"))
    with reserved(store, reservation_of(dataset.name)) as held:
        for batch in batched((question for _, question in found if question.id in wanted), RECORDS):
            rows = [
                to_rows.question_row(question, dataset.name, commits, invalid.get(question.id)) for question in batch
            ]
            write_questions(store, dataset.name, rows, places)
            progress("questions kept", len(rows))
            held.beat()


class _DatasetLoader:
    """Writes a checked dataset."""

    def __init__(self, store: Store, checked: CheckedDataset, progress: Progress, partial: bool = False) -> None:
        self.store = store
        self.checked = checked
        self.dataset = checked.dataset
        self.name = checked.dataset.name
        self.progress = progress
        self.partial = partial
        self.summary = LoadSummary(checked.dataset.name)
        self.gold = GoldSum()
        self.places = checked.places
        self.artifacts = Artifacts(store, self.name, self.places)
        #: Whether something may have left that named artifacts or chunks, and whether questions have.
        self.cleared = self.removed = False

    def load(self, held: Reservation) -> None:
        known = {str(row["key"]): row["digest"] for row in self.store.read(cypher("load/sources"))}
        before = self._held()
        if before is not None and before["questions"] and before["folder"] != self.dataset.place:
            self._refuse_another(before)
        rules = self.store.read(cypher("read/repository_rules"), {"dataset": self.dataset.name})
        self.rules = to_rows.repository_rules_row(self.places)
        split = known_places(self.store, self.dataset.name).files.hashed != self.places.files.hashed
        elsewhere = split or bool(rules and rules[0]["digest"] != self.rules["digest"])
        if elsewhere or (before or {}).get("digest") != dataset_digest(self.dataset, self.checked.digests):
            # The rows of runs depend on where their nodes lie, and some of them on gold.
            self.store.write(cypher("load/forget_runs"), {"dataset": self.dataset.name, "all": elsewhere})
        self.store.write(cypher("load/dataset_changes"), {"name": self.dataset.name})
        if self.partial:
            self.store.write(cypher("load/dataset_part"), {"name": self.dataset.name})
        self._name_repositories()
        self._source(known, "commits", self._load_commits, held)
        changes = know_histories(self.store, self.dataset.name)
        # The graph doesn't keep which parents the dataset lists.
        listed = [*self.checked.commits, *known_commits(self.store, self.dataset.name)]
        self.commits = CommitGraph.build(listed, self.checked.compatibility)
        self.commits.places, self.commits.absent = self.places, self.checked.gold.absent
        self.checked.gold.commits = self.commits
        self._source(
            known,
            "compatibility",
            self._load_compatibility,
            held,
            to_rows.meant_by_rows(self.checked.compatibility, self.commits),
        )
        self._source(known, "access", self._load_access, held)
        # A load that died may have cleared something.
        self.cleared = self.removed = before is not None and before["digest"] is None
        if former := before is not None and names_no_dataset(before):
            self._clear_former_gold()
        self._load_graphs(known, before is not None, held)
        if elsewhere and before is not None:
            self._unlist({str(row["id"]) for row in self._artifacts_known(False)}, held)
        self._load_questions(held)
        self._grant(held)
        self.store.write(cypher("load/late_commits"), {})
        if before is not None and (self.cleared or self.summary.created_artifacts):
            self.store.write(cypher("load/late_artifacts"), {"dataset": self.name})
        if self.removed:
            recount_runs(self.store, self.name)
        if self.cleared:
            clear_unnamed(self.store, self.name, lambda _: held.beat())
        if former:
            clear_former(self.store, lambda _: held.beat())
        resolve_commits(self.store, self.dataset.name)
        align_runs(self.store, self.dataset.name)
        align_sides(self.store, self.dataset.name)
        named = self.dataset.named_places()
        held.complete(
            "load/dataset",
            {
                "name": self.dataset.name,
                "folder": self.dataset.place,
                "digest": dataset_digest(self.dataset, self.checked.digests),
                "gold_hash": self.gold.hexdigest(),
                "questions": len(self.checked.ids),
                "changes": changes,
                # Without all questions in the graph, it can't tell the files that they expect.
                "files": sorted(
                    {*named.of_artifacts(self.places), *(named.expected_files(self.places) if self.partial else ())}
                ),
                "partial": True if self.partial else None,
                **self.checked.graph_names,
                "schema": schema_version.SCHEMA_VERSION,
            },
        )

    def _held(self) -> Mapping[str, Any] | None:
        """Return what the graph says of the dataset; None if it holds none, not even a part."""
        rows = (row for row in self.store.read(cypher("read/datasets")) if row["name"] == self.name)
        return next(rows, None)

    def _refuse_another(self, before: Mapping[str, Any]) -> None:
        """Raise InputError if a dataset from another folder shares its name with this one, but no question."""
        for some in batched(self.checked.questions, RECORDS):
            rows = [{"id": one.id, "question": one.question} for one in some]
            if self.store.read(cypher("load/same_questions"), {"dataset": self.name, "rows": rows})[0]["same"]:
                return
        held, remove = counted(int(before["questions"]), "question"), command_text("db remove dataset", self.name)
        raise InputError(
            f"the graph holds another dataset {self.name!r}, from {before['folder']}: none of its {held} has the id "
            "and the text of one here",
            where=self.dataset.place,
            remedy=f"Rename the folder, or remove that dataset first: `{remove}`.",
        )

    def _clear_former_gold(self) -> None:
        """Delete the gold edges that a version before 15 wrote, whose artifacts aren't the dataset's alone."""
        for ids in batched(sorted(question_ids(self.store, self.name)), BATCH):
            self.store.write(cypher("load/clear_former_gold"), {"ids": ids})

    def _name_repositories(self) -> None:
        keys = [to_rows.commit_key(repo, sha) for repo, sha in sorted(self.checked.named_commits)]
        named = {"repositories": sorted(self.checked.repositories), "commits": keys, **self.rules}
        self.store.write(cypher("load/dataset_repositories"), {"name": self.dataset.name, **named})

    def _source(
        self,
        known: dict[str, Any],
        kind: str,
        load: Callable[[Reservation], None],
        held: Reservation,
        meaning: str = "",
    ) -> None:
        """Load a file unless the graph already holds its content with the same meaning."""
        path = find_file(self.dataset.folder, kind)
        key = f"{self.dataset.name}/{kind}"
        digest = self.checked.digests[path] + meaning if path is not None else ""
        if known.get(key) == (digest if path is not None else None):
            if path is not None:
                self.summary.add(kind, unchanged=len(getattr(self.checked, kind)))
            return
        self._forget(known, key)
        expect(self.progress, kind, len(getattr(self.checked, kind)))
        load(held)
        if path is None:
            self.store.write(cypher("load/forget_sources"), {"keys": [key]})
        else:
            self.store.write(cypher("load/source"), {"key": key, "digest": digest})

    def _forget(self, known: dict[str, Any], key: str) -> None:
        """Forget a file's digest before a change, so that an interrupted load matches neither content."""
        if key in known:
            self.store.write(cypher("load/source"), {"key": key, "digest": ""})

    def _load_commits(self, held: Reservation) -> None:
        name = self.dataset.name
        clear(self.store, "load/clear_listed", {"dataset": name})
        write_commits(self.store, self.checked.commits, lambda count: self._step("commits", count, held), name)

    def _step(self, kind: str, count: int, held: Reservation) -> None:
        self.summary.add(kind, written=count)
        self.progress(kind, count)
        held.beat()

    def _load_compatibility(self, held: Reservation) -> None:
        named = {"dataset": self.dataset.name}
        stacks = [to_rows.stack_row(row, self.dataset.name, self.commits) for row in self.checked.compatibility]
        members = [member for commits in self.commits.stacks.values() for member in commits.items()]
        pairs = [(row, pair) for row in self.checked.compatibility for pair in to_rows.pair_rows(row, self.commits)]
        fitting = [pair for row, pair in pairs if row.compatible and not row.environment]
        clashing = [pair for row, pair in pairs if not row.compatible]
        self.store.write_many(
            [
                (cypher("load/members"), {"rows": to_rows.member_rows(members)}),
                (cypher("load/clear_stacks"), named),
                (cypher("load/clear_deployments"), named),
                (cypher("load/clear_pairs"), named),
                (cypher("load/stacks"), {**named, "rows": stacks}),
                (cypher("load/deployments"), {**named, "rows": [row for row in stacks if row["environment"]]}),
                (cypher("load/compatible"), {**named, "rows": fitting}),
                (cypher("load/incompatible"), {**named, "rows": clashing}),
            ]
        )
        self._step("compatibility", len(self.checked.compatibility), held)

    def _load_access(self, held: Reservation) -> None:
        write_principals(self.store, self.name, self.dataset.access, lambda _: held.beat())
        self._step("access", len(self.checked.access), held)

    def _grant(self, held: Reservation) -> None:
        """Link the principals to all that they may read, also to what only runs named before."""
        if self.checked.access:
            nodes = (str(row["id"]) for known in (True, False) for row in self._artifacts_known(known))
            grant(self.store, self.name, self.dataset.access, nodes, lambda _: held.beat())

    def _clear_graph(self, known: dict[str, Any], graph: str) -> None:
        self._forget(known, f"{graph}{GRAPH}")
        clear(self.store, "load/clear_artifact_commits", {"graph": graph})
        clear(self.store, "load/clear_edges", {"graph": graph})

    def _load_graphs(self, known: dict[str, Any], there: bool, held: Reservation) -> None:
        """Load the knowledge graphs that changed: replace their edges and the commits of their artifacts.

        The last record of an artifact counts, so that all artifacts are merged again if those of one graph change.
        """
        graphs = self.checked.graphs
        of_graphs = [key for key in known if key.endswith(GRAPH) and key.startswith(f"{self.name}/")]
        changed = [name for name, graph in graphs.items() if known.get(f"{name}{GRAPH}") != graph.digest]
        gone = [name for key in of_graphs if (name := key.removesuffix(GRAPH)) not in graphs]
        if not changed and not gone:
            for graph in graphs.values():
                self._count_unchanged(graph)
            return
        listed: set[str] = set()
        if there:
            self.cleared = True
            listed = {str(row["id"]) for row in self._artifacts_known(True)}
        for name in [*gone, *changed]:
            self._clear_graph(known, name)
        self.store.write(cypher("load/forget_sources"), {"keys": [f"{name}{GRAPH}" for name in gone]})
        for name, graph in graphs.items():
            if graph.artifacts is not None:
                self._merge_artifacts(name, graph, name in changed, listed, held)
        self._unlist(listed, held)
        for name, graph in graphs.items():
            if name not in changed:
                self._count_unchanged(graph)
                continue
            if graph.edges is not None:
                expect(self.progress, "edges", len(graph.edges))
                self._stream("edges", graph.edges, partial(_edge_transaction, self.name, name), held)
            self.store.write(cypher("load/source"), {"key": f"{name}{GRAPH}", "digest": graph.digest})

    def _count_unchanged(self, graph: KnowledgeGraph) -> None:
        for kind, records in (("artifacts", graph.artifacts), ("edges", graph.edges)):
            if records is not None:
                self.summary.add(kind, unchanged=len(records))

    def _artifacts_known(self, known: bool) -> Iterable[Mapping[str, Any]]:
        return self.store.read(cypher("load/known_artifacts"), {"dataset": self.name, "known": known})

    def _merge_artifacts(
        self, name: str, graph: KnowledgeGraph, changed: bool, listed: set[str], held: Reservation
    ) -> None:
        """Merge the artifacts of a graph, with their commits if it changed, and take them out of those ``listed``."""
        assert graph.artifacts is not None
        rows = (to_rows.artifact_row(artifact, self.commits) for artifact in graph.artifacts)
        if changed:
            expect(self.progress, "artifacts", len(graph.artifacts))

        def noted() -> Iterator[dict[str, Any]]:
            for row in rows:
                listed.discard(row["id"])
                yield row

        writer = StreamWriter(self.store, partial(_artifact_transaction, self.name, name, changed))
        for written in writer.write(noted()):
            held.beat()
            if changed:
                self._step("artifacts", len(written), held)

    def _unlist(self, left: set[str], held: Reservation) -> None:
        """Take back what was said of artifacts that left the knowledge graphs."""
        for ids in batched(sorted(left), BATCH):
            rows = [to_rows.node_row(node, self.places) for node in ids]
            self.store.write(cypher("load/unlist_artifacts"), {"dataset": self.name, "rows": rows})
            held.beat()

    def _stream(
        self,
        kind: str,
        items: Iterable[T],
        transaction: Callable[[list[T]], Transaction],
        held: Reservation,
        weigh: Callable[[T], int] = lambda item: 1,
    ) -> None:
        """Write items of a kind, and note the artifacts that only they name in the summary."""
        writer = StreamWriter(self.store, transaction, weigh, self.artifacts)
        for written in writer.write(items):
            self._step(kind, len(written), held)
        self.summary.created_artifacts.extend(writer.created)

    def _questions(self, there: Set[str]) -> Iterator[QuestionStruct]:
        """Yield the questions to load; without them, the gold of the others still counts."""
        for question in self.checked.questions:
            if self.partial and question.id not in there:
                self.gold.add(question.id, gold_number(question))
            else:
                yield question

    def _load_questions(self, held: Reservation) -> None:
        there = question_ids(self.store, self.dataset.name)
        expect(self.progress, "questions", len(there) if self.partial else len(self.checked.ids))
        self.summary.add("questions")
        changed = self._changed_questions(there)
        transaction = partial(_question_transaction, self.name)
        self._stream("questions", changed, transaction, held, _question_weight)
        if gone := sorted(there - set(self.checked.ids)):
            self._remove_questions(gone, held)

    def _remove_questions(self, ids: Sequence[str], held: Reservation) -> None:
        """Delete questions with their gold, and all that runs hold of them."""
        self.cleared = self.removed = True
        for some in batched(ids, RECORDS):
            named = {"dataset": self.name, "ids": some}
            # A run that died on the way loads anew, and so do those that lose an answer.
            self.store.write(cypher("load/stale_runs"), named)
            for kind, count in forget_questions(self.store, self.name, some).items():
                if count:
                    self.summary.add(f"{kind} removed", written=count)
            self.store.write_many([*clear_gold(self.name, some), (cypher("load/delete_questions"), named)])
            held.beat()
        self.summary.add("questions removed", written=len(ids))

    def _changed_questions(self, there: Set[str]) -> Iterator[dict[str, Any]]:
        """Yield the rows of the questions that the graph doesn't hold as they are; ``stale`` if it holds others."""
        for batch in batched(self._questions(there), RECORDS):
            rows = [
                to_rows.question_row(
                    question, self.dataset.name, self.commits, invalid_reason(self.checked.gold.reasons(question))
                )
                for question in batch
            ]
            for row in rows:
                self.gold.add(row["id"], as_number(row["properties"]["gold_hash"]))
            known: dict[Any, Any] = {}
            if there:
                ids = {"dataset": self.name, "ids": [row["id"] for row in rows]}
                known = {row["id"]: row["digest"] for row in self.store.read(cypher("load/known_questions"), ids)}
            for row in rows:
                if known.get(row["id"]) != row["properties"]["digest"]:
                    self.cleared = self.cleared or row["id"] in known
                    yield {**row, "stale": row["id"] in known}
                else:
                    self.summary.add("questions", unchanged=1)


def write_questions(store: Store, dataset: str, rows: Sequence[dict[str, Any]], places: Places) -> None:
    """Write questions of a dataset that the graph doesn't hold, with their gold paths."""
    transaction = partial(_question_transaction, dataset)
    writer = StreamWriter(store, transaction, _question_weight, Artifacts(store, dataset, places))
    for _ in writer.write({**row, "stale": False} for row in rows):
        pass


def _artifact_transaction(dataset: str, graph: str, changed: bool, rows: list[dict[str, Any]]) -> Transaction:
    pinned = [row for row in rows if changed and row["commit_key"] is not None]
    members = to_rows.member_rows((row["commit_repo"], row["sha"]) for row in pinned)
    return Transaction.of(
        (cypher("load/artifacts"), {"dataset": dataset, "rows": rows}),
        (cypher("load/members"), {"rows": members}),
        (cypher("load/artifact_commits"), {"dataset": dataset, "rows": pinned, "graph": graph}),
    )


def _edge_transaction(dataset: str, graph: str, edges: list[EdgeStruct]) -> Transaction:
    joins = Joins()
    rows = [
        {
            "from": joins.place(edge.source),
            "to": joins.place(edge.target),
            "relation": edge.relation,
            "since": edge.since,
            "until": edge.until,
        }
        for edge in edges
    ]
    return Transaction.of(joins.statement("load/edges", rows, dataset=dataset, graph=graph))


def _question_weight(row: dict[str, Any]) -> int:
    """Return how many rows a question is, with its texts."""
    properties = row["properties"]
    texts = [properties["question"], properties["gold_answer"] or "", *properties["facts"]]
    return 1 + len(row["paths"]) + len(row["steps"]) + sum(map(len, texts)) // TEXT


def _question_transaction(dataset: str, rows: list[dict[str, Any]]) -> Transaction:
    """Return the transaction of questions with their gold, which replaces what the graph holds of them."""
    joins = Joins()
    steps = [joins.edge(step) for row in rows for step in row["steps"]]
    paths = [{"question": row["id"], "properties": path} for row in rows for path in row["paths"]]
    questions = [{"id": row["id"], "new": not row["stale"], "properties": row["properties"]} for row in rows]
    written = Transaction.of(
        (cypher("load/questions"), {"dataset": dataset, "rows": questions}),
        (cypher("load/gold_paths"), {"dataset": dataset, "rows": paths}),
        joins.statement("load/gold", steps, dataset=dataset),
    )
    return Transaction([*clear_gold(dataset, [row["id"] for row in rows if row["stale"]]), *written.statements])


def clear_gold(dataset: str, ids: Sequence[Any]) -> list[Statement]:
    """Return the statements that delete the gold paths of questions of a dataset."""
    named = {"dataset": dataset, "ids": list(ids)}
    return [(cypher(f"load/{query}"), named) for query in ("clear_gold", "clear_gold_paths")] if ids else []


def load(
    store: Store, dataset: str | Path | Dataset, *, on_error: OnError = "fail", strict: bool = False
) -> LoadSummary:
    """Load a dataset into the graph: commits, compatibility, knowledge graphs, questions with gold paths.

    Loading twice changes nothing. If a record can't be used, nothing is written, unless ``on_error`` is ``"skip"``;
    ``strict`` refuses fields that graphkit doesn't know.

    Raises
    ------
    InputError
        A record can't be used; the message names file, line, record and remedy.
    """
    return load_dataset(store, Dataset.of(dataset), Problems(on_error, strict=strict))
