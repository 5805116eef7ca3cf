"""What is known of one question of a run, from the graph or from files alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphkit.analysis.file_failures import INVENTED, RunOnFiles
from graphkit.database.store import Store
from graphkit.graph.beside import kinds_beside
from graphkit.graph.failures import failures
from graphkit.graph.knowledge import known_commits, known_places
from graphkit.graph.known_names import kept_in_words, require_question, require_run
from graphkit.graph.queries import NO_LIMIT, cypher, named_query
from graphkit.graph.right_answers import decision_of, of_whole_answers
from graphkit.graph.rows import commit_key
from graphkit.measures.case import Case
from graphkit.measures.missed import aligned_with_gold
from graphkit.measures.outcome import (
    RIGHT_ANSWER,
    Decision,
    decided,
    right_answer,
)
from graphkit.measures.seeds import distance, linked
from graphkit.records.commits import CommitGraph, PlacedGold, is_whole
from graphkit.records.ids import Places
from graphkit.records.models import Commit
from graphkit.records.structs import (
    AnswerStruct,
    ChunkStruct,
    ComparedResultStruct,
    GoldPathStruct,
    QuestionStruct,
    SeedStruct,
    StepStruct,
    TraversalStepStruct,
)

Row = Mapping[str, Any]

#: The named query of the first hops at which relevance falls, by judges, and those whose rows evidence holds.
LOST = "relevance-lost"
_ASKED = ("incoherent-pairs", LOST, "access-violations", "not-linked", INVENTED)

#: How many questions a query reads.
_TOGETHER = 500


@dataclass(frozen=True)
class QuestionEvidence:
    """One question of a run: the case, what clashes in it, the claims with their edges, and what else was retrieved.

    Attributes
    ----------
    case
        The gold paths with the walk, and the retrieved chunks with their commits. From the graph it holds nothing else.
    invalid
        The reason why the gold is stale; None if it isn't.
    conflicts
        Rows of the query ``incoherent-pairs``.
    claims
        Rows with claim, support and the traversed edge that it rests on, in the order of judge and position.
    falls
        Rows of the query ``relevance-lost``.
    violations
        Rows of the query ``access-violations``.
    invented
        Rows of the query ``invented-edges``.
    unlinked
        Rows of the query ``not-linked``, with the ``distance`` of the nearest seed from the gold path: null if it isn't
        known, or far.
    graded
        What each grade of the whole answer says: those of judges, persons and tests.
    right
        Whether the answer is right, by its grades, else by its text; None if nothing decides it. The graph knows it of
        runs that were evaluated there.
    relevant
        The relevant ids, most relevant first.
    expected_files, files
        The expected files, and those that the record names or retrieved.
    files_logged
        Whether the record logs files.
    kept
        A sentence on a run that the graph stores in part; None for a whole one.
    undirected
        Whether edges are compared without their direction.
    """

    run: str
    question: str
    case: Case
    invalid: str | None = None
    conflicts: Sequence[Row] = ()
    claims: Sequence[Row] = ()
    falls: Sequence[Row] = ()
    violations: Sequence[Row] = ()
    invented: Sequence[Row] = ()
    unlinked: Sequence[Row] = ()
    graded: Sequence[Decision] = ()
    right: bool | None = None
    relevant: Sequence[str] = ()
    expected_files: Sequence[str] = ()
    files: Sequence[str] = ()
    files_logged: bool = False
    kept: str | None = None
    undirected: bool = False

    def without_direction(self) -> QuestionEvidence:
        """Return the evidence of a walk whose edges may go in either direction."""
        return replace(self, case=aligned_with_gold(self.case), undirected=True)

    @property
    def scored(self) -> bool:
        """Whether the question was answered, and its gold isn't stale."""
        return self.case.failure is None and self.invalid is None


def evidence_in_graph(store: Store, run: str, question: str) -> QuestionEvidence:
    """Return what the graph knows of a question; raise InputError if run or question is unknown."""
    known = require_run(store, run)
    require_question(store, question, str(known["dataset"]))
    rows = ({question: failures(store, run, kind, question=question)} for kind in _ASKED)
    [found] = _in_graph(store, known, [question], *rows)
    return found


def each_evidence_in_graph(store: Store, run: str, questions: Sequence[str]) -> Iterator[QuestionEvidence]:
    """Yield what the graph knows of some questions of a run that it scored, in their order.

    What clashes in the whole run is read at once: a query for each question takes ten times as long.

    Raises
    ------
    InputError
        The run is unknown.
    """
    known = require_run(store, run)
    rows = [_by_question(failures(store, run, kind) if questions else ()) for kind in _ASKED]
    for start in range(0, len(questions), _TOGETHER):
        yield from _in_graph(store, known, questions[start : start + _TOGETHER], *rows)


def _by_question(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(str(row["question"]), []).append(row)
    return found


def _in_graph(
    store: Store, known: Row, questions: Sequence[str], *asked: Mapping[str, Sequence[Row]]
) -> Iterator[QuestionEvidence]:
    """Yield the evidence on questions of a run, of which ``asked`` has the rows of the queries ``_ASKED``."""
    run, dataset = str(known["id"]), str(known["dataset"])

    def read(name: str, some: Sequence[str], **more: object) -> dict[str, list[Row]]:
        return _by_question(store.read(cypher(name), {"run": run, "questions": some, **more}) if some else ())

    facts = {
        question: rows[0] for question, rows in read("read/question_evidence", questions, decision=RIGHT_ANSWER).items()
    }
    answered = [one for one, row in facts.items() if row["answered"] and row["error"] is None and not row["invalid"]]
    claims = read("read/question_claims", answered)
    grades = read("read/question_grades", answered, **of_whole_answers())
    commits = _commits(store, dataset, facts.values())
    for question in questions:
        if question not in facts:  # the dataset has lost it since
            continue
        row = facts[question]
        yield QuestionEvidence(
            run=run,
            question=question,
            case=_case(run, row, commits),
            invalid=row["invalid"] or None,
            conflicts=asked[0].get(question, ()),
            claims=claims.get(question, ()),
            falls=asked[1].get(question, ()),
            violations=asked[2].get(question, ()),
            invented=asked[4].get(question, ()),
            unlinked=_with_distances(store, run, question, asked[3].get(question, ())),
            graded=[decision_of(grade) for grade in grades.get(question, ())],
            right=row["right"],
            relevant=row["relevant"] or (),
            expected_files=row["expected_files"] or (),
            files=row["files"] or (),
            files_logged=bool(row["files_logged"]),
            kept=kept_in_words(known),
        )


def _with_distances(store: Store, run: str, question: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows of ``not-linked`` on a question with the distances that the graph knows."""
    query = named_query("seed-distances")
    asked = {"run": run, "question": question, "limit": NO_LIMIT}
    found = {row["path"]: row["distance"] for row in (store.read(query.text, query.bind(asked)) if rows else ())}
    return [{**row, "distance": found.get(row["path"])} for row in rows]


def _case(run: str, row: Row, commits: CommitGraph) -> Case:
    """Return the case of a question in the graph."""
    question = QuestionStruct(
        id=row["question"],
        question="",
        session="session",
        turn=row["turn"],
        # Those of the stack are resolved, too; the question's own come first.
        commits=dict([*row["stack_pins"], *row["pins"]]),
        paths=[_gold_path(path) for path in row["gold"]],
        relevant=dict(zip(row["relevant"] or (), row["gains"] or (), strict=True)),
        seeds=row["gold_seeds"],
        answerable=row["answerable"],
        why_not=row["why_not"],
        absent=[StepStruct(source, target, relation or None) for source, relation, target in row["listed_absent"]],
    )
    answer = AnswerStruct(
        run=run,
        question_id=row["question"],
        retrieved=[ChunkStruct(id=node, repo=repo, commit=sha) for node, repo, sha in row["chunks"]]
        if row["chunks_logged"]
        else None,
        traversal=[step for number, walk in enumerate(row["walks"]) for step in _walk(number, walk)]
        if row["walk_logged"]
        else None,
        seeds=[SeedStruct(*seed) for seed in row["seeds"]] if row["seeds_logged"] else None,
        ordered=row["ordered"],
        walked_before=[
            TraversalStepStruct(source=source, target=target, relation=relation or None, path=turn)
            for source, relation, target, turn in row["before"] or ()
        ],
        error=row["error"],
        # The graph holds what was read of the words of an answer to a question without one.
        abstained=row["declined"],
        compared_result=None if row["compared"] is None else ComparedResultStruct(**row["compared"]),
    )
    return Case(question, answer if row["answered"] else None, commits)


def _gold_path(path: Row) -> GoldPathStruct:
    parts = (path[name] for name in ("sources", "relations", "targets", "optional", "manual"))
    steps = [
        StepStruct(source=source, target=target, relation=relation or None, optional=free, evidence=_evidence(manual))
        for source, relation, target, free, manual in zip(*parts, strict=True)
    ]
    commits = dict(zip(path["repos"], path["names"], strict=True))
    return GoldPathStruct(path["id"], path["group"], steps, path["ordered"], path["from_turn"], commits)


def _evidence(manual: bool) -> str | None:
    return "manual" if manual else None


def _walk(number: int, walk: Row) -> Iterator[TraversalStepStruct]:
    parts = (walk[name] for name in ("sources", "relations", "targets", "source_commits", "target_commits"))
    for position, (source, relation, target, here, there) in enumerate(zip(*parts, strict=True)):
        yield TraversalStepStruct(
            source=source,
            target=target,
            relation=relation or None,
            path=number,
            position=position,
            source_commit=here or None,
            target_commit=there or None,
        )


def _absent(row: Row) -> frozenset[PlacedGold] | None:
    """Return the gold edges that the knowledge graphs lack, None if that isn't known."""
    found: set[PlacedGold] = set()
    for place, path in enumerate(row["gold"]):
        if path["absent"] is None:
            return None
        edges = zip(path["sources"], path["relations"], path["targets"], strict=True)
        found |= {
            (place, (edge[0], edge[1] or None, edge[2]))
            for edge, lacks in zip(edges, path["absent"], strict=True)
            if lacks
        }
    return frozenset(found)


def _commits(store: Store, dataset: str, rows: Iterable[Row]) -> CommitGraph:
    """Return the commits that the questions are about, and those at which runs read another one, with their names.

    Where each is known by its whole sha, only these are read, else all that the dataset knows: names and parts of a
    sha mean one of them.
    """
    rows = [*rows]
    places, absent = known_places(store, dataset), {str(row["question"]): _absent(row) for row in rows}
    named = {one for row in rows for one in _other_commits(row, places)}
    if all(is_whole(sha) for _, sha in named):
        keys = sorted(str(commit_key(repo, sha)) for repo, sha in named)
        found = store.read(cypher("read/named_commits"), {"dataset": dataset, "keys": keys}) if keys else []
        listed = [Commit.model_validate(row) for row in found]
    else:
        listed = known_commits(store, dataset)
    commits = CommitGraph.build(listed)
    commits.places, commits.absent = places, lambda question: absent.get(question.id)
    return commits


def _other_commits(row: Row, places: Places) -> set[tuple[str, str]]:
    """Return the commits that a question pins and another of whose repository was read, and these."""
    pins = {str(repo): str(sha) for repo, sha in (*row["stack_pins"], *row["pins"])}
    of_paths = {(repo, name) for path in row["gold"] for repo, name in zip(path["repos"], path["names"], strict=True)}
    if not (pins or of_paths):
        return set()
    read = [(node, sha) for node, _, sha in row["chunks"]]
    for walk in row["walks"]:
        read += [*zip(walk["sources"], walk["source_commits"], strict=True)]
        read += [*zip(walk["targets"], walk["target_commits"], strict=True)]
    named = {(repo, sha) for node, sha in read if sha and (repo := places.repo(node))}
    if of_paths:
        return named | of_paths
    others = {(repo, sha) for repo, sha in named if pins.get(repo, sha) != sha}
    return others | {(repo, pins[repo]) for repo, _ in others}


def evidence_on_files(run: RunOnFiles, question: str) -> QuestionEvidence:
    """Return what the files know of a question; raise InputError if it is unknown."""
    run.require_question(question)
    case, scored = run.cases[question], run.answered(question) is not None
    claims = [row for name, kind in kinds_beside().items() for row in kind.claims(run.of(name, question))]
    graded = run.grades(question) if scored else []
    return QuestionEvidence(
        run=run.run,
        question=question,
        case=case,
        invalid=run.invalid.get(question),
        conflicts=run.failures("incoherent-pairs", question=question),
        claims=claims if scored else [],
        falls=run.failures(LOST, question=question) if LOST in run.kinds else (),
        violations=run.failures("access-violations", question=question),
        invented=run.failures(INVENTED, question=question),
        unlinked=_distant(run, case, run.failures("not-linked", question=question)),
        graded=graded,
        right=decided(right_answer(case), graded).right,
        relevant=_relevant(case),
        expected_files=sorted(case.expected_files),
        files=sorted(case.files) if scored else [],
        files_logged=scored and case.evidence_logged,
    )


def _distant(run: RunOnFiles, case: Case, rows: Iterable[Row]) -> list[Row]:
    """Return the rows of ``not-linked`` on a question with the distances in the dataset's knowledge graphs."""
    nodes = {
        case.path_name(gold): {end for source, _, target in gold.edges for end in (source, target)}
        for gold in case.gold
    }
    return [{**row, "distance": distance(linked(case) or (), nodes[row["path"]], run.beside_nodes)} for row in rows]


def _relevant(case: Case) -> list[str]:
    gains = {node: gain for node, gain in case.question.relevant.items() if gain > 0}
    return sorted(gains, key=lambda node: (-gains[node], node))
