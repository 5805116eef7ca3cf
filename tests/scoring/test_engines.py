"""The two engines agree: the same values, and the same reasons where there is none, on both databases."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.graph.execution_nodes import keep_executions
from graphkit.graph.queries import Query, cypher, named_queries, schema_statements
from graphkit.graph.runs import load_run
from graphkit.graph.verdict_nodes import keep_verdicts
from graphkit.measures.base import DEFAULT_K, Measure, Unscored
from graphkit.measures.case import Case
from graphkit.measures.edges import EdgeRecall
from graphkit.measures.paths import first_divergences
from graphkit.measures.registry import MEASURES, parse_measure, resolve_measures
from graphkit.records.ids import crosses
from graphkit.records.models import Answer, Question
from graphkit.records.unanswered import MISSING
from graphkit.scoring.cypher_scoring import score_run
from tests.helpers import FAST, engines, executions
from tests.helpers.cli import tiny
from tests.helpers.datasets import STOREFRONT, find_data, generate, read_jsonl, without_graph, write_jsonl
from tests.helpers.engines import ENGINES
from tests.helpers.verdicts import plausible

SEEDS = (1, 2)

#: Every measure that has a Cypher form, in each form that its parameters give it.
MEASURED: tuple[Measure, ...] = resolve_measures(
    [
        *(kind.__name__ for kind in MEASURES if kind.query is not None),
        *(f"{name}(relation=False)" for name in ("EdgeRecall", "EdgePrecision", "EdgeF1")),
        *(f"{name}(relation=False)" for name in ("BoundaryRecall", "BoundaryPrecision")),
        *(f"{name}(relation=False)" for name in ("PathExact", "PathInOrder", "PathPrefix")),
        *(f"{name}(directed=False)" for name in ("EdgeRecall", "EdgePrecision", "EdgeF1")),
        *(f"{name}(directed=False)" for name in ("BoundaryRecall", "BoundaryPrecision")),
        *(f"{name}(directed=False)" for name in ("PathExact", "PathInOrder", "PathPrefix")),
        *(f"{name}(directed=False, relation=False)" for name in ("EdgeRecall", "EdgeF1", "PathExact", "PathPrefix")),
        "EdgeRecall(static=True)",
        "EdgeRecall(relation=False, static=True)",
        *(f"{name}@{k}" for name in ("Success", "Recall", "P", "nDCG") for k in (1, 3, 10)),
    ]
)


@dataclass(frozen=True)
class Run:
    """A run of a dataset: its file, and its name in the graph."""

    dataset: Path
    file: Path

    @property
    def name(self) -> str:
        """What the records of the file call it."""
        return str(read_jsonl(self.file)[0]["run"])

    def cases(self) -> list[Case]:
        """Return a case for each question, read by the models."""
        return list(_cases(self))


@cache
def _cases(run: Run) -> tuple[Case, ...]:
    questions = [Question.model_validate(one) for one in read_jsonl(run.dataset / "questions.jsonl")]
    answers = {one.question_id: one for one in map(Answer.model_validate, read_jsonl(run.file))}
    commits = Dataset(run.dataset).commit_graph(Problems())
    return tuple(Case(question, answers.get(question.id), commits) for question in questions)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Every run: of storefront, of pallets without its knowledge graph, and of generated datasets."""
    folder = tmp_path_factory.mktemp("datasets")
    real = None if FAST else find_data("pallets")
    datasets = [STOREFRONT] if real is None else [STOREFRONT, without_graph(real, folder)]
    datasets += [generate(folder, seed) for seed in SEEDS]
    return [Run(dataset, file) for dataset in datasets for file in sorted((dataset / "runs").glob("*.jsonl"))]


def loaded(settings: Settings, runs: list[Run]) -> Iterator[Store]:
    """Yield a store that holds every dataset and run, with verdicts on each, and executions."""
    with Store.open(settings) as store:
        engines.empty(store)
        store.schema(schema_statements())
        for dataset in dict.fromkeys(run.dataset for run in runs):
            graphkit.load(store, dataset)
        for run in runs:
            load_run(store, run.dataset.name, run.name, run.file)
            keep_verdicts(store, run.name, "lexical", plausible(run.file))
            keep_executions(store, run.name, executions.plausible(run.file))
        yield store


@pytest.fixture(scope="module")
def embedded_store(embedded_dir: Path, runs: list[Run]) -> Iterator[Store]:
    """The embedded database with every run."""
    yield from loaded(Settings(data=embedded_dir), runs)


@pytest.fixture(scope="module")
def neo4j_store(neo4j_server: engines.Neo4jServer, runs: list[Run]) -> Iterator[Store]:
    """A real Neo4j with every run."""
    yield from loaded(neo4j_server.settings, runs)


@pytest.fixture(scope="module", params=ENGINES)
def full_store(request: pytest.FixtureRequest) -> Store:
    """Each database in turn, with every run."""
    store: Store = request.getfixturevalue(f"{request.param}_store")
    return store


Values = dict[str, tuple[float | str, ...]]


@pytest.fixture(scope="module")
def by_python(runs: list[Run]) -> dict[Run, Values]:
    """What the Python engine gives each question of each run, without a database."""
    return {run: values(graphkit.evaluate(run.file, run.dataset, measures=MEASURED)) for run in runs}


def values(result: graphkit.Evaluation) -> Values:
    """Return the values of each question of a result."""
    return {row.question: row.values for row in result.rows}


def differences(one: Values, two: Values, measures: tuple[Measure, ...] = MEASURED) -> list[tuple[object, ...]]:
    """Return where two results differ by more than 1e-9, or in a reason."""
    assert one.keys() == two.keys()
    return [
        (name, str(measure), mine, yours)
        for name in one
        for measure, mine, yours in zip(measures, one[name], two[name], strict=True)
        if (mine != yours if isinstance(mine, str) or isinstance(yours, str) else abs(mine - yours) > 1e-9)
    ]


def test_pallets_is_among_the_runs(pallets: Path, runs: list[Run]) -> None:
    """The real data is compared, too; where it is absent, this test says so."""
    assert sum(run.dataset.name == pallets.name for run in runs) == 4


def test_each_measure_with_a_query_is_compared() -> None:
    """No measure with a Cypher form is left out of the comparison, nor any value of its switches that has one."""
    assert {type(measure) for measure in MEASURED} == {kind for kind in MEASURES if kind.query is not None}
    for kind in MEASURES:
        for name, default in vars(kind()).items():
            # A switch that only Python computes takes the query away, such as EdgeRecall(files=True).
            if isinstance(default, bool) and kind.query is not None and kind(**{name: not default}).query is not None:
                assert {getattr(one, name) for one in MEASURED if type(one) is kind} == {True, False}


def test_generated_runs_hold_the_odd_cases(runs: list[Run]) -> None:
    """The generated data reaches what it is made for, so that agreement on it means something."""
    cases = [case for run in runs if run.dataset.name.startswith("gen") for case in run.cases()]
    seen = Counter[str]()
    for case in cases:
        answer = case.answer
        seen["missing record"] += answer is None
        seen["failed record"] += answer is not None and answer.error is not None
        seen["no traversal logged"] += answer is not None and answer.error is None and not case.walk_logged
        seen["set of edges"] += answer is not None and not case.ordered and len(case.walked) > 1
        seen["no chunks logged"] += answer is not None and answer.error is None and not case.chunks_logged
        calls = answer.tool_calls if answer is not None and answer.error is None else ()
        seen["no calls logged"] += calls is None
        seen["failed call"] += any(call.failed for call in calls or ())
        seen["call that showed nobody knows what"] += any(call.seen is None for call in calls or ())
        seen["call that showed nothing"] += any(call.seen == [] for call in calls or ())
        seen["duplicate id"] += bool(case.duplicates)
        seen["own k"] += case.question.k is not None
        seen["alternatives"] += any(len(unit) > 1 for unit in case.units)
        seen["optional step"] += any(True in gold.optional for gold in case.gold)
        seen["manual step"] += any(True in gold.manual for gold in case.gold)
        seen["no gold"] += not case.gold
        seen["empty path"] += any(not path.steps for path in case.question.paths)
        seen["walked without relation"] += any(edge[1] is None for edge in case.walked)
        seen["gold without relation"] += any(edge[1] is None for edge in case.gold_edges)
        seen["self-loop"] += any(edge[0] == edge[2] for edge in case.walked)
        seen["parallel edges"] += len({(edge[0], edge[2]) for edge in case.walked}) < len(case.walked)
        seen["irregular positions"] += bool(case.misplaced)
        seen["no chunk"] += not case.versions
        seen["chunk without commit"] += any(version.sha is None for version in case.versions)
        seen["unknown commit"] += any(version.sha and not case.commits.knows(version) for version in case.versions)
        seen["zero gain"] += 0 in case.question.relevant.values()
        seen["negative gain"] += -1 in case.question.relevant.values()
        for edge in case.walked & case.gold_edges:
            seen.update({"quote": "'" in edge[0], "backslash": "\\" in edge[0], "astral": "🦀" in edge[0]})
            seen["no repository"] += ":" not in edge[0]
    assert min(seen.values()) >= 5, seen


def test_engines_agree(full_store: Store, runs: list[Run], by_python: dict[Run, Values]) -> None:
    """The Cypher engine gives each question the value of the Python engine to 1e-9, or the same reason."""
    unequal = []
    for run in runs:
        by_cypher = score_run(full_store, run.dataset.name, run.name, MEASURED)
        unequal += differences(by_python[run], values(by_cypher))
        answers = [case.answer for case in run.cases()]
        assert by_cypher.missing == answers.count(None)
        assert by_cypher.failed == sum(answer is not None and answer.error is not None for answer in answers)
    assert unequal == []


def test_engines_count_the_same_reasons(full_store: Store, runs: list[Run]) -> None:
    """Both engines count as often each reason but failure, a missing record and stale gold, as the rows say."""
    for run in runs:
        result = graphkit.evaluate(run.file, run.dataset, measures=MEASURED)
        counted: dict[str, Counter[str]] = {}
        for row in result.rows:
            for measure, value in zip(MEASURED, row.values, strict=True):
                apart = row.question in result.invalid or value == MISSING or str(value).startswith("failed: ")
                if isinstance(value, str) and not apart:
                    counted.setdefault(str(measure), Counter())[value] += 1
        assert result.unscored == counted
        assert score_run(full_store, run.dataset.name, run.name, MEASURED).unscored == counted


def test_engines_give_equal_ratios_as_equal_floats(
    full_store: Store, runs: list[Run], by_python: dict[Run, Values]
) -> None:
    """A ratio of counts is divided once in both engines, so it is the same to the last digit; nDCG is no such ratio."""
    ratios = [place for place, measure in enumerate(MEASURED) if not str(measure).startswith("nDCG")]
    compared = 0
    for run in runs:
        by_cypher = values(score_run(full_store, run.dataset.name, run.name, MEASURED))
        for name, row in by_python[run].items():
            assert [by_cypher[name][place] for place in ratios] == [row[place] for place in ratios], (run.name, name)
            compared += sum(row[place] not in (0.0, 1.0) and not isinstance(row[place], str) for place in ratios)
    assert compared > 500


def test_python_engine_agrees_with_itself_over_the_graph(
    full_store: Store, runs: list[Run], by_python: dict[Run, Values]
) -> None:
    """What the graph knows about commits scores as what the files say, whatever other datasets it holds."""
    chosen = tuple(measure for measure in MEASURED if measure.needs_commits)
    assert len(chosen) == 3
    places = [MEASURED.index(measure) for measure in chosen]
    for run in {run.dataset: run for run in runs}.values():
        found = graphkit.evaluate(run.file, run.dataset, measures=chosen, store=full_store)
        expected = {name: tuple(row[place] for place in places) for name, row in by_python[run].items()}
        assert differences(expected, values(found), chosen) == []


# The named queries -------------------------------------------------------------------------------------------------


def ask(store: Store, kind: str, run: Run, **given: object) -> list[dict[str, Any]]:
    """Return all rows of a named query."""
    return [dict(row) for row in graphkit.failures(store, run.name, kind, **given)]  # type: ignore[arg-type]


def test_wrong_turns_are_the_first_divergences(full_store: Store, runs: list[Run]) -> None:
    """The query finds what first_divergences finds, with place, commit, expected and taken step."""
    compared = 0
    for run in runs:
        found = Counter(tuple(sorted(row.items())) for row in ask(full_store, "wrong-turns", run))
        expected = Counter(
            tuple(sorted({"question": case.question.id, **one.row()}.items()))
            for case in run.cases()
            if case.answer is not None and case.answer.error is None
            for one in first_divergences(case)
        )
        assert found - expected == Counter()
        assert expected - found == Counter()
        compared += expected.total()
    assert compared > 150  # 198 without the pallets data


def test_calls_of_tools_are_those_of_the_definitions(full_store: Store, runs: list[Run]) -> None:
    """The three queries list the calls that failed, the expected ones beyond those made, and what was shown again."""
    compared = Counter[str]()
    for run in runs:
        failed, missed, again = Counter[Any](), Counter[Any](), Counter[Any]()
        for case in run.cases():
            if case.answer is None or case.answer.error is not None or case.answer.tool_calls is None:
                continue
            name, calls, before = case.question.id, case.answer.tool_calls, set[str]()
            left = Counter(call.name for call in calls)
            for number, call in enumerate(calls, 1):
                failed[(name, number, call.name)] += call.failed
                seen = set(call.seen or ())
                if seen & before:
                    again[(name, number, call.name, len(seen & before), len(seen))] += 1
                before |= seen
            for position, one in enumerate(case.question.expected_tool_calls, 1):
                missed[(name, position, one.name)] += left[one.name] <= 0
                left[one.name] -= 1
        for kind, expected, columns in (
            ("failed-calls", failed, ("question", "call", "name")),
            ("missed-calls", missed, ("question", "position", "name")),
            ("redundant-calls", again, ("question", "call", "name", "again", "shown")),
        ):
            found = Counter(tuple(row[column] for column in columns) for row in ask(full_store, kind, run))
            assert found == +expected
            compared[kind] += found.total()
    assert min(compared.values()) > 20, compared


#: An edge with its place in its path.
Placed = tuple[int, tuple[str, str | None, str]]


def missed_edges(case: Case, boundary: bool = False) -> list[tuple[object, ...]]:
    """Return (question, position, edge) of each required edge that wasn't walked, by the letter of the definition.

    With ``boundary`` of the edges between repositories only.
    """
    assert case.answer is not None
    walked = [(one.source, one.relation, one.target) for one in case.answer.traversal or ()]
    groups: dict[object, list[tuple[tuple[int, list[tuple[str, str, str]]], list[Placed]]]] = {}
    for number, path in enumerate(case.question.paths):
        steps = list(enumerate(path.steps))
        required = [
            (place, (one.source, one.relation, one.target))
            for place, one in steps
            if not one.optional and (not boundary or crosses(one.source, one.target))
        ]
        if required:
            # Of equals the path with fewer required edges, then the one whose steps come first in the alphabet.
            edges = [(one.source, one.relation or "", one.target) for one in path.steps]
            order = (len({edge for edge, step in zip(edges, path.steps, strict=True) if not step.optional}), edges)
            unit = number if path.group is None else f"group {path.group}"
            groups.setdefault(unit, []).append((order, required))
    rows: list[tuple[object, ...]] = []
    for options in groups.values():
        misses = []
        for _, required in sorted(options):
            missed = [
                (place, gold)
                for place, gold in required
                if not any(
                    gold[0] == step[0] and gold[2] == step[2] and (None in (gold[1], step[1]) or gold[1] == step[1])
                    for step in walked
                )
            ]
            # The share of edges, each once, as EdgeRecall chooses among alternatives.
            misses.append((len({edge for _, edge in missed}) / len({edge for _, edge in required}), missed))
        rows += [(case.question.id, place, edge) for place, edge in min(misses, key=lambda one: one[0])[1]]
    return rows


def test_missed_edges_are_those_of_the_definition(full_store: Store, runs: list[Run]) -> None:
    """The query lists each required edge of the best alternative that no retrieved path holds."""
    compared = 0
    for run in runs:
        rows = ask(full_store, "missed-edges", run)
        found = Counter(
            (row["question"], row["position"], (row["source"], row["relation"], row["target"])) for row in rows
        )
        scored = [case for case in run.cases() if case.walk_logged and case.answer and case.answer.error is None]
        expected = Counter(edge for case in scored for edge in missed_edges(case))
        assert found == expected
        for row in rows:
            targets = {
                one.target
                for case in scored
                if case.question.id == row["question"] and case.answer is not None
                for one in case.answer.traversal or ()
                if one.source == row["source"]
            }
            assert set(row["went_to"]) <= targets
            assert bool(row["went_to"]) == bool(targets)
        compared += expected.total()
    assert compared > 400  # 451 without the pallets data


def test_missed_boundaries_are_those_of_the_definition(full_store: Store, runs: list[Run]) -> None:
    """The query lists each boundary that isn't walked of the alternative that BoundaryRecall chooses."""
    compared = 0
    for run in runs:
        rows = ask(full_store, "missed-boundaries", run)
        found = Counter(
            (row["question"], row["position"], (row["source"], row["relation"], row["target"])) for row in rows
        )
        scored = [case for case in run.cases() if case.walk_logged and case.answer and case.answer.error is None]
        expected = Counter(edge for case in scored for edge in missed_edges(case, boundary=True))
        assert found == expected
        compared += expected.total()
    assert compared > 200


def test_incoherent_pairs_and_unknown_commits_are_of_scored_questions(
    full_store: Store, runs: list[Run], by_python: dict[Run, Values]
) -> None:
    """Pairs that don't fit are listed where Coherence is below 1, and nothing of a question that it doesn't score."""
    place = MEASURED.index(parse_measure("Coherence"))
    for run in runs:
        values = {name: row[place] for name, row in by_python[run].items()}
        scored = {name for name, value in values.items() if isinstance(value, float)}
        below = {name for name in scored if values[name] != 1.0}
        assert {row["question"] for row in ask(full_store, "incoherent-pairs", run)} == below
        unknown = {
            (case.question.id, version.repo, version.sha)
            for case in run.cases()
            if case.question.id in scored
            for version in case.versions
            if not case.commits.knows(version)
        }
        rows = ask(full_store, "unknown-commits", run)
        assert {(row["question"], row["repo"], row["commit"]) for row in rows} == unknown


def test_questions_by_score_are_the_edge_recall(
    full_store: Store, runs: list[Run], by_python: dict[Run, Values]
) -> None:
    """The query shows the value of EdgeRecall to four decimals, worst first, and leaves out what requires no edge."""
    place = MEASURED.index(parse_measure("EdgeRecall"))
    for run in runs:
        rows = ask(full_store, "questions-by-score", run)
        found = {row["question"]: row["edge_recall"] for row in rows}
        scored = {name: row[place] for name, row in by_python[run].items() if isinstance(row[place], float)}
        assert {name: value for name, value in found.items() if value is not None} == pytest.approx(scored, abs=5.1e-5)
        scores = {case.question.id: EdgeRecall().score(case) for case in run.cases()}
        unscored = {name for name, score in scores.items() if isinstance(score, Unscored)}
        assert {name for name, value in found.items() if value is None} <= unscored
        values = [row["found"] / row["required"] if row["found"] is not None else -1.0 for row in rows]
        assert values == sorted(values)


def test_right_files_wrong_path_counts_as_edge_recall_does(
    full_store: Store, runs: list[Run], by_python: dict[Run, Values]
) -> None:
    """Questions with a file recall of 1 and an edge recall below, with the edges of that recall."""
    files, edges = (MEASURED.index(parse_measure(name)) for name in ("FileRecall", "EdgeRecall"))
    compared = 0
    for run in runs:
        rows = ask(full_store, "right-files-wrong-path", run)
        found = {
            row["question"]: (row["found"] / row["required"], len(row["missed"]) / row["required"]) for row in rows
        }
        recalls = {name: row[edges] for name, row in by_python[run].items() if row[files] == 1.0}
        expected = {
            name: (recall, 1 - recall) for name, recall in recalls.items() if isinstance(recall, float) and recall < 1.0
        }
        assert found.keys() == expected.keys()
        assert all(found[name] == pytest.approx(expected[name]) for name in found)
        compared += len(found)
    assert compared > 10


# None of these datasets has stale gold: tests/cli/test_check.py has.
QUERIES = [query for name, query in named_queries().items() if name != "stale-gold"]


def other_run(run: Run, runs: list[Run]) -> Run:
    """Return another run of the same dataset."""
    return next(one for one in runs if one.dataset == run.dataset and one != run)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_named_query_gives_the_same_rows(
    query: Query, embedded_store: Store, neo4j_store: Store, runs: list[Run]
) -> None:
    """Both databases give the same rows in the same order, with the columns that the query declares."""
    count = 0
    for run in runs:
        given = {"other": other_run(run, runs).name} if "other" in {one.name for one in query.parameters} else {}
        one, two = ask(embedded_store, query.name, run, **given), ask(neo4j_store, query.name, run, **given)
        assert one == two
        count += len(one)
        assert all(tuple(row) == query.columns for row in one)
    assert count > 0


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_named_query_obeys_its_parameters(query: Query, full_store: Store, runs: list[Run]) -> None:
    """``limit`` gives the first of all rows, and ``question`` those of one question."""
    compares = "other" in {one.name for one in query.parameters}
    # Of the last run with a row: the generated ones come last.
    for run in reversed(runs):
        given = {"other": other_run(run, runs).name} if compares else {}
        rows = ask(full_store, query.name, run, **given)
        if rows:
            break
    assert graphkit.failures(full_store, run.name, query.name, limit=1, **given) == rows[:1]
    if "question" in query.columns:
        name = rows[-1]["question"]
        assert ask(full_store, query.name, run, question=name, **given) == [
            row for row in rows if row["question"] == name
        ]


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_named_query_is_explained_and_only_reads(query: Query, full_store: Store, runs: list[Run]) -> None:
    """The database plans the query, and runs it where nothing may be written."""
    given: dict[str, object] = {"run": runs[0].name}
    if "other" in {one.name for one in query.parameters}:
        given["other"] = other_run(runs[0], runs).name
    full_store.query_readonly(f"EXPLAIN {query.text}", query.bind(given))
    columns, rows = full_store.query_readonly(query.text, query.bind(given))
    assert tuple(columns) == query.columns or not rows


@pytest.mark.parametrize("measure", [one for one in MEASURED if str(one).partition("@")[0].isalnum()], ids=str)
def test_measure_query_only_reads(measure: Measure, full_store: Store, runs: list[Run]) -> None:
    """The query of each measure is planned, and runs where nothing may be written, with a row a question."""
    assert measure.query is not None
    text = cypher(f"measures/{measure.query}")
    parameters = {"dataset": STOREFRONT.name, "run": runs[0].name, "missing": "-", "window_ms": 1}
    parameters |= {"default_branches": ["main"], **measure.parameters()}
    full_store.query_readonly(f"EXPLAIN {text}", parameters)
    columns, rows = full_store.query_readonly(text, parameters)
    assert columns == ["question", "value", "reason"]
    assert len(rows) == len(read_jsonl(STOREFRONT / "questions.jsonl"))


def test_gains_of_zero_and_less(store: Store, tmp_path: Path) -> None:
    """On both databases, by both engines: a gain of 0 or less is not relevant, and alone leaves an ideal of 0."""
    gains = {
        "mixed": {"x:a": -1, "y:b": 2, "y:c": 1},
        "negative": {"x:a": -1},
        "zero": {"x:a": 0, "y:b": -2},
        "none": {},
    }
    questions = [{"id": name, "question": "?", "relevant": given} for name, given in gains.items()]
    answers = [{"run": "r", "question_id": name, "retrieved": ["x:a", "y:b", "y:c"]} for name in gains]
    run = tiny(tmp_path, questions, answers)
    nothing = "no relevant ids"
    # mixed: b (gain 2) at rank 2 and c (1) at rank 3 are relevant: DCG = 2/log2(3) + 1/log2(4) over 2 + 1/log2(3).
    # One of the two retrieved repositories (x, y) is relevant.
    ndcg = (2 / math.log2(3) + 1 / 2) / (2 + 1 / math.log2(3))
    expected: dict[str, list[float | str]] = {
        "nDCG@5": [ndcg, 0.0, 0.0, nothing],
        "Recall@5": [1.0, nothing, nothing, nothing],
        "P@5": [2 / 5, nothing, nothing, nothing],
        "RR": [1 / 2, nothing, nothing, nothing],
        "Success@1": [0.0, nothing, nothing, nothing],
        "CrossRepoPrecision": [1 / 2, *3 * ["gold names no repository"]],
        "CrossRepoRecall": [1.0, *3 * ["gold names no repository"]],
    }
    for engine in ("python", "cypher"):
        result = graphkit.evaluate(run, measures=list(expected), engine=engine, store=store)
        found = {row.question: row.values for row in result.rows}
        for place, (measure, wanted) in enumerate(expected.items()):
            for name, one in zip(gains, wanted, strict=True):
                assert found[name][place] == (one if isinstance(one, str) else pytest.approx(one, abs=1e-9)), measure


def test_wrong_repositories_counts_edges_of_repositories_alone(store: Store, tmp_path: Path) -> None:
    """On both databases an id without a colon names no repository, also where one is called like it."""
    questions = [{"id": "q", "question": "?", "paths": [[["api:a", "R", "api:b"]]]}]
    # Of the four edges two touch the repository web; the ids "web" of the others are files of no repository.
    walk = [["api:a", "R", "web:x"], ["web:x", "R", "api:a"], ["web", "R", "api:a"], ["api:a", "R", "web"]]
    run = tiny(tmp_path, questions, [{"run": "r", "question_id": "q", "retrieved": ["web"], "traversal": walk}])
    graphkit.evaluate(run, measures=["CrossRepoPrecision"], store=store)
    assert graphkit.failures(store, "r", "wrong-repositories") == [
        {"question": "q", "repo": "web", "chunks": 0, "edges": 2, "relevant": ["api"]}
    ]


#: Whole shas; the first two begin alike.
ONE, TWO, FOUR, FIVE, PIN = ("abc1" + 36 * "1", "abc1" + 36 * "2", "def4" + 36 * "4", 40 * "5", "abc5" + 36 * "6")


def named_commits(folder: Path) -> Path:
    """Write a dataset and a run that name commits by tags and by their beginnings, or not at all; return the run."""
    at = "2026-01-01T00:00:00Z"
    asked: dict[str, dict[str, Any]] = {
        "tags": {"stack": "prod", "retrieved": [("x:a", "v2"), ("y:b", "def4")]},
        "ambiguous": {"stack": "prod", "retrieved": [("x:a", "abc1"), ("x:b", "v2")]},
        "artifact": {"commits": {"x": "v1", "y": "def4"}, "retrieved": [("x:art.py", None), ("y:b", "DEF4")]},
        "two-graphs": {"commits": {"x": "v2"}, "retrieved": [("y:art.py", None), ("x:a", "v2")]},
        "its-graph": {
            "stack": "other",
            "commits": {"x": "v2", "y": FIVE},
            "retrieved": [("y:art.py", None), ("x:a", TWO)],
        },
        "pin": {"commits": {"x": PIN}, "retrieved": [("x:a", "abc5")]},
        "walk": {"stack": "prod", "retrieved": [], "step": ("latest", "def4")},
        "nothing": {"commits": {"x": "v1"}, "retrieved": [("x:bare.py", None)]},
        "fresh": {"commits": {"x": "abc11"}, "retrieved": [], "paths": [[["x:art.py", "R", "x:art.py"]]]},
        "stale": {"commits": {"x": "v2"}, "retrieved": [], "paths": [[["x:art.py", "R", "x:art.py"]]]},
    }
    questions: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for name, one in asked.items():
        fields: dict[str, Any] = {key: one[key] for key in ("stack", "commits", "paths") if key in one}
        questions.append({"id": name, "question": f"{name}?", **fields})
        retrieved = [{"id": node, "commit": sha} for node, sha in one["retrieved"]]
        walk = []
        if "step" in one:
            source, target = one["step"]
            walk = [{"source": "x:a", "target": "y:b", "source_commit": source, "target_commit": target}]
        answers.append({"run": "r", "question_id": name, "retrieved": retrieved, "traversal": walk})
    artifacts = [{"id": "x:art.py", "commit": "v1"}, {"id": "y:art.py", "commit": FOUR}, {"id": "x:bare.py"}]
    other = [{"id": "x:art.py", "commit": ONE}, {"id": "y:art.py", "commit": FIVE}]
    commits: list[dict[str, Any]] = [
        {"repo": "x", "sha": ONE, "tag": "v1", "branch": "main", "committed_at": at},
        {"repo": "x", "sha": TWO, "tags": ["v2", "latest"]},
        {"repo": "y", "sha": FOUR, "branch": "main", "committed_at": at},
    ]
    prod = {"id": "prod", "environment": "prod", "commits": {"x": "v2", "y": "def4"}}
    return tiny(
        folder,
        questions,
        answers,
        commits=commits,
        compatibility=[prod],
        artifacts=artifacts,
        **{"artifacts-other": other},
    )


def test_engines_agree_on_what_names_of_commits_mean(store: Store, tmp_path: Path) -> None:
    """Tags, beginnings of shas, and commits of artifacts are the same commits from the files, over and in the graph."""
    run = named_commits(tmp_path / "named")
    nothing, none = "nothing retrieved or traversed carries a commit", "nothing was retrieved"
    expected: dict[str, tuple[float | str, ...]] = {
        # Coherence, Incoherent, OffPin. TWO and FOUR are the deployment prod.
        "tags": (1.0, 0.0, 0.0),
        "ambiguous": (0.0, 1.0, 1.0),
        "artifact": (1.0, 0.0, 0.0),  # ONE and FOUR, which no deployment holds, are what the question pins
        "two-graphs": (0.0, 0.0, 0.0),  # they disagree about y:art.py: TWO alone is known
        "its-graph": (1.0, 0.0, 0.0),  # FIVE, which only the question knows
        "pin": (1.0, 0.0, 0.0),
        "walk": (none, 0.0, 0.0),
        "nothing": ("no retrieved chunk carries a commit", nothing, nothing),
        "fresh": (none, nothing, nothing),
    }
    chosen = ["Coherence", "Incoherent", "OffPin"]
    stale = f"x:art.py is known at {ONE}, not at the annotated commit {TWO}"
    ways: tuple[dict[str, Any], ...] = ({}, {"store": store}, {"store": store, "engine": "cypher"})
    for given in ways:
        result = graphkit.evaluate(run, measures=chosen, **given)
        found = values(result)
        assert {name: found[name] for name in expected} == expected, given
        assert [*result.invalid] == ["stale"]
        assert stale in result.invalid["stale"]
        # x:art.py; y:art.py where the stack's graph is asked; not y:art.py of both graphs, nor x:bare.py.
        assert result.without_commit == (4, 2)
        assert result.borrowed_commits() == (
            "2 of 4 chunks without a commit take that of their artifact in the dataset's graph"
        )
    unknown = graphkit.failures(store, "r", "unknown-commits")
    assert [(row["question"], row["repo"], row["commit"], row["reason"]) for row in unknown] == [
        ("ambiguous", "x", "abc1", "ambiguous prefix: 2 commits"),
        ("its-graph", "y", FIVE, None),
        ("pin", "x", "abc5", None),
        ("two-graphs", "y", None, None),
    ]
    pairs = graphkit.failures(store, "r", "incoherent-pairs")
    assert [(row["question"], row["rule"]) for row in pairs] == [
        ("ambiguous", "unknown commit"),
        ("two-graphs", "unknown commit"),
    ]


def test_what_names_of_commits_mean_follows_the_dataset(store: Store, tmp_path: Path) -> None:
    """A tag that moves to another commit, or is gone, is what the dataset says now, in a run that was loaded before."""
    run = named_commits(tmp_path / "named")
    graphkit.evaluate(run, measures=["OffPin"], store=store)
    commits = read_jsonl(tmp_path / "named" / "commits.jsonl")
    ways: tuple[dict[str, Any], ...] = ({}, {"store": store}, {"store": store, "engine": "cypher"})
    for tags, expected in ((["v3"], 1.0), (["v2"], 0.0)):
        commits[1]["tags"] = tags
        write_jsonl(tmp_path / "named" / "commits.jsonl", commits)
        # The pin of the stack is v2, too: without a tag both are that name. The walk at `latest` is no longer TWO.
        for given in ways:
            found = values(graphkit.evaluate(run, measures=["OffPin"], **given))
            assert found["tags"] == (0.0,)
            assert found["its-graph"] == (expected,)  # TWO, pinned as v2
            assert found["walk"] == (1.0,)


# Without a database ------------------------------------------------------------------------------------------------


def test_networkx_graphs_score_as_the_records_do(runs: list[Run]) -> None:
    """gold_graph and walked_graph hold all that a measure of edges, paths or repositories needs."""
    chosen = [one for one in MEASURED if type(one).__module__.rpartition(".")[2] in {"edges", "paths"}]
    assert len(chosen) == 30
    unequal = []
    for run in runs:
        for case in run.cases():
            if case.answer is None or case.answer.error is not None or not case.walk_logged:
                continue  # a graph always says what was walked
            gold, walked = graphkit.gold_graph(case.question), graphkit.walked_graph(case.answer)
            for measure in chosen:
                one, two = measure.score(case), graphkit.score_graphs(measure, gold, walked)
                if one != two:
                    unequal.append((case.question.id, str(measure), one, two))
    assert unequal == []


def test_the_default_cut_off_is_named() -> None:
    """A measure that names no k is computed, and called, with the default."""
    assert str(resolve_measures(["nDCG"])[0]) == f"nDCG@{DEFAULT_K}"
    assert parse_measure("nDCG") != resolve_measures(["nDCG"])[0]
