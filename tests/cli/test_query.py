"""``graphkit query``: named queries, files and text, their parameters, and that nothing can be written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphkit.database.store import Store
from graphkit.graph.queries import named_queries
from tests.helpers import engines
from tests.helpers.cli import ANSWERS, QUESTIONS, Done, Graph, inside, tiny
from tests.helpers.cli import inside as graphkit
from tests.helpers.engines import Neo4jServer


@pytest.fixture(scope="module")
def held(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> Graph:
    """The graph with the tiny dataset and its run."""
    folder = tmp_path_factory.mktemp("held")
    graphkit("evaluate", "-m", "EdgeRecall", tiny(folder), cwd=folder, env=graph.env, code=0)
    return graph


@pytest.fixture
def neo4j_graph(neo4j_server: Neo4jServer) -> Iterator[Graph]:
    """A Neo4j for commands, as it is."""
    with Store.open(neo4j_server.settings) as opened:
        yield Graph(engines.child_environment(neo4j_server.settings), opened)


def query(graph: Graph, *arguments: object, cwd: Path, code: int = 0) -> Done:
    """Run a query."""
    return inside("query", *arguments, cwd=cwd, env=graph.env, code=code)


def test_text(held: Graph, tmp_path: Path) -> None:
    """-e takes Cypher, and each row is an object with its columns in their order."""
    text = "MATCH (q:Question) RETURN q.id AS id, q.question AS question ORDER BY id"
    done = query(held, "-e", text, "--json", cwd=tmp_path)
    assert done.out == ('{"id": "q1", "question": "Who calls z?"}\n{"id": "q2", "question": "What does x call?"}\n')
    done = query(held, "-e", text, cwd=tmp_path)
    assert "q2 What does x call?" in " ".join(done.out.split())
    assert "2 rows" in done.out


def test_no_rows(held: Graph, tmp_path: Path) -> None:
    """A query without rows is a success that says so."""
    text = "MATCH (n:Question {id: 'none'}) RETURN n.id AS id"
    assert query(held, "-e", text, "--json", cwd=tmp_path).out == ""
    assert "0 rows" in query(held, "-e", text, cwd=tmp_path).out


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("x=3", 3),
        ("x=0.5", 0.5),
        ("x=true", True),
        ("x=null", None),
        ('x=["a", 1]', ["a", 1]),
        ('x={"a": 1}', {"a": 1}),
        ('x="3"', "3"),
        ("x=plain text", "plain text"),
        ("x=a=b", "a=b"),
        ("x=", ""),
        ("x=a:b.py#c' RETURN 1 //", "a:b.py#c' RETURN 1 //"),
    ],
)
def test_parameter(given: str, value: object, held: Graph, tmp_path: Path) -> None:
    """A parameter is JSON where it can be, else text, and stays a value whatever it holds."""
    done = query(held, "-e", "RETURN $x AS x", "-p", given, "--json", cwd=tmp_path)
    assert done.object() == {"x": value}


def test_named_query(held: Graph, tmp_path: Path) -> None:
    """A named query takes its parameters by -p, and gives the documented columns."""
    done = query(held, "missed-edges", "-p", "run=r", "-p", "limit=5", "--json", cwd=tmp_path)
    # q1 stops before its second edge.
    assert done.objects() == [
        {
            "question": "q1",
            "path": "0",
            "position": 1,
            "source": "a:m.py#y",
            "relation": "CALLS",
            "target": "b:n.py#z",
            "went_to": [],
        }
    ]
    assert tuple(done.object()) == named_queries()["missed-edges"].columns


def test_a_named_query_says_what_its_limit_leaves_out(held: Graph, tmp_path: Path) -> None:
    """A named query shows how many rows there are where its limit, given or not, leaves some out."""
    # Two questions are scored.
    for options in ((), ("--json",)):
        cut = query(held, "questions-by-score", "-p", "run=r", "-p", "limit=1", *options, cwd=tmp_path)
        assert "1 of 2 rows, -p limit=2 shows all" in (cut.err if options else cut.out)
        whole = query(held, "questions-by-score", "-p", "run=r", "-p", "limit=2", *options, cwd=tmp_path)
        assert "shows all" not in whole.out + whole.err
    assert len(query(held, "questions-by-score", "-p", "run=r", "-p", "limit=1", "--json", cwd=tmp_path).objects()) == 1
    assert len(whole.objects()) == 2


PATHS = "MATCH p = (q:Question {id: 'q1'})<-[:ANSWERS]-(a:Answer)<-[:PRODUCED]-(:Run) RETURN p, q, q.id AS id, 1.5 AS n"


def test_paths_in_each_form(held: Graph, tmp_path: Path) -> None:
    """CSV and table write patterns of Cypher; JSON has the parts, and says of a relationship that it is reversed."""
    [row] = query(held, "-e", PATHS, "--json", cwd=tmp_path).objects()
    assert [part.get("_type", part.get("_labels")) for part in row["p"]] == [
        *(["Question"], "ANSWERS", ["Answer"]),
        *("PRODUCED", ["Run"]),
    ]
    assert [part["_reversed"] for part in row["p"][1::2]] == [True, True]
    [forth] = query(
        held, "-e", "MATCH p = (:Run)-[:PRODUCED]->(:Answer {question: 'q1'}) RETURN p", "--json", cwd=tmp_path
    ).objects()
    assert "_reversed" not in forth["p"][1]
    pattern = "(:Question q1)<-[:ANSWERS]-(:Answer r q1)<-[:PRODUCED]-(:Run r)"
    done = query(held, "-e", PATHS, "--csv", cwd=tmp_path)
    assert done.out == f"p,q,id,n\n{pattern},(:Question q1),q1,1.5\n"
    assert pattern in query(held, "-e", PATHS, cwd=tmp_path).out
    done = query(held, "-e", "RETURN '=1+1' AS a, [1, true] AS b, null AS c, true AS d", "--csv", cwd=tmp_path)
    assert done.out == 'a,b,c,d\n\'=1+1,"[1, true]",,true\n'
    cut = query(held, "questions-by-score", "-p", "run=r", "-p", "limit=1", "--csv", cwd=tmp_path)
    assert cut.out.count("\n") == 2
    assert "1 of 2 rows" in cut.err
    assert "one form" in query(held, "-e", "RETURN 1", "--csv", "--json", cwd=tmp_path, code=2).err


def test_file_with_a_header(held: Graph, tmp_path: Path) -> None:
    """The header of a file declares parameters and defaults, which -p fills and overrides."""
    (tmp_path / "mine.cypher").write_text(
        "// title: Mine\n// parameters: first, second = 2\n// columns: sum\nRETURN $first + $second AS sum\n"
    )
    assert query(held, "mine.cypher", "-p", "first=1", "--json", cwd=tmp_path).object() == {"sum": 3}
    done = query(held, "mine.cypher", "-p", "first=1", "-p", "second=5", "--json", cwd=tmp_path)
    assert done.object() == {"sum": 6}
    assert "'first' is missing" in query(held, "mine.cypher", cwd=tmp_path, code=2).err


def test_file_without_a_header(held: Graph, tmp_path: Path) -> None:
    """A file may be nothing but Cypher, under any name, and its comments are no header that must be right."""
    (tmp_path / "plain.txt").write_text(
        "// order: any\n// all of them\nMATCH (q:Question) WHERE q.id = $id RETURN q.id AS id"
    )
    assert query(held, "plain.txt", "-p", "id=q1", "--json", cwd=tmp_path).object() == {"id": "q1"}


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (("missed-edges",), ("missed-edges: the parameter 'run' is missing", "-p run=... -p question=null")),
        (("missed-edges", "-p", "run=null"), ("missed-edges: the parameter 'run' is missing",)),
        (("missed-edges", "-p", "runs=r"), ("no parameter 'runs'", "It takes: -p run=...")),
        (("missed-edges", "-p", "run=rr"), ("no run is called 'rr'", "Did you mean r?")),
        (("missed-edges", "-p", "run=2026"), ("no run is called '2026'", "The graph holds: r.")),
        (("missed-edges", "-p", "run=r", "-p", "question=q9"), ("no question has the id 'q9'", "questions-by-score")),
        (("found-and-lost", "-p", "run=r", "-p", "other=x"), ("no run is called 'x'", "The graph holds: r.")),
        (("missed-edges", "-p", "run=r", "-p", "limit=abc"), ("the limit is 'abc'", "whole number of at least 0")),
        (("missed-edges", "-p", "run=r", "-p", "limit=-1"), ("the limit is -1",)),
        (("worst-questions", "-p", "run=r", "-p", "measure=EdgeRecal"), ("no scores of r by EdgeRecal", "EdgeRecall?")),
        (("missed-edge",), ("no query is called 'missed-edge'", "Did you mean missed-edges?")),
        (("-e", "RETURN $x"), ("the query can't be run",)),
        (("-e", "RETURN 1", "-p", "x"), ("-p takes NAME=VALUE, not 'x'",)),
        (("-e", "RETURN $x", "-p", f"x={2**64}"), ("64 bits",)),
        (("-e", "RETURN $x", "-p", 'x="\\ud800"'), ("half characters",)),
        (("-e", "MATCH (n RETURN n"), ("the query can't be run",)),
        (("-e", "RETURN nothing"), ("the query can't be run", "nothing")),
        (("-e", "  "), ("the query is empty",)),
        (("missed-edges", "-e", "RETURN 1"), ("either",)),
        ((), ("either", "`graphkit queries`")),
        (("nowhere.cypher",), ("nowhere.cypher: there is no such file",)),
        (("/dev/null/x.cypher",), ("there is no such file",)),
    ],
)
def test_mistake(arguments: tuple[str, ...], reported: tuple[str, ...], held: Graph, tmp_path: Path) -> None:
    """A query that can't be run ends with 2, with the server's or our own reason."""
    done = query(held, *arguments, cwd=tmp_path, code=2)
    assert done.out == ""
    for text in reported:
        assert text in done.err


@pytest.mark.parametrize("form", ["text", "file", "file with a header"])
def test_a_run_that_is_not_there_is_reported_of_any_query(form: str, any_graph: Graph, tmp_path: Path) -> None:
    """A query of one's own is run whatever its parameters say; a run that the graph doesn't hold is reported."""
    graphkit("evaluate", "-m", "EdgeRecall", tiny(tmp_path / "d"), cwd=tmp_path, env=any_graph.env, code=0)
    text = "MATCH (a:Answer) WHERE a.run IN [$run, $other] AND a.question = $question RETURN a.run AS run"
    header = "// parameters: run, other, question\n" if form == "file with a header" else ""
    (tmp_path / "own.cypher").write_text(header + text)
    source = ("-e", text) if form == "text" else ("own.cypher",)
    rest = ("-p", "other=r", "-p", "question=q1", "--json")
    done = query(any_graph, *source, "-p", "run=rr", *rest, cwd=tmp_path)
    assert done.out == '{"run": "r"}\n'
    assert done.err.startswith("note: no run is called 'rr'\n  Did you mean r?")
    assert query(any_graph, *source, "-p", "run=r", *rest, cwd=tmp_path).err == ""
    # The later -p counts: a question that isn't there is reported as well, and there are no rows.
    done = query(any_graph, *source, "-p", "run=r", *rest, "-p", "question=q9", cwd=tmp_path)
    assert (done.out, done.err.count("note: ")) == ("", 1)
    assert "no question has the id 'q9'" in done.err


def test_file_that_is_no_text(held: Graph, tmp_path: Path) -> None:
    """A binary file isn't sent to the server."""
    (tmp_path / "binary.cypher").write_bytes(bytes(range(256)))
    assert "binary.cypher:2: the file isn't text" in query(held, "binary.cypher", cwd=tmp_path, code=2).err
    (tmp_path / "folder.cypher").mkdir()
    query(held, "folder.cypher", cwd=tmp_path, code=2)


def test_numbers_that_json_does_not_have(held: Graph, tmp_path: Path) -> None:
    """NaN and the infinities are null in JSON, so that every parser reads the line."""
    done = query(held, "-e", "RETURN 0.0 / 0.0 AS nan, [1.0 / 0.0, 1.5] AS list", "--json", cwd=tmp_path)
    assert done.out == '{"nan": null, "list": [null, 1.5]}\n'


def test_text_without_the_option(held: Graph, tmp_path: Path) -> None:
    """Text that can be neither a name nor a file is a query, even one too long for the name of a file."""
    for text in ("MATCH (q:Question) RETURN count(q) AS n", "RETURN(2)AS n", f"RETURN 2 AS n // {'x' * 5000}"):
        assert query(held, text, "--json", cwd=tmp_path).object() == {"n": 2}
    (tmp_path / "my own.txt").write_text("RETURN 3 AS n")  # the name of a file may have a space
    assert query(held, "my own.txt", "--json", cwd=tmp_path).object() == {"n": 3}
    assert "no query is called 'count'" in query(held, "count", cwd=tmp_path, code=2).err


#: LOAD CSV by itself, and where no operator of a plan stands for it: in a subquery inside an expression.
LOADS = (
    "LOAD CSV FROM $address AS line RETURN line",
    "/**/ load /**/ csv FROM $address AS line RETURN line",
    "RETURN [x IN [1] | COLLECT { LOAD CSV FROM $address AS line RETURN line }] AS lines",
    "MATCH p=(a)-[*1..2]->() WHERE all(x IN nodes(p) WHERE EXISTS { LOAD CSV FROM $address AS l RETURN l }) RETURN p",
)


def test_load_csv_is_refused(any_graph: Graph, tmp_path: Path) -> None:
    """On both engines, text and files read and send nothing by LOAD CSV; the text LOAD CSV itself is no reason."""
    any_graph.store.write("CREATE (:Artifact)-[:EDGE]->(:Artifact)")
    for number, text in enumerate(LOADS):
        (tmp_path / "others.cypher").write_text(text)
        for source in (("-e", text), ("others.cypher",)):
            for address in ("file:///etc/passwd", "http://127.0.0.1:9/x"):
                done = query(any_graph, *source, "-p", f"address={address}", cwd=tmp_path, code=2)
                assert "the query uses LOAD CSV" in done.err, (number, source, address)
    assert query(any_graph, "RETURN 'LOAD CSV' AS x", "--json", cwd=tmp_path).object() == {"x": "LOAD CSV"}


def test_load_csv_that_is_allowed_is_run_by_the_server(neo4j_graph: Graph, tmp_path: Path) -> None:
    """With the option the query reaches the server, which here finds no such file."""
    given = ("-e", LOADS[0], "-p", "address=file:///none.csv", "--allow-load-csv")
    done = query(neo4j_graph, *given, cwd=tmp_path, code=2)
    assert "uses LOAD CSV" not in done.err
    assert "none.csv" in done.err


def test_procedures_that_are_not_the_databases_own(neo4j_graph: Graph, tmp_path: Path) -> None:
    """Procedures of db are run; those that read the configuration or end connections are refused, however hidden."""
    assert query(neo4j_graph, "CALL db.labels() YIELD label RETURN count(label) AS n", "--json", cwd=tmp_path).object()
    query(neo4j_graph, "PROFILE RETURN date.truncate('day', date()) AS day", cwd=tmp_path)
    hidden = "RETURN [x IN [1] | COLLECT { CALL `dbms`.`listConfig`() YIELD name RETURN name }] AS x"
    for text in ("CALL dbms.listConfig() YIELD name RETURN name", "CALL dbms.listConfig('')", hidden):
        assert "the query uses dbms.listConfig" in query(neo4j_graph, "-e", text, cwd=tmp_path, code=2).err
    stop = query(neo4j_graph, "TERMINATE TRANSACTIONS 'neo4j-transaction-1'", cwd=tmp_path, code=2)
    assert "TERMINATE TRANSACTIONS" in stop.err


WRITES = (
    "CREATE (n:Written) RETURN n",
    "MATCH (q:Question) SET q.question = 'changed'",
    "CREATE INDEX mine IF NOT EXISTS FOR (n:Question) ON (n.question)",
)


def test_writes_are_refused(any_graph: Graph, tmp_path: Path) -> None:
    """On both engines the server refuses to write, from text and from a file; the command ends with 3."""
    any_graph.store.write("CREATE (:Question {id: 'q1', question: 'Who calls z?'})")
    before = any_graph.content()
    for text in WRITES:
        done = query(any_graph, "-e", text, cwd=tmp_path, code=3)
        assert done.out == "", text
        assert "may only read" in done.err, text
    (tmp_path / "write.cypher").write_text(WRITES[0])
    assert "may only read" in query(any_graph, "write.cypher", cwd=tmp_path, code=3).err
    assert any_graph.content() == before


def test_run_called_like_a_number(any_graph: Graph, tmp_path: Path) -> None:
    """On both engines a run and a question whose names look like numbers are found by them."""
    questions = [{**QUESTIONS[0], "id": "7"}]
    run = tiny(tmp_path / "data", questions, [{**ANSWERS[0], "run": "2026", "question_id": "7"}])
    graphkit("evaluate", "-m", "EdgeRecall", run, cwd=tmp_path, env=any_graph.env, code=0)
    named = ("missed-edges", "-p", "run=2026", "-p", "question=7", "--json")
    assert query(any_graph, *named, cwd=tmp_path).object()["target"] == "b:n.py#z"
    own = tmp_path / "own.cypher"
    own.write_text("MATCH (a:Answer {run: $run, question: $question}) RETURN count(*) AS answers\n")
    for asked in (("-e", own.read_text()), (own,)):  # in an own query, too: in the graph both names are texts
        done = query(any_graph, *asked, *named[1:], cwd=tmp_path)
        assert done.object() == {"answers": 1}
    done = query(any_graph, "missed-edges", "-p", "run=2025", cwd=tmp_path, code=2)
    assert "no run is called '2025'" in done.err
    assert done.out == ""
