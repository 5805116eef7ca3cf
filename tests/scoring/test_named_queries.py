"""The named queries find what the definitions say, the same rows on both databases, and only read."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import pytest

import graphkit
from graphkit.analysis.file_failures import file_kinds
from graphkit.database.store import Store
from graphkit.graph.queries import NO_LIMIT, Query, analysis_queries, failure_queries, named_query
from graphkit.measures.base import Unscored
from graphkit.measures.case import Case
from graphkit.measures.edges import EdgeRecall
from graphkit.measures.paths import first_divergences
from graphkit.measures.registry import parse_measure
from graphkit.measures.sided_case import sided
from graphkit.plugins.judging.verdicts_beside import VERDICTS_BESIDE
from graphkit.plugins.upkeep.removal import remove_run
from tests.helpers.graph_schema import graph_schema
from tests.scoring.compared_runs import MEASURED, Run, Values, enough


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
    assert compared > enough(150)  # 198 of three datasets


#: No verdicts lie beside these runs: tests/analysis/test_file_failures.py compares their kinds.
OF_VERDICTS = {*VERDICTS_BESIDE.failures, *VERDICTS_BESIDE.counts}


#: How many rows there are of kinds of which there are few.
FEW = {"edges-absent": 3, "invented-edges": 2, "mixed-edges": 2, "leaks-through": 1, "over-refusals": 1}


@pytest.mark.parametrize("kind", sorted({*file_kinds()} - {"stale-gold"} - OF_VERDICTS))
def test_files_give_the_same_rows(kind: str, full_store: Store, runs: list[Run]) -> None:
    """Files suffice for some kinds: those rows are the rows of the query."""
    compared = 0
    for run in runs:
        rows = graphkit.file_failures(run.file, kind, dataset=run.dataset)
        assert sorted(map(repr, rows)) == sorted(map(repr, ask(full_store, kind, run))), run
        compared += len(rows)
    assert compared >= FEW.get(kind, 6)


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
    assert min(compared.values()) > enough(20), compared


#: An edge with its place in its path.
Placed = tuple[int, tuple[str, str | None, str]]


def walked_since(case: Case, turn: int | None, gold: tuple[str, str | None, str]) -> bool:
    """Return whether an earlier turn of the session, that one or a later, walked an edge of gold."""
    return turn is not None and any(
        at >= turn and (step[0], step[2]) == (gold[0], gold[2]) and (None in (gold[1], step[1]) or gold[1] == step[1])
        for step, at in (case.walked_before or {}).items()
    )


def missed_edges(case: Case, boundary: bool = False) -> list[tuple[object, ...]]:
    """Return (question, position, edge) of each required edge that wasn't walked, by the letter of the definition.

    With ``boundary`` of the edges between repositories only.
    """
    assert case.answer is not None
    walked = case.walked  # edges without a direction are turned to that of gold
    groups: dict[object, list[tuple[tuple[int, list[tuple[str, str, str]]], list[Placed]]]] = {}
    for number, path in enumerate(case.question.paths):
        steps = list(enumerate(path.steps))
        required = [
            (place, (one.source, one.relation, one.target))
            for place, one in steps
            if not (one.optional or walked_since(case, path.from_turn, (one.source, one.relation, one.target)))
            and (not boundary or case.places.crosses(one.source, one.target))
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


def compare_missed(
    store: Store, run: Run, kind: str, boundary: bool = False
) -> tuple[list[dict[str, Any]], list[Case], int]:
    """Compare the rows of a query with the definition; return the rows, the scored cases, and the number of misses."""
    rows = ask(store, kind, run)
    found = Counter((row["question"], row["position"], (row["source"], row["relation"], row["target"])) for row in rows)
    scored = [case for case in run.cases() if case.walk_logged and case.answer and case.answer.error is None]
    expected = Counter(edge for case in scored for edge in missed_edges(sided(case), boundary))
    assert found == expected
    return rows, scored, expected.total()


def test_missed_edges_are_those_of_the_definition(full_store: Store, runs: list[Run]) -> None:
    """The query lists each required edge of the best alternative that no retrieved path holds."""
    compared = 0
    for run in runs:
        rows, scored, missed = compare_missed(full_store, run, "missed-edges")
        for row in rows:
            targets = {
                target
                for case in scored
                if case.question.id == row["question"]
                for source, _, target in sided(case).walked
                if source == row["source"]
            }
            assert set(row["went_to"]) <= targets
            assert bool(row["went_to"]) == bool(targets)
        compared += missed
    assert compared > enough(350)  # steps that earlier turns walked aren't missed


def test_missed_boundaries_are_those_of_the_definition(full_store: Store, runs: list[Run]) -> None:
    """The query lists each boundary that isn't walked of the alternative that BoundaryRecall chooses."""
    assert sum(compare_missed(full_store, run, "missed-boundaries", boundary=True)[2] for run in runs) > enough(200)


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


# None of these datasets has stale gold: tests/plugins/gold/test_check.py has.
QUERIES = [query for query in failure_queries() if query.name != "stale-gold"]


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


# Over all runs of a dataset -----------------------------------------------------------------------------------------


def analysed(store: Store, name: str, run: Run) -> list[dict[str, Any]]:
    """Return all rows of a query that isn't for failures of one run."""
    query = named_query(name)
    given: dict[str, object] = {"run": run.name}
    given |= {"limit": NO_LIMIT} if query.takes("limit") else {}
    given |= {"question": run.cases()[0].question.id} if query.columns == ("path",) else {}
    return [dict(row) for row in store.read(query.text, query.bind(given))]


#: All but those that read scores or comparisons alone, which these graphs lack: tests/graph/test_figures.py and
#: tests/plugins/judging/pairwise have their rows.
ANALYSES = [query for query in analysis_queries() if query.name not in ("worst-questions", "orders-disagree")]


@pytest.mark.parametrize("query", ANALYSES, ids=lambda query: query.name)
def test_analysis_query_gives_the_same_rows(
    query: Query, embedded_store: Store, neo4j_store: Store, runs: list[Run]
) -> None:
    """Both databases give the same rows, in the same order but for paths to draw, and plan it where none may write."""
    count = 0
    for run in runs:
        one, two = analysed(embedded_store, query.name, run), analysed(neo4j_store, query.name, run)
        if query.columns == ("path",):
            assert _timeless(one) == _timeless(two)
        else:
            assert one == two
            assert all(tuple(row) == query.columns for row in one)
        count += len(one)
    assert count > 5
    for store in (embedded_store, neo4j_store):
        store.query_readonly(f"EXPLAIN {query.text}", query.bind({"run": "r", **_question(query)}))


def _timeless(rows: list[dict[str, Any]]) -> set[str]:
    """Return paths without the times at which their runs were loaded, which differ."""
    for row in rows:
        for element in row["path"]:
            element.pop("loaded_at", None)
    return {json.dumps(row, sort_keys=True) for row in rows}


def _question(query: Query) -> dict[str, object]:
    return {"question": "q"} if query.columns == ("path",) else {}


def test_analysis_agrees_with_the_failures(full_store: Store, runs: list[Run]) -> None:
    """Each figure over several runs is what the queries for failures of each run say together."""
    of = [run for run in runs if run.dataset.name == "storefront"]
    kinds = ("missed-edges", "missed-boundaries", "boundaries-missed", "incoherent-pairs", "questions-by-score")
    failed = {(run.name, kind): ask(full_store, kind, run) for run in of for kind in kinds}

    missed = Counter(
        (row["source"], row["relation"], row["target"])
        for run in of
        for row in {
            (one["question"], one["source"], one["relation"], one["target"]): one
            for one in failed[run.name, "missed-edges"]
        }.values()
    )
    found = analysed(full_store, "gold-missed-most", of[0])
    assert {(row["source"], row["relation"], row["target"]): row["missed"] for row in found} == missed

    boundaries = [row for row in analysed(full_store, "boundaries-by-run", of[0]) if row["missed"]]
    for run in of:
        expected = sorted((tuple(row.values()) for row in failed[run.name, "boundaries-missed"]), key=repr)
        own = [row for row in boundaries if row["run"] == run.name]
        assert sorted((tuple(v for k, v in row.items() if k != "run") for row in own), key=repr) == expected

        mixed = Counter[tuple[str, ...]]()
        for row in failed[run.name, "incoherent-pairs"]:
            if row["rule"] != "unknown commit":
                repos = sorted(row[side].rpartition("@")[0] for side in ("first", "second"))
                mixed[(*repos, row["rule"])] += row["chunk_pairs"]
        rows = analysed(full_store, "mixed-commits", run)
        assert {(row["first_repo"], row["second_repo"], row["rule"]): row["chunk_pairs"] for row in rows} == mixed

        pairs = [
            {
                (row["question"], row["path"], row["position"])
                for row in ask(full_store, "found-and-lost", run, other=o.name)
            }
            for o in of
            if o != run
        ]
        only = analysed(full_store, "found-by-one-run", run)
        assert {(row["question"], row["path"], row["position"]) for row in only} == set.intersection(*pairs)

        usage = {row["kind"]: row["questions"] for row in analysed(full_store, "usage-by-failure", run)}
        across = {row["question"] for row in failed[run.name, "missed-boundaries"]}
        lacking = {row["question"] for row in failed[run.name, "missed-edges"]}
        assert usage.get("missed-boundaries", 0) == len(across)
        assert usage.get("missed-edges", 0) == len(lacking - across)
        assert usage.get("failed-questions", 0) == sum(
            case.answer is None or case.answer.error is not None for case in run.cases()
        )
        assert sum(usage.values()) == len(run.cases())

    best: dict[str, float] = {}
    for run in of:
        for row in failed[run.name, "questions-by-score"]:
            best[row["question"]] = max(best.get(row["question"], -1.0), row["edge_recall"] or 0.0)
    lost = {row["question"]: row["edge_recall"] or 0.0 for row in analysed(full_store, "lost-in-every-run", of[0])}
    assert lost == {name: recall for name, recall in best.items() if recall < 1.0}
    assert lost


# What the graph holds -----------------------------------------------------------------------------------------------

#: Whether a value is of a type, by the type that Cypher names.
TYPES: dict[str, Callable[[Any], bool]] = {
    "STRING": lambda value: isinstance(value, str),
    "BOOLEAN": lambda value: isinstance(value, bool),
    "INTEGER": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "FLOAT": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "ZONED DATETIME": lambda value: re.match(r"\d{4}-\d\d-\d\dT", value) is not None,
}


def is_of(kind: str, value: Any) -> bool:
    """Return whether a value is of a type."""
    if kind.startswith("LIST<"):
        return isinstance(value, list) and all(TYPES[kind[5:-1]](one) for one in value)
    return TYPES[kind](value)


def test_everything_written_is_declared(full_store: Store, runs: list[Run]) -> None:
    """Each label, type, pair of ends and property that loads write is declared, and each value is of its type."""
    # Under another name, as the other tests of the module share what is loaded.
    graphkit.evaluate(
        runs[0].file, runs[0].dataset, store=full_store, measures=["EdgeRecall", "Recall@5"], name="scored"
    )
    declared: dict[str, dict[str, str]] = defaultdict(dict)
    ends = set()
    for one in graph_schema():
        declared[one.name] |= {each.name: each.type for each in one.properties}
        ends |= {(start, one.name, end) for start in one.starts for end in one.ends}
    rows = full_store.read("MATCH (n) RETURN labels(n)[0] AS kind, properties(n) AS properties")
    rows += full_store.read("MATCH ()-[r]->() RETURN type(r) AS kind, properties(r) AS properties")
    pairs = "MATCH (a)-[r]->(b) RETURN DISTINCT labels(a)[0] AS a, type(r) AS kind, labels(b)[0] AS b"
    found = {(row["a"], row["kind"], row["b"]) for row in full_store.read(pairs)}
    remove_run(full_store, "scored")
    wrong, compared = set(), set()
    for row in rows:
        properties: dict[str, Any] = row["properties"]  # type: ignore[assignment]
        for name, value in properties.items():
            kind = declared[str(row["kind"])].get(name)
            compared.add((row["kind"], name))
            if value is not None and (kind is None or not is_of(kind, value)):
                wrong.add((row["kind"], name, kind, repr(value)[:40]))
    assert wrong == set()
    assert len(compared) > 200
    assert found <= ends


def test_a_retrieved_chunk_has_its_commit(full_store: Store, runs: list[Run]) -> None:
    """Each chunk of storefront names its commit by the whole sha: the relationship has that commit's key."""
    storefront = [run.name for run in runs if run.dataset.name == "storefront"]
    [row] = full_store.read(
        "MATCH (a:Answer)-[r:RETRIEVED]->(c:Chunk) WHERE a.run IN $runs RETURN count(r) AS chunks, "
        "count(CASE WHEN r.commit_key = c.repo + '@' + c.commit THEN 1 END) AS keys",
        {"runs": storefront},
    )
    logged = sum(len(case.chunks) for run in runs if run.name in storefront for case in run.cases())
    assert row["chunks"] == row["keys"] == logged
    assert logged > 700


#: What analysts look up by, with the label and the property of the index.
LOOK_UPS = [
    ("MATCH (s:Score {question: $value}) RETURN s.measure, s.value", r"Score.*question"),
    ("MATCH (s:Score {run: $run, question: $value}) RETURN s.measure, s.value", r"Score.*question"),
    ("MATCH (p:GoldPath {question: $value}) RETURN p.sources", r"GoldPath.*question"),
    ("MATCH (p:RetrievedPath {question: $value}) RETURN p.sources", r"RetrievedPath.*question"),
    ("MATCH (a:Artifact {repo: $value}) RETURN a.id", r"Artifact.*repo"),
]


def test_look_ups_use_an_index(full_store: Store) -> None:
    """The plan of each look-up seeks in the index, and scans no label."""
    with full_store._driver.session() as session:
        for query, index in LOOK_UPS:
            plan = str(session.run(f"EXPLAIN {query}", {"value": "x", "run": "r"}).consume().plan)
            assert re.search(index, plan), plan
            assert "IndexSeek" in plan, plan
            assert not re.search(r"Label ?Scan", plan), plan
