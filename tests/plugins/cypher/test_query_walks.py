"""Queries become walks: the seven questions of the shared data, and what their table says, from record to why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.measures.case import Case
from graphkit.plugins.cypher.outcomes import QueryOutcome
from graphkit.plugins.cypher.query_gold import query_rows
from graphkit.plugins.cypher.query_measures import PSJS, Executable, ResultAccuracy
from graphkit.plugins.cypher.query_walks import FoundCause, GoldFound, WalkedRun, gold_found, with_gold, with_walk
from graphkit.records.models import Answer, GraphQuery, Question
from graphkit.records.structs import AnswerStruct, QuestionStruct, struct_of
from graphkit.report.question import detail
from tests.helpers import engines
from tests.helpers.cli import Graph, inside
from tests.helpers.datasets import read_jsonl
from tests.plugins.cypher.graphs import fill

ARTIFACTS = {
    "web:cart.ts": "File",
    "web:login.ts": "File",
    "api:orders.py": "File",
    "api:users.py": "File",
    "db:orders.sql": "Table",
    "db:users.sql": "Table",
}
EDGES = [
    ("web:cart.ts", "CALLS", "api:orders.py"),
    ("web:login.ts", "CALLS", "api:users.py"),
    ("api:orders.py", "WRITES", "db:orders.sql"),
    ("api:orders.py", "READS", "db:users.sql"),
    ("api:users.py", "READS", "db:users.sql"),
]
#: Gold and generated queries, and by the graph above: executable, same result, PSJS, edges recalled.
#: k1 walks CALLS the other way; k2 has a relation too many; k3 counts another file's callers, and both are one;
#: k4 has no direction, so all four files are found by the same two edges; k5 names a label that nothing has;
#: k6 isn't Cypher; k7 would write.
TABLE = {
    "k1": (
        "MATCH (a:File {id: 'web:cart.ts'})-[:CALLS]->(b:File)-[:READS|WRITES]->(t:Table) RETURN t.id AS t ORDER BY t",
        "MATCH (a:File {id: 'web:cart.ts'})<-[:CALLS]-(b:File)-[:READS|WRITES]->(t:Table) RETURN t.id AS t ORDER BY t",
        (1.0, 0.0, 0.0, 0.0),
    ),
    "k2": (
        "MATCH (f:File)-[:READS]->(:Table {id: 'db:users.sql'}) RETURN f.id",
        "MATCH (f:File)-[:READS|WRITES]->(:Table {id: 'db:users.sql'}) RETURN f.id AS file",
        (1.0, 1.0, 1.0, 1.0),
    ),
    "k3": (
        "MATCH (f:File)-[:CALLS]->(:File {id: 'api:users.py'}) RETURN count(f) AS n",
        "MATCH (f:File)-[:CALLS]->(:File {id: 'api:orders.py'}) RETURN count(f) AS n",
        (1.0, 1.0, 0.0, 0.0),
    ),
    "k4": (
        "MATCH (f:File)-[:CALLS]->(:File) RETURN DISTINCT f.id",
        "MATCH (f:File)-[:CALLS]-(:File) RETURN DISTINCT f.id",
        (1.0, 0.0, 1.0, 1.0),
    ),
    "k5": (
        "MATCH (:File {id: 'web:login.ts'})-[:CALLS]->(g:File) RETURN g.id",
        "MATCH (:Module {id: 'web:login.ts'})-[:CALLS]->(g) RETURN g.id",
        (1.0, 0.0, 0.0, 0.0),
    ),
    "k6": (
        "MATCH (:File)-[:WRITES]->(t:Table) RETURN t.id",
        "MATCH (:File)-[:WRITES]->(t:Table RETURN t.id",
        (0.0, 0.0, 0.0, 0.0),
    ),
    "k7": (
        "MATCH (f:File)-[:WRITES]->(:Table) RETURN f.id",
        "MATCH (n) DETACH DELETE n",
        (0.0, 0.0, 0.0, 0.0),
    ),
}
#: What mends them: k2 is right, k6 and k7 aren't run.
CAUSES = {
    "k1": "CALLS was asked the other way round; turned, the result is right",
    "k3": "'api:orders.py' was asked; with 'api:users.py', the walk is gold's",
    "k4": "CALLS was asked without a direction; with one, the result is right",
    "k5": "No node has the label Module; with File, the result is right",
    "k7": "It was refused: it would write (DETACH)",
}
MEASURES = ("Executable", "ResultAccuracy", "PSJS", "EdgeRecall")


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write rows as JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def write_table(folder: Path) -> Path:
    """Write the dataset of the table, with its run."""
    write(
        folder / "artifacts.jsonl",
        [{"id": one, "repo": one.split(":")[0], "kind": ARTIFACTS[one]} for one in ARTIFACTS],
    )
    write(folder / "edges.jsonl", [dict(zip(("source", "relation", "target"), edge, strict=True)) for edge in EDGES])
    write(
        folder / "questions.jsonl", [{"id": one, "question": f"{one}?", "gold_cypher": TABLE[one][0]} for one in TABLE]
    )
    run = [{"run": "r", "question_id": one, "answer": "x", "queries": [{"cypher": TABLE[one][1]}]} for one in TABLE]
    write(folder / "runs" / "r.jsonl", run)
    return folder


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """A dataset of the table."""
    return write_table(tmp_path / "asked")


@pytest.mark.slow("it starts databases")
def test_table_from_record_to_why(asked: Path, tmp_path: Path, any_graph: Graph) -> None:
    """The walks of seven queries give the table's values by both engines; why and the page say what came of them.

    On Neo4j the graph of the table is the server's, which is then emptied for graphkit's own.
    """
    out, again, own = tmp_path / "walked", tmp_path / "again", any_graph.store.engine == "embedded"
    if not own:
        fill(any_graph.store, [{"id": one, "kind": kind} for one, kind in ARTIFACTS.items()], EDGES)

    def ask(*words: object) -> str:
        return inside(*words, cwd=tmp_path, env={"GRAPHKIT_HOME": str(tmp_path / "home"), **any_graph.env}, code=0).out

    which = "dataset" if own else any_graph.store.uri
    made = ask("cypher", asked, "--graph", which, "-o", out, "--json")
    assert json.loads(made)["runs"]["r"]["executable"] == 5
    # Nothing of a record or a question is lost, and a second walk of the result gives the same files.
    ask("cypher", out, "--graph", which, "-o", again)
    assert (again / "questions.jsonl").read_bytes() == (out / "questions.jsonl").read_bytes()
    assert (again / "runs" / "r.jsonl").read_bytes() == (out / "runs" / "r.jsonl").read_bytes()
    if not own:
        engines.empty(any_graph.store)
    options = [word for name in MEASURES for word in ("-m", name)]
    for engine in ("python", "cypher"):
        results = tmp_path / f"{engine}.jsonl"
        ask("evaluate", out, *options, "--engine", engine, "-o", results)
        found: dict[str, dict[str, float]] = {}
        for line in results.read_text("utf-8").splitlines():
            row = json.loads(line)
            found.setdefault(row["question"], {})[row["measure"]] = row["value"]
        assert {one: tuple(found[one][name] for name in MEASURES) for one in TABLE} == {
            one: values for one, (_, _, values) in TABLE.items()
        }
    run = out / "runs" / "r.jsonl"
    causes = {row["question_id"]: row["compared_result"].get("cause") for row in read_jsonl(run)}
    assert causes.pop("k6").startswith("It isn't valid Cypher: ")
    assert causes.pop("k2") is None
    assert causes == CAUSES
    for where in (("r",), (run,)):
        assert "its query did not run: `refused: it would write" in ask("why", *where, "k7")
        for name in ("k1", "k4", "k5"):
            assert f"wrote a wrong query: {CAUSES[name]}" in ask("why", *where, name)
        luck = f"wrote a wrong query, though its result is that of gold: {CAUSES['k3']}"
        assert luck in ask("why", *where, "k3")
        assert "query" not in ask("why", *where, "k2")
        told = json.loads(ask("why", *where, "k3", "--json"))
        assert any(luck in str(one) for one in told.values())
    questions = {row["id"]: Question.model_validate(row) for row in read_jsonl(out / "questions.jsonl")}
    for row in read_jsonl(run):
        given = struct_of(QuestionStruct, questions[row["question_id"]])
        shown = detail(Case(given, struct_of(AnswerStruct, Answer.model_validate(row))), [])[0]["queries"]
        if row["question_id"] != "k6":
            assert shown["cause"] == CAUSES.get(row["question_id"])
    counts = json.loads(made)["runs"]["r"]["causes"]
    assert counts == {
        "direction turned": 1,
        "literal replaced": 1,
        "direction added": 1,
        "label replaced": 1,
        "not valid Cypher": 1,
        "refused": 1,
    }
    assert "right answers by a wrong path: r k3" in ask("evaluate", out, "--no-store")


class Scripted:
    """A graph that answers by a table: the rules of a record with several queries need no database."""

    def __init__(self, outcomes: Mapping[str, QueryOutcome]) -> None:
        self.outcomes = outcomes

    def run(self, text: str, parameters: Mapping[str, object] | None = None) -> QueryOutcome:
        """Return the outcome of a text."""
        return self.outcomes[text]


FOUND = QueryOutcome(True, columns=("n",), rows=(("a",),), nodes=("a", "b"), edges=(("a", "R", "b"),))
OTHER = QueryOutcome(True, columns=("n",), rows=(("c",),), nodes=("c", "d"), edges=(("c", "R", "d"),))
WRONG = QueryOutcome(False, error="it isn't Cypher")
EMPTY = QueryOutcome(True, columns=("n",), nodes=(), edges=())
BLIND = QueryOutcome(True, columns=("n",), rows=(("a",),), untraced="a procedure binds them")
CUT = QueryOutcome(True, columns=("n",), rows=(("a",),), truncated=True, untraced="its result has more than 1 row")
NODE = QueryOutcome(True, columns=("n",), rows=(({"_id": "a", "name": "a"},),), nodes=("a",), edges=())
DYNAMIC = QueryOutcome(False, unsupported="it ignores types")
GRAPH = Scripted(
    {
        **{"found": FOUND, "other": OTHER, "wrong": WRONG, "empty": EMPTY, "blind": BLIND},
        **{"cut": CUT, "node": NODE, "dynamic": DYNAMIC},
    }
)


def walked(*queries: str, gold: tuple[str, ...] = ("found",)) -> Answer:
    """Return a record with some queries, walked."""
    question = Question(id="q", question="?", gold_cypher=gold)
    answer = Answer(run="r", question_id="q", queries=tuple(GraphQuery(cypher=one) for one in queries))
    return with_walk(answer, question, gold_found(question, GRAPH), GRAPH)


def edges(answer: Answer) -> list[tuple[str, str | None, str]] | None:
    """Return the traversal as triples."""
    if answer.traversal is None:
        return None
    return [(step.source, step.relation, step.target) for step in answer.traversal]


def test_last_query_that_runs_gives_the_result() -> None:
    """After an error the system asks again: the last that runs counts, and the walk that of all that run, in order."""
    answer = walked("other", "found", "wrong")
    assert answer.compared_result is not None
    assert (answer.compared_result.executable, answer.compared_result.same) == (True, True)
    assert edges(answer) == [("c", "R", "d"), ("a", "R", "b")]
    assert answer.compared_result.nodes == ("c", "d", "a", "b")
    assert walked("found", "other").compared_result.same is False  # type: ignore[union-attr]


def test_no_query_that_runs_is_an_empty_walk() -> None:
    """Invalid queries walk nothing, and so does a record that says that the system wrote none; one without queries is
    as it was.
    """
    for answer, reason in ((walked("wrong"), "it isn't Cypher"), (walked(), "the system wrote no query")):
        assert edges(answer) == []
        assert answer.compared_result is not None
        assert (answer.compared_result.executable, answer.compared_result.reason) == (False, reason)
    silent = Answer(run="r", question_id="q")
    assert with_walk(silent, Question(id="q", question="?"), GoldFound(), GRAPH) == silent


def test_page_shows_queries() -> None:
    """The details of a question hold its queries, those of gold, and what came of them."""
    question = struct_of(QuestionStruct, Question(id="q", question="?", gold_cypher=("found",)))
    shown = detail(Case(question, struct_of(AnswerStruct, walked("wrong", "other"))), [])[0]["queries"]
    assert shown["gold"] == ["found"]
    assert shown["written"] == [["wrong", None], ["other", None]]
    failed = "1 of 2 queries did not run: it isn't Cypher"
    assert (shown["logged"], shown["ran"], shown["same"], shown["reason"]) == (True, True, False, failed)
    silent = struct_of(QuestionStruct, Question(id="q", question="?"))
    assert "queries" not in detail(Case(silent, AnswerStruct("r", "q")), [])[0]


@pytest.mark.parametrize(
    ("queries", "share"),
    [(("found",), 1.0), (("wrong", "empty"), 0.5), (("empty", "wrong", "wrong", "empty"), 0.5), (("wrong",), 0.0)],
)
def test_executable_is_the_share_that_runs(queries: tuple[str, ...], share: float) -> None:
    """A query that asks nothing beside one that fails doesn't make it run."""
    compared = walked(*queries).compared_result
    assert compared is not None
    assert (compared.executable, compared.ran) == (share > 0, share)
    assert scores(walked(*queries))["Executable"] == share


def scores(answer: Answer) -> dict[str, float | None]:
    """Return the values of the three measures; None if they aren't scored."""
    question = struct_of(QuestionStruct, Question(id="q", question="?", gold_cypher=("found",)))
    case = Case(question, struct_of(AnswerStruct, answer))
    values = {one.__name__: one().score(case) for one in (Executable, ResultAccuracy, PSJS)}
    return {name: value if isinstance(value, float) else None for name, value in values.items()}


def test_query_that_failed_in_its_log() -> None:
    """The system had no rows of it: it doesn't run and walks nothing, whatever it would find now.

    One that isn't valid either keeps the reason of the database, and beside another that ran it counts for half.
    """
    gold = gold_found(Question(id="q", question="?", gold_cypher=("found",)), GRAPH)

    def logged(*queries: GraphQuery) -> Answer:
        answer, question = Answer(run="r", question_id="q", queries=queries), Question(id="q", question="?")
        return with_walk(answer, question, gold, GRAPH, lambda *_: FoundCause("an edit", "edited"))

    late = GraphQuery(cypher="found", error="ServiceUnavailable: timed out")
    answer = logged(late)
    assert edges(answer) == []
    assert scores(answer) == {"Executable": 0.0, "ResultAccuracy": 0.0, "PSJS": 0.0}
    compared = answer.compared_result
    assert compared is not None
    assert compared.reason == "it failed when the system ran it: ServiceUnavailable: timed out"
    assert compared.cause == "The query failed when the system ran it: ServiceUnavailable: timed out"
    silent = logged(GraphQuery(cypher="found", error=" ")).compared_result
    assert silent is not None
    assert silent.reason == "it failed when the system ran it: its error has no text"
    wrong = logged(GraphQuery(cypher="wrong", error="SyntaxError")).compared_result
    assert wrong is not None
    assert (wrong.reason, wrong.cause) == ("it isn't Cypher", "an edit")
    both = logged(late, GraphQuery(cypher="other"))
    assert edges(both) == [("c", "R", "d")]
    assert scores(both)["Executable"] == 0.5


@pytest.mark.parametrize(
    ("cypher", "rows", "told"),
    [
        ("found", None, None),
        ("found", (["a"],), None),
        ("found", ({"x": "a"},), None),
        ("found", (), "0 rows logged, 1 found"),
        ("found", (["b"],), "1 row logged, 1 found"),
        ("empty", (["a"], ["b"]), "2 rows logged, 0 found"),
        ("node", ([{"name": "a"}],), None),  # each log writes nodes in its own way
        ("wrong", (["a"],), None),
    ],
)
def test_log_with_other_rows(cypher: str, rows: tuple[list[str], ...] | None, told: str | None) -> None:
    """A note names the first question whose logged rows differ from what its query finds; no value changes."""
    seen: list[str] = []
    query = GraphQuery(cypher=cypher, rows=rows)
    answer = Answer(run="r", question_id="q", queries=(query,))
    made = with_walk(answer, Question(id="q", question="?"), GoldFound(), GRAPH, otherwise=seen.append)
    assert seen == ([told] if told else [])
    assert made.compared_result == walked(cypher, gold=()).compared_result
    run = WalkedRun("qwen", otherwise={"q": told} if told else {})
    assert run.other_rows == (
        f"qwen: the log of 1 question has other rows than this graph gives now, first q ({told})" if told else None
    )


def test_database_that_cannot_tell() -> None:
    """A query that the embedded database would take otherwise leaves walk and values unknown, with the reason."""
    answer = walked("found", "dynamic")
    assert edges(answer) is None
    assert answer.doubts == ("the walk of a query isn't known: it ignores types",)
    assert scores(answer) == {"Executable": None, "ResultAccuracy": None, "PSJS": None}
    assert answer.compared_result is not None
    assert (answer.compared_result.executable, answer.compared_result.reason) == (None, "it ignores types")


@pytest.mark.parametrize(
    ("gold", "given", "same"),
    [("found", "cut", False), ("cut", "found", False), ("cut", "cut", None)],
)
def test_cut_result_is_not_that_of_fewer_rows(gold: str, given: str, same: bool | None) -> None:
    """Two results differ if only one of them exceeds the limit on rows; if both do, that is unknown."""
    compared = walked(given, gold=(gold,)).compared_result
    assert compared is not None
    assert compared.same is same


def test_untraced_walk_is_unknown() -> None:
    """A query whose walk can't be told leaves the traversal unknown, with the reason as a doubt; its result counts."""
    answer = walked("blind")
    assert edges(answer) is None
    assert answer.compared_result is not None
    assert (answer.compared_result.same, answer.compared_result.nodes) == (True, None)
    assert answer.doubts == ("the walk of a query isn't known: a procedure binds them",)
    assert with_walk(answer, Question(id="q", question="?"), GoldFound(), GRAPH).doubts == answer.doubts


@pytest.mark.parametrize(
    ("gold", "stale", "groups"),
    [
        (("found",), None, [None]),
        (("found", "other"), None, ["gold_cypher", "gold_cypher"]),
        (("wrong", "found"), None, [None]),  # an alternative that fails is left out
        (("empty",), "the gold query finds nothing in the graph", []),
        (("wrong", "empty"), "gold query 1 doesn't run: it isn't Cypher; gold query 2 finds nothing in the graph", []),
        (("blind",), None, []),  # its result counts, and it has no path
    ],
)
def test_gold_queries_become_paths(gold: tuple[str, ...], stale: str | None, groups: list[str | None]) -> None:
    """Each gold query that finds something is a path; alternatives share a group; without any the question is stale."""
    question = Question(id="q", question="?", gold_cypher=gold)
    made = with_gold(question, gold_found(question, GRAPH))
    assert made.stale == stale
    assert [path.group for path in made.paths] == groups
    assert all(not path.ordered and not step.optional for path in made.paths for step in path.steps)
    assert with_gold(made, gold_found(made, GRAPH)) == made


def test_written_paths_stay() -> None:
    """Gold paths that a person wrote are all that counts, beside a gold query."""
    fields = {"id": "q", "question": "?", "gold_cypher": "found", "paths": [{"steps": [["x", "R", "y"]]}]}
    question = Question.model_validate(fields)
    assert with_gold(question, gold_found(question, GRAPH)).paths == question.paths


def test_closest_alternative_counts() -> None:
    """Of two gold queries the one that the record's nodes are closest to gives PSJS: other, not found."""
    compared = walked("other", gold=("found", "other")).compared_result
    assert compared is not None
    assert (compared.same, compared.gold_nodes) == (True, ("c", "d"))


def test_questions_with_queries_of_any_name(tmp_path: Path) -> None:
    """CypherBench's and Neo4j's names are read, and lists; a row without a query is refused with its place."""
    write(tmp_path / "a.json", [{"qid": "a", "graph": "nba", "nl_question": "Who?", "gold_cypher": "RETURN 1"}])
    write(tmp_path / "b.jsonl", [{"question": "Who?", "cypher": "RETURN 1", "database_reference_alias": "nba"}])
    write(tmp_path / "c.jsonl", [{"question": "Who?", "cypher": " "}])
    write(tmp_path / "d.jsonl", [{"id": "d", "question": "Who?", "query": [], "gold_cypher": ["RETURN 1", "RETURN 2"]}])
    found = [row for name in ("a.json", "b.jsonl", "d.jsonl") for row in query_rows(tmp_path / name)]
    assert [(row.question.id, row.graph, row.question.gold_cypher) for row in found] == [
        ("a", "nba", ("RETURN 1",)),
        ("q1", "nba", ("RETURN 1",)),
        ("d", None, ("RETURN 1", "RETURN 2")),
    ]
    with pytest.raises(InputError, match="the row has none of gold_cypher"):
        [*query_rows(tmp_path / "c.jsonl")]


@pytest.mark.slow("it starts a database")
def test_no_gate_is_passed_by_failing(asked: Path, tmp_path: Path) -> None:
    """Right queries that failed when the system ran them end a gate with 1, by `evaluate --cypher` and by `cypher`.

    Without the error the same queries pass. They also pass if their logs have other rows, with a note at the gate.
    """

    def ask(code: int, *words: object) -> tuple[str, str]:
        done = inside(*words, cwd=tmp_path, env={"GRAPHKIT_HOME": str(tmp_path / "home")}, code=code)
        return done.out, done.err

    gates = [word for name in ("ResultAccuracy", "EdgeF1", "Executable") for word in ("--fail-under", f"{name}=0.9")]
    logs: dict[str, dict[str, object]] = {"late": {"error": "timed out"}, "other": {"rows": []}, "plain": {}}
    for name, log in logs.items():
        write(
            asked / "runs" / "r.jsonl",
            [
                {"run": name, "question_id": one, "queries": [{"cypher": TABLE[one][0], **log}], "answer": "x"}
                for one in TABLE
            ],
        )
        code = 1 if name == "late" else 0
        told = ask(code, "evaluate", asked, "--cypher", "dataset", "--no-store", *gates)[1]
        assert (
            "note: other: the log of 7 questions has other rows than this graph gives now, first k1 (0 " in told
        ) is (name == "other")
        out = tmp_path / name
        ask(0, "cypher", asked, "-o", out)
        for engine in ("python", "cypher"):
            ask(code, "evaluate", out, "--engine", engine, *gates)


@pytest.mark.slow("it starts a database")
def test_both_engines_agree_on_shares_and_unknowns(asked: Path, tmp_path: Path) -> None:
    """Half of the queries run: 0.5. A dynamic type, which the embedded database ignores: no value, with the reason."""
    bad = {"cypher": TABLE["k6"][1]}
    right = {one: {"cypher": TABLE[one][0]} for one in TABLE}
    dynamic = {"cypher": "MATCH (f:File)-[:$('CALLS')]->(:File) RETURN DISTINCT f.id"}
    queries = {"k1": [bad, {"cypher": "RETURN 1"}], "k2": [right["k2"]], "k4": [dynamic]}
    write(
        asked / "runs" / "r.jsonl",
        [{"run": "r", "question_id": one, "queries": asked_then} for one, asked_then in queries.items()],
    )

    def ask(*words: object) -> str:
        return inside(*words, cwd=tmp_path, env={"GRAPHKIT_HOME": str(tmp_path / "home")}, code=0).out

    out = tmp_path / "walked"
    told = ask("cypher", asked, "-o", out)
    assert "1 query that didn't run" in told
    assert "1 that the embedded database can't judge" in told
    options = [word for name in (*MEASURES, "EdgeF1") for word in ("-m", name)]
    found: list[dict[tuple[str, str], tuple[float | None, str | None]]] = []
    for engine in ("python", "cypher"):
        results = tmp_path / f"{engine}.jsonl"
        ask("evaluate", out, *options, "--engine", engine, "-o", results)
        rows = read_jsonl(results)
        found.append({(row["question"], row["measure"]): (row["value"], row.get("reason")) for row in rows})
    assert found[0] == found[1]
    values = found[0]
    assert [values[one, "Executable"][0] for one in ("k1", "k2", "k4")] == [0.5, 1.0, None]
    assert [values[one, "ResultAccuracy"][0] for one in ("k1", "k2", "k4")] == [0.0, 1.0, None]
    assert "ignores dynamic labels and types" in str(values["k4", "Executable"][1])
    assert values["k4", "EdgeF1"][0] is None
    assert "ignores dynamic labels and types" in ask("why", "r", "k4")
