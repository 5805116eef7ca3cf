"""Queries through nodes without a name, and rows with a graph: their paths, in rows made by hand as published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.measures.unscored import NO_GOLD
from graphkit.plugins.gold.answer_graphs import MOST_PATHS, AnswerGraph, TooManyPathsError
from graphkit.plugins.gold.given_graphs import GivenGraphs
from tests.helpers.cases import answer, reason, value
from tests.helpers.cli import inside, write_lines
from tests.helpers.gold_rows import Row, edges, mistake, one, unused
from tests.plugins.gold.test_graph_formats import UNNAMED, UNSCORED, cwq, grail, node

NOT_REACHED = f"the graph doesn't hold a path to each answer: {UNSCORED}"

TOO_MANY = f"the graph holds more than 1,000 paths to the answers, or too many beginnings to try: {UNSCORED}"

#: Who is Ann's sibling and a man? ``m.0s`` is a node without a name, as Freebase has them between two people.
SIBLINGS = """#MANUAL SPARQL
PREFIX ns: <http://rdf.freebase.com/ns/>
SELECT DISTINCT ?x
WHERE {
FILTER (?x != ns:m.01)
FILTER (!isLiteral(?x) OR lang(?x) = '' OR langMatches(lang(?x), 'en'))
ns:m.01 ns:people.sibling_s ?y .
?y ns:people.sibling ?x .
?x ns:people.gender ns:m.05 .
}
"""

#: Two sibling nodes lead to Bob; that of Eve leads to no man.
FAMILY = [
    ["m.01", "people.sibling_s", "m.0s"],
    ["m.01", "people.sibling_s", "m.0t"],
    ["m.01", "people.sibling_s", "m.0u"],
    ["m.0s", "people.sibling", "m.02"],
    ["m.0t", "people.sibling", "m.02"],
    ["m.0u", "people.sibling", "m.03"],
    ["m.02", "people.gender", "m.05"],
    ["m.03", "people.gender", "m.06"],
]

NAMES = {"m.01": "Ann", "m.02": "Bob", "m.03": "Eve", "m.05": "Male", "m.06": "Female"}

#: The same graph as RoG writes it: names, and ids only where there is none.
NAMED = [[NAMES.get(source, source), relation, NAMES.get(target, target)] for source, relation, target in FAMILY]


def webqsp(**change: Any) -> Row:
    """Return a question of WebQSP."""
    parse = {
        "ParseId": "WebQTest-1.P0",
        "Sparql": SIBLINGS,
        "TopicEntityName": "Ann",
        "TopicEntityMid": "m.01",
        "InferentialChain": ["people.sibling_s", "people.sibling"],
        "Constraints": [{"Operator": "Equal", "ArgumentType": "Entity", "Argument": "m.05", "EntityName": "Male"}],
        "Answers": [{"AnswerType": "Entity", "AnswerArgument": "m.02", "EntityName": "Bob"}],
    }
    return {
        "QuestionId": "WebQTest-1",
        "RawQuestion": "who is ann's brother?",
        "ProcessedQuestion": "who is ann's brother",
        "Parses": [parse | change],
    }


def sibling_path(ann: str, between: str, bob: str, male: str) -> list[tuple[str, str, str]]:
    """Return a path outwards from Ann and the gender, which the query names: each has an edge, then those between."""
    return [
        (ann, "people.sibling_s", between),
        (bob, "people.gender", male),
        (between, "people.sibling", bob),
    ]


@pytest.mark.parametrize("named", [False, True], ids=["ids", "names"])
def test_webqsp_in_a_graph(named: bool, tmp_path: Path) -> None:
    """Each binding of the unnamed node that leads to the answer is an alternative, in the names of the graph.

    m.0s and m.0t lead to Bob, so two paths of one group; m.0u leads to Eve, who isn't an answer.
    """
    ann, bob, male = ("Ann", "Bob", "Male") if named else ("m.01", "m.02", "m.05")
    question, problems = one("webqsp", tmp_path, webqsp() | {"graph": NAMED if named else FAMILY})
    assert (question.id, question.question) == ("WebQTest-1", "who is ann's brother?")
    assert (question.gold_answers, question.relevant) == (("Bob",), {bob: 1.0})
    assert {path.group for path in question.paths} == {bob}
    found = sorted(edges(question))
    assert found == [sibling_path(ann, "m.0s", bob, male), sibling_path(ann, "m.0t", bob, male)]
    assert problems.noted == {}
    assert unused(problems) == set()


def test_one_alternative_is_enough(tmp_path: Path) -> None:
    """A walk by either node has all gold edges; one by Eve's node has no edge of them.

    By m.0t: 3 of 3. By m.0u: no edge of three is gold. The question without a graph isn't scored, rather than 0.
    """
    question, _ = one("webqsp", tmp_path, webqsp() | {"graph": FAMILY})
    assert value("EdgeRecall", question, answer(sibling_path("m.01", "m.0t", "m.02", "m.05"))) == 1.0
    assert value("EdgeRecall", question, answer(sibling_path("m.01", "m.0u", "m.03", "m.06"))) == 0.0
    question, _ = one("webqsp", tmp_path, webqsp())
    assert reason("EdgeRecall", question, answer(sibling_path("m.01", "m.0t", "m.02", "m.05"))) == NO_GOLD


def test_webqsp_without_a_graph(tmp_path: Path) -> None:
    """Without a graph the question keeps its answers, and a note says that edges aren't scored."""
    question, problems = one("webqsp", tmp_path, webqsp())
    assert (question.paths, question.gold_answers, question.relevant) == ((), ("Bob",), {"m.02": 1.0})
    assert problems.noted == {UNNAMED: 1}


def test_webqsp_to_several_answers(tmp_path: Path) -> None:
    """Each answer has its own group; an answer that the graph doesn't reach leaves no half of the gold."""
    query = SIBLINGS.replace("?x ns:people.gender ns:m.05 .\n", "")
    answers = [{"AnswerType": "Entity", "AnswerArgument": name, "EntityName": None} for name in ("m.02", "m.03")]
    row = webqsp(Sparql=query, Answers=answers, Constraints=[]) | {"graph": FAMILY}
    question, _ = one("webqsp", tmp_path, row)
    # Bob by two nodes; Eve by one, which needs no group.
    assert [path.group for path in question.paths] == ["m.02", "m.02", None]
    assert edges(question)[2] == [("m.01", "people.sibling_s", "m.0u"), ("m.0u", "people.sibling", "m.03")]
    unreached = [*answers, {"AnswerType": "Entity", "AnswerArgument": "m.09", "EntityName": "Zoe"}]
    question, problems = one("webqsp", tmp_path, row | {"Parses": [row["Parses"][0] | {"Answers": unreached}]})
    assert (question.paths, question.gold_answers) == ((), ("m.02", "m.03", "Zoe"))
    assert problems.noted == {NOT_REACHED: 1}


def test_webqsp_as_published(tmp_path: Path) -> None:
    """The file is one object over many lines; the first parse with answers is read, and a date is an answer too."""
    born = SIBLINGS[: SIBLINGS.index("ns:m.01 ns:")] + "ns:m.01 ns:people.born ?x .\n}"
    dated = [{"AnswerType": "Value", "AnswerArgument": "1990-02-01", "EntityName": None}]
    row = webqsp(Sparql=born, Answers=dated)
    row["Parses"] = [webqsp(Answers=[])["Parses"][0], *row["Parses"]]
    file = tmp_path / "WebQSP.test.json"
    file.write_text(json.dumps({"Version": "1.0", "Questions": [row, webqsp() | {"QuestionId": "b"}]}, indent=1))
    done = inside("import", "gold", "webqsp", str(file), "-o", str(tmp_path / "made"), cwd=tmp_path)
    assert "2 questions written" in done.out
    first, second = map(json.loads, (tmp_path / "made/questions.jsonl").read_text().splitlines())
    assert first["gold_answers"] == ["1990-02-01"]
    assert first["paths"][0]["steps"] == [{"source": "m.01", "relation": "people.born", "target": "1990-02-01"}]
    assert "relevant" not in first
    assert second["id"] == "b"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"QuestionId": "1", "RawQuestion": "?"}, "the field 'Parses' is missing"),
        ({"QuestionId": "1", "RawQuestion": "?", "Parses": []}, "'Parses' must be a list of objects that isn't empty"),
        (webqsp(Answers=[["m.1"]]), "item 1 of 'Answers' must be [AnswerArgument, EntityName, AnswerType]"),
        (webqsp() | {"graph": [["a", "b"]]}, "item 1 of 'graph' must be [head, relation, tail]"),
    ],
)
def test_webqsp_mistakes(row: Row, said: str, tmp_path: Path) -> None:
    """A row that gives no question is reported with its id."""
    reported = mistake("webqsp", tmp_path, row)
    assert said in reported
    assert "record '" in reported


@pytest.mark.parametrize("extra", ["?y ns:a.b ?x, ?z .", "{ SELECT ?y WHERE { ?y ns:a.b ?x . } }", "?y ns:a.b* ?x ."])
def test_a_query_that_is_read_in_part(extra: str, tmp_path: Path) -> None:
    """A query with a part that isn't a plain pattern gives no path, rather than a path of its other parts."""
    question, problems = one("cwq", tmp_path, cwq(f"ns:m.1 ns:a.b ?x .\n{extra}", "m.7"))
    assert question.paths == ()
    assert problems.noted == {f"a part of the query can't be read: {UNSCORED}": 1}


def test_a_query_with_comments_and_lists(tmp_path: Path) -> None:
    """A comment ends with its line, a literal may hold its sign, and patterns after a semicolon have one subject."""
    body = '?x ns:a.b ns:m.1 ; # a place\n ns:a.name "No #1" ; ns:c.d ns:m.2 . #Male'
    question, problems = one("cwq", tmp_path, cwq(body, "m.7"))
    # From m.1 and m.2 first, then from the answer.
    assert edges(question) == [[("m.7", "a.b", "m.1"), ("m.7", "c.d", "m.2"), ("m.7", "a.name", "No #1")]]
    assert problems.noted == {}


#: Where do the languages of the country come from whose president is Ann? Through the country ``?c``, and ``?y``.
THROUGH = (
    "?c ns:gov.officials ?y .\n?y ns:gov.holder ns:m.01 .\n?c ns:geo.language ?x .\n"
    "FILTER(NOT EXISTS {?y ns:gov.from ?s} || EXISTS {?y ns:gov.from ?t . FILTER(?t < 3)})"
)
COUNTRY = [
    ["Norland", "gov.officials", "m.0y"],
    ["m.0y", "gov.holder", "Ann Lee"],
    ["Norland", "geo.language", "M.7"],
    ["Norland", "geo.language", "Other"],
]
#: From Ann outwards, as a traversal comes upon the edges.
EXPECTED = [("m.0y", "gov.holder", "Ann Lee"), ("Norland", "gov.officials", "m.0y"), ("Norland", "geo.language", "M.7")]


def test_cwq_with_the_graphs_of_rog(tmp_path: Path) -> None:
    """The entity that the query names by an id, which the graph lacks, is one of the row's entities.

    The rows of the graph file are found by the id of the question, in any order; a question without one has no path.
    """
    write_lines(
        tmp_path / "rog.jsonl",
        [
            {"id": "W-0", "question": "?", "q_entity": ["Norland"], "graph": COUNTRY[:1]},
            {"id": "W-1", "question": "?", "q_entity": ["Ann Lee"], "a_entity": ["M.7"], "graph": COUNTRY},
        ],
    )
    write_lines(tmp_path / "cwq.json", [cwq(THROUGH, "m.7"), cwq(THROUGH, "m.7") | {"ID": "W-2"}])
    files = (str(tmp_path / "cwq.json"), "--graph", str(tmp_path / "rog.jsonl"))
    done = inside("import", "gold", "cwq", *files, "-o", str(tmp_path / "made"), cwd=tmp_path)
    assert done.code == 0
    assert UNNAMED in done.err
    first, second = map(json.loads, (tmp_path / "made/questions.jsonl").read_text().splitlines())
    steps = [(step["source"], step["relation"], step["target"]) for step in first["paths"][0]["steps"]]
    assert steps == EXPECTED
    assert first["relevant"] == {"M.7": 1.0}
    assert len(first["paths"]) == 1
    assert "paths" not in second


@pytest.mark.parametrize("topics", [["Ann", "Bob"], ["Ann", "Dan"]])
def test_two_entities_are_two_topics(topics: list[str], tmp_path: Path) -> None:
    """Two ids that the graph lacks are two of the row's entities, never one: a path to Ann alone would be half.

    M.7 is a sibling of Ann and Bob, not of Dan.
    """
    row = cwq("?x ns:sibling ns:m.1 .\n?x ns:sibling ns:m.2 .", "m.7")
    graph = [["M.7", "sibling", "Ann"], ["M.7", "sibling", "Bob"], ["Dan", "knows", "Ann"]]
    question, problems = one("cwq", tmp_path, row | {"graph": graph, "q_entity": topics})
    if "Bob" in topics:
        assert [set(path) for path in edges(question)] == [{("M.7", "sibling", "Ann"), ("M.7", "sibling", "Bob")}]
    else:
        assert question.paths == ()
        assert problems.noted == {NOT_REACHED: 1}


def test_an_entity_that_no_list_names(tmp_path: Path) -> None:
    """A class, which lists of a question's entities leave out, is any node that fits beside them.

    M.7 is a country, which the query calls m.8; only Norway's border with it counts, since Norway is in the list.
    """
    row = cwq("ns:m.1 ns:borders ?y .\n?y ns:adjoins ?x .\n?x ns:type ns:m.8 .", "m.7")
    graph = [
        ["Norway", "borders", "m.0b"],
        ["Finland", "borders", "m.0c"],
        ["m.0b", "adjoins", "M.7"],
        ["m.0c", "adjoins", "M.7"],
        ["M.7", "type", "Country"],
    ]
    expected = {("Norway", "borders", "m.0b"), ("m.0b", "adjoins", "M.7"), ("M.7", "type", "Country")}
    listed = row | {"graph": graph, "q_entity": ["Norway"]}
    assert [set(path) for path in edges(one("cwq", tmp_path, listed)[0])] == [expected]
    named = listed | {"topic_entity": {"m.1": "Norway"}}
    assert [set(path) for path in edges(one("cwq", tmp_path, named)[0])] == [expected]
    # A graph of ids that lacks m.8 doesn't hold the query.
    by_ids = [[{"Norway": "m.1"}.get(end, end) for end in edge] for edge in graph]
    question, problems = one("cwq", tmp_path, row | {"graph": by_ids, "q_entity": ["m.1"]})
    assert question.paths == ()
    assert problems.noted == {NOT_REACHED: 1}


@pytest.mark.parametrize("said", ["M.7", ["M.7"]])
def test_cwq_with_the_name_of_its_answer(said: str | list[str], tmp_path: Path) -> None:
    """A copy that has names of answers and no ids has paths to these names; without a graph it keeps the answers."""
    row = cwq(THROUGH) | {"topic_entity": {"m.01": "Ann Lee"}, "answer": said, "answers": None}
    question, _ = one("cwq", tmp_path, row | {"graph": COUNTRY})
    assert edges(question) == [EXPECTED]
    assert (question.relevant, question.gold_answers) == ({"M.7": 1.0}, ("M.7",))
    question, problems = one("cwq", tmp_path, row)
    assert (question.paths, question.relevant, question.gold_answers) == ((), {}, ("M.7",))
    assert problems.noted == {UNNAMED: 1}


def test_cwq_with_names_of_its_own(tmp_path: Path) -> None:
    """A copy that names the question's entities (``topic_entity``) needs no list of them in the graph."""
    row = cwq(THROUGH, "m.7") | {"topic_entity": {"m.01": "Ann Lee"}, "graph": COUNTRY}
    assert edges(one("cwq", tmp_path, row)[0]) == [EXPECTED]


def test_grailqa_in_a_graph_of_edges(tmp_path: Path) -> None:
    """A file of edges is the graph of all questions: the unnamed class is each node that fits."""
    write_lines(
        tmp_path / "edges.jsonl",
        [
            {"source": "m.7", "relation": "by", "target": "m.a"},
            {"source": "m.7", "type": "by", "target": "m.b"},
            {"source": "m.a", "relation": "born", "target": "m.1"},
            {"source": "m.b", "relation": "born", "target": "m.1"},
            {"source": "m.c", "relation": "born", "target": "m.1"},
        ],
    )
    nodes = [node(0, "class", "drug", asked=1), node(1, "entity", "m.1"), node(2, "class", "person")]
    write_lines(tmp_path / "grail.jsonl", [grail(nodes, [(0, 2, "by"), (2, 1, "born")], "m.7")])
    files = (str(tmp_path / "grail.jsonl"), "--graph", str(tmp_path / "edges.jsonl"))
    assert inside("import", "gold", "grailqa", *files, "-o", str(tmp_path / "made"), cwd=tmp_path).code == 0
    (question,) = map(json.loads, (tmp_path / "made/questions.jsonl").read_text().splitlines())
    between = sorted(path["steps"][0]["source"] for path in question["paths"])
    assert between == ["m.a", "m.b"]
    assert [path["group"] for path in question["paths"]] == ["m.7", "m.7"]


def rog(**change: Any) -> Row:
    """Return a row of RoG."""
    row = {"id": "WebQTest-1", "question": "?", "answer": ["Bob"], "q_entity": ["Ann"], "a_entity": ["Bob"]}
    return row | {"graph": NAMED, "choices": []} | change


def test_rog(tmp_path: Path) -> None:
    """All shortest paths to the answer are alternatives, with the direction that the graph has.

    Ann to Bob by m.0s or m.0t: two edges each.
    """
    question, problems = one("rog", tmp_path, rog())
    assert (question.gold_answers, question.relevant) == (("Bob",), {"Bob": 1.0})
    assert {path.group for path in question.paths} == {"Ann to Bob"}
    assert sorted(edges(question)) == [
        [("Ann", "people.sibling_s", "m.0s"), ("m.0s", "people.sibling", "Bob")],
        [("Ann", "people.sibling_s", "m.0t"), ("m.0t", "people.sibling", "Bob")],
    ]
    assert problems.noted == {}
    # Bob is reached from Male against the edge, and from Ann as before: two groups, of which the first needs no name.
    question, _ = one("rog", tmp_path, rog(q_entity=["Male", "Ann"]))
    assert edges(question)[0] == [("Bob", "people.gender", "Male")]
    assert [path.group for path in question.paths] == [None, "Ann to Bob", "Ann to Bob"]


@pytest.mark.parametrize(
    ("change", "noted"),
    [
        ({"a_entity": ["Bob", "Zoe"], "answer": ["Bob", "Zoe"]}, NOT_REACHED),
        ({"a_entity": []}, NOT_REACHED),
        ({"graph": None}, f"the row has no graph: {UNSCORED}"),
    ],
)
def test_rog_without_a_path(change: Row, noted: str, tmp_path: Path) -> None:
    """An answer outside the graph, or none, or no graph leaves the answers as gold, and no half of a path."""
    question, problems = one("rog", tmp_path, rog(**change))
    assert question.paths == ()
    assert "Bob" in question.gold_answers
    assert problems.noted == {noted: 1}


@pytest.mark.parametrize(("form", "field"), [("cwq", "sparql"), ("webqsp", "Parses")])
def test_rows_of_rog_by_another_name(form: str, field: str, tmp_path: Path) -> None:
    """A row of RoG that is read as the data set it is a copy of names the format that reads it."""
    assert f"the field {field!r} is missing (`graphkit import gold rog` reads" in mistake(form, tmp_path, rog())


def test_too_many_paths(tmp_path: Path) -> None:
    """A question with more paths than the bound has none, and the note says the number.

    Two levels of 40 nodes in parallel: 1,600 paths, of which 1,000 are allowed; two levels of 30 are 900.
    """

    def parallel(width: int) -> list[list[str]]:
        first = [["a", "r", f"x{number}"] for number in range(width)]
        middle = [[f"x{number}", "r", "m"] for number in range(width)]
        second = [["m", "r", f"y{number}"] for number in range(width)]
        return first + middle + second + [[f"y{number}", "r", "b"] for number in range(width)]

    change: Row = {"q_entity": ["a"], "a_entity": ["b"]}
    question, problems = one("rog", tmp_path, rog(graph=parallel(40), **change))
    assert question.paths == ()
    assert problems.noted == {TOO_MANY: 1}
    assert len(one("rog", tmp_path, rog(graph=parallel(30), **change))[0].paths) == 900
    body = "ns:a ns:r ?x1 .\n?x1 ns:r ?m .\n?m ns:r ?y1 .\n?y1 ns:r ?x ."
    question, problems = one("cwq", tmp_path, cwq(body, "b") | {"graph": parallel(40)})
    assert question.paths == ()
    assert problems.noted == {TOO_MANY: 1}


def test_bindings() -> None:
    """A term is one node wherever it occurs; a node of its own edge matches a pattern with one term twice."""
    graph = AnswerGraph([("a", "r", "b"), ("b", "r", "a"), ("a", "r", "a"), ("b", "s", "c")])
    # ?x -r-> ?y -r-> ?x: a-b-a and b-a-b have the same two edges, a-a-a one.
    found = graph.bindings([("?x", "r", "?y"), ("?y", "r", "?x")], {})
    assert sorted(map(sorted, found)) == [[("a", "r", "a")], [("a", "r", "b"), ("b", "r", "a")]]
    assert graph.bindings([("?x", "r", "?x")], {}) == [[("a", "r", "a")]]
    assert graph.bindings([("?x", "s", "?y")], {"?x": "a"}) == []
    assert graph.bindings([("?x", "r", "?y")], {"?x": "b"}) == [[("b", "r", "a")]]
    assert graph.bindings([("?x", "t", "?y")], {}) == []


def test_bindings_are_bounded() -> None:
    """A query that matches nearly everywhere and leads nowhere ends."""
    graph = AnswerGraph((f"{one}", "r", f"{other}") for one in range(60) for other in range(60, 120))
    patterns = [("?a", "r", "?b"), ("?c", "r", "?b"), ("?c", "r", "?d"), ("?e", "r", "?d"), ("?d", "r", "?a")]
    with pytest.raises(TooManyPathsError):
        graph.bindings(patterns[:4], {})
    assert MOST_PATHS == 1_000


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"source": "a", "target": "b"}], "the field 'relation' is missing"),
        ([{"graph": [["a", "r", "b"]]}], "the row has a graph, but no id"),
        ([{"id": "1", "graph": "x"}], "the field 'graph' must be a list, or a string with one as JSON"),
    ],
)
def test_graph_files_that_are_none(rows: list[Row], said: str, tmp_path: Path) -> None:
    """A file that holds no graph is refused with its line."""
    path = write_lines(tmp_path / "x.jsonl", rows)
    with pytest.raises(InputError, match=said) as raised, GivenGraphs(path):
        pass
    assert raised.value.where == f"{path}:1"


def test_a_graph_for_a_format_without_queries(tmp_path: Path) -> None:
    """A format whose gold needs no graph refuses one."""
    done = inside(
        "import", "gold", "hotpotqa", "x.json", "--graph", "y.jsonl", "-o", str(tmp_path / "made"), cwd=tmp_path
    )
    assert done.code == 2
    assert "--graph doesn't apply to hotpotqa" in done.err
