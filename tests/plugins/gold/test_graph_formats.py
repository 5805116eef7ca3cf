"""Gold over knowledge graphs, with rows made by hand from its documentation: the gold, and the notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.plugins.gold.conversion import import_gold
from graphkit.plugins.gold.formats import gold_format
from tests.helpers.gold_rows import Row, edges, mistake, one, unused

UNSCORED = "the question has no path, so measures of edges and paths don't score it"
UNNAMED = f"the query goes through an unnamed node, which only a graph knows (--graph FILE): {UNSCORED}"

GTSQA: Row = {
    "id": 7,
    "question": "Who directed the film that was shot in Turin?",
    "seed_entities": ["Turin (Q495)"],
    "answer_node": "Ada Rossi (Q9)",
    # The second triple begins at the seed: a walk comes upon it first.
    "answer_subgraph": [
        ["The Film (Q1)", "director (P57)", "Ada Rossi (Q9)"],
        ["The Film (Q1)", "filming location (P915)", "Turin (Q495)"],
    ],
    "graph_isomorphism": "(1,2)",
    "n_hops": 2,
}


def test_gtsqa(tmp_path: Path) -> None:
    """Entities and relations are named by Wikidata ids, and the triples are ordered outwards from the seeds."""
    question, problems = one("gtsqa", tmp_path, GTSQA)
    assert (question.id, question.gold_answer, question.category) == ("7", "Ada Rossi", "(1,2)")
    assert edges(question) == [[("Q1", "P915", "Q495"), ("Q1", "P57", "Q9")]]
    assert question.relevant == {"Q9": 1.0}
    assert unused(problems) == {"n_hops"}


def test_gtsqa_of_another_graph(tmp_path: Path) -> None:
    """A name without a Wikidata id is its own id; a colon in it begins no repository."""
    row = GTSQA | {"seed_entities": ["a"], "answer_node": "x: y", "answer_subgraph": [["a", "knows", "x: y"]]}
    question, problems = one("gtsqa", tmp_path, row)
    assert edges(question) == [[("a", "knows", "x: y")]]
    assert not problems.noted
    import_gold(gold_format("gtsqa"), [tmp_path / "rows.jsonl"], tmp_path / "made", Problems())
    assert Dataset(tmp_path / "made").places().repo("x: y") is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"answer_subgraph": []}, "'answer_subgraph' holds no triples"),
        ({"answer_subgraph": [["a", "b"]]}, "item 1 of 'answer_subgraph' must be [head, relation, tail]"),
        ({"answer_subgraph": [["a", 1, "c"]]}, "item 1 of 'answer_subgraph' must be three strings"),
        ({"answer_subgraph": "no list"}, "or a string with one as JSON"),
        ({"question": ""}, "'question' must be a string that isn't empty"),
        ({"seed_entities": "Q1"}, "'seed_entities' must be a list of texts"),
    ],
)
def test_gtsqa_mistakes(change: Row, said: str, tmp_path: Path) -> None:
    """A row that gives no question is reported with its file, line and id."""
    reported = mistake("gtsqa", tmp_path, GTSQA | change)
    assert f"{tmp_path / 'rows.jsonl'}:1: record '7': " in reported
    assert said in reported


def test_path_question(tmp_path: Path) -> None:
    """A path ends at its end mark; the question is named by its file and line, and all answers are relevant."""
    line = "who is the child of x's parent ?\tann(ann/bob/)\tx#parent#eve#child#ann#<end>#ann"
    question, problems = one("path-question", tmp_path, line)
    assert (question.id, question.gold_answer) == ("rows-1", "ann")
    assert edges(question) == [[("x", "parent", "eve"), ("eve", "child", "ann")]]
    assert question.relevant == {"ann": 1.0, "bob": 1.0}
    assert problems.noted == {"the question has several answers, and the path leads to one": 1}


def test_path_question_of_two_paths(tmp_path: Path) -> None:
    """A conjunctive question has a path from each of its entities; PathQuestion-Large writes no end mark."""
    line = "who plays forward at c ?\tp(p/)\tforward#played_by#p*c#player#p"
    question, problems = one("path-question", tmp_path, line)
    assert edges(question) == [[("forward", "played_by", "p")], [("c", "player", "p")]]
    assert problems.noted == {}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a question", "has 1 column"),
        ("q\ta\tx#r", "a path must be entity#relation#entity and so on, not 'x#r'"),
        ("q\ta\tx##y", "a path must be"),
    ],
)
def test_path_question_mistakes(line: str, said: str, tmp_path: Path) -> None:
    """A line without a path is reported with its number."""
    assert said in mistake("path-question", tmp_path, line)


def test_two_wiki(tmp_path: Path) -> None:
    """Triples that continue each other are one path, and others are further paths; titles are relevant.

    Both films' directors and where they were born: two chains of two.
    """
    row = {
        "_id": "abc",
        "question": "Were the directors of F and G born in one place?",
        "type": "bridge_comparison",
        "answer": "no",
        "supporting_facts": [["F", 0], ["D", 1], ["F", 2]],
        "evidences": [["F", "director", "D"], ["G", "director", "E"], ["D", "born", "x"], ["E", "born", "y"]],
        "context": [["F", ["..."]]],
    }
    question, problems = one("2wikimultihop", tmp_path, row)
    assert edges(question) == [
        [("F", "director", "D"), ("D", "born", "x")],
        [("G", "director", "E"), ("E", "born", "y")],
    ]
    assert question.relevant == {"F": 1.0, "D": 1.0}
    assert unused(problems) == {"context"}


def test_two_wiki_as_columns(tmp_path: Path) -> None:
    """Lists by column, and lists within a text, as some copies have them, are the same."""
    row = {
        "id": "abc",
        "question": "?",
        "supporting_facts": {"title": ["F"], "sent_id": [0]},
        "evidences": '[["F", "director", "D"]]',
    }
    question, _ = one("2wikimultihop", tmp_path, row)
    assert edges(question) == [[("F", "director", "D")]]
    assert question.relevant == {"F": 1.0}


def test_two_wiki_without_evidence(tmp_path: Path) -> None:
    """A row of the test split, whose gold isn't published, is kept without a path, with a note."""
    question, problems = one("2wikimultihop", tmp_path, {"_id": "a", "question": "?", "evidences": []})
    assert question.paths == ()
    assert problems.noted == {"no evidences are given: the question has no path": 1}


def test_entailment_bank(tmp_path: Path) -> None:
    """Each premise leads to its conclusion, in the order of the proof; sentences keep their ids."""
    row = {
        "id": "M_1",
        "question": "Why?",
        "answer": "so",
        "proof": "sent1 & sent3 -> int1: a; b; int1 & sent2 -> hypothesis; ",
        "meta": {"worldtree_provenance": {"sent1": {"uuid": "u-1"}, "sent2": {"uuid": ""}}},
        "hypothesis": "so it is",
    }
    question, problems = one("entailment-bank", tmp_path, row)
    assert edges(question) == [
        [
            ("u-1", None, "M_1/int1"),
            ("M_1/sent3", None, "M_1/int1"),
            ("M_1/int1", None, "M_1/hypothesis"),
            ("M_1/sent2", None, "M_1/hypothesis"),
        ]
    ]
    assert question.relevant == {"u-1": 1.0, "M_1/sent3": 1.0, "M_1/sent2": 1.0}
    assert unused(problems) == {"hypothesis"}
    columns = row | {"meta": {"worldtree_provenance": [{"sent_id": "sent1", "uuid": "u-1"}]}}
    assert one("entailment-bank", tmp_path, columns)[0].paths == question.paths


@pytest.mark.parametrize("proof", ["because", "sent1 -> int1; x -> hypothesis", "sent1 & -> int1", "sent1 -> so"])
def test_entailment_bank_mistakes(proof: str, tmp_path: Path) -> None:
    """A proof with an unreadable step gives no part of a path."""
    row = {"id": "M_1", "question": "Why?", "proof": proof}
    reported = mistake("entailment-bank", tmp_path, row)
    assert "record 'M_1': " in reported
    assert "such as 'sent1 & sent2 -> int1'" in reported


@pytest.mark.parametrize(
    "evidence",
    [
        "(a, knows, b), (b, likes, c)",
        "(a, knows, b)\n(b, likes, c)",
        "a|knows|b\nb | likes | c",
        [["a", "knows", "b"], ["b", "likes", "c"]],
        ["(a, knows, b)", "(b, 'likes', c)"],
        ["(a, knows, b)", "(b, likes, c)", "(a, knows, b)"],
    ],
)
def test_graphrag_bench(evidence: Any, tmp_path: Path) -> None:
    """Evidence in each form gives the same chain, once."""
    row = {"id": "1", "source": "N", "question": "?", "question_type": "Fact Retrieval", "evidence_triple": evidence}
    question, problems = one("graphrag-bench", tmp_path, row | {"answer": "c", "evidence": "A knows b."})
    assert (question.id, question.group, question.category) == ("N/1", "N", "Fact Retrieval")
    assert edges(question) == [[("a", "knows", "b"), ("b", "likes", "c")]]
    assert problems.noted == {}
    assert unused(problems) == {"evidence"}


def test_graphrag_bench_of_one_triple(tmp_path: Path) -> None:
    """A list of three texts is one triple."""
    row = {"id": "1", "question": "?", "evidence_triple": ["a", "knows", "b"]}
    assert edges(one("graphrag-bench", tmp_path, row)[0]) == [[("a", "knows", "b")]]


@pytest.mark.parametrize(
    "evidence",
    [
        "A knows b.",
        "(a, b, knows, c)",
        ["(a, knows, b)", "B likes c."],
        ["A knows b.", "B knows c.", "C."],
        [7],
        {"a": 1},
    ],
)
def test_graphrag_bench_sentences(evidence: Any, tmp_path: Path) -> None:
    """If a part of the evidence isn't a triple, the question has no path, with a note."""
    row = {"id": "1", "question": "?", "evidence_triple": evidence}
    question, problems = one("graphrag-bench", tmp_path, row)
    assert question.paths == ()
    assert list(problems.noted) == ["the evidence can't be read as triples: the question has no path"]


def node(number: int, kind: str, name: str, asked: int = 0, function: str = "none") -> Row:
    """Return a node of a graph query."""
    return {"nid": number, "node_type": kind, "id": name, "question_node": asked, "function": function}


def grail(nodes: list[Row], edges: list[tuple[int, int, str]], *answers: str) -> Row:
    """Return a row of GrailQA."""
    return {
        "qid": 3,
        "question": "?",
        "level": "i.i.d.",
        "domains": ["medicine"],
        "function": "none",
        "answer": [{"answer_type": "Entity", "answer_argument": name, "entity_name": name.upper()} for name in answers],
        "graph_query": {
            "nodes": nodes,
            "edges": [{"start": start, "end": end, "relation": relation} for start, end, relation in edges],
        },
    }


def test_grailqa(tmp_path: Path) -> None:
    """The asked node stands for each answer: each has a path from the entities of the question."""
    row = grail([node(0, "class", "drug", asked=1), node(1, "entity", "m.1")], [(0, 1, "treats")], "m.7", "m.8")
    question, problems = one("grailqa", tmp_path, row)
    assert (question.id, question.category, question.group, question.gold_answer) == (
        "3",
        "i.i.d.",
        "medicine",
        "M.7, M.8",
    )
    assert edges(question) == [[("m.7", "treats", "m.1")], [("m.8", "treats", "m.1")]]
    assert question.relevant == {"m.7": 1.0, "m.8": 1.0}
    assert problems.noted == {}


def test_grailqa_from_the_entity(tmp_path: Path) -> None:
    """A path begins at an entity rather than at a literal, whatever their order in the query."""
    nodes = [node(0, "literal", "1990"), node(1, "class", "drug", asked=1), node(2, "entity", "m.1")]
    question, _ = one("grailqa", tmp_path, grail(nodes, [(1, 0, "since"), (1, 2, "treats")], "m.7"))
    assert edges(question) == [[("m.7", "treats", "m.1"), ("m.7", "since", "1990")]]


def test_grailqa_as_columns(tmp_path: Path) -> None:
    """Nodes, edges and answers by column, as some copies have them, are the same."""
    rows = grail([node(0, "class", "drug", asked=1), node(1, "entity", "m.1")], [(0, 1, "treats")], "m.7", "m.8")
    query = rows["graph_query"]

    def columns(records: list[Row]) -> Row:
        return {name: [record[name] for record in records] for name in records[0]}

    turned = rows | {
        "answer": columns(rows["answer"]),
        "graph_query": {"nodes": columns(query["nodes"]), "edges": columns(query["edges"])},
    }
    assert one("grailqa", tmp_path, turned)[0] == one("grailqa", tmp_path, rows)[0]


@pytest.mark.parametrize(
    "hidden",
    [node(2, "class", "person"), node(2, "literal", "1990^^year", function=">=")],
    ids=["variable", "function"],
)
def test_grailqa_through_a_node_without_a_name(hidden: Row, tmp_path: Path) -> None:
    """A query through a variable, or a literal that a function compares, gives no path, with a note."""
    nodes = [node(0, "class", "drug", asked=1), node(1, "entity", "m.1"), hidden]
    question, problems = one("grailqa", tmp_path, grail(nodes, [(0, 2, "by"), (2, 1, "born")], "m.7"))
    assert question.paths == ()
    assert question.relevant == {"m.7": 1.0}
    assert problems.noted == {UNNAMED: 1}


def test_grailqa_counts(tmp_path: Path) -> None:
    """A count has no path, since its answer isn't an entity."""
    row = grail([node(0, "class", "drug", asked=1), node(1, "entity", "m.1")], [(0, 1, "treats")]) | {
        "function": "count",
        "answer": [{"answer_type": "Value", "answer_argument": "4"}],
    }
    question, problems = one("grailqa", tmp_path, {**row, "answer": [{**row["answer"][0], "entity_name": None}]})
    assert (question.paths, question.relevant, question.gold_answer) == ((), {}, "4")
    assert "the answer is a function of the query's result (such as a count), which no path expresses" in problems.noted


def cwq(body: str, *answers: str) -> Row:
    """Return a row of ComplexWebQuestions."""
    return {
        "ID": "W-1",
        "question": "?",
        "compositionality_type": "conjunction",
        "sparql": f"PREFIX ns: <http://rdf.freebase.com/ns/>\nSELECT DISTINCT ?x\nWHERE {{\n{body}\n}}",
        "answers": [{"answer": name.upper(), "answer_id": name, "aliases": []} for name in answers],
    }


def test_cwq(tmp_path: Path) -> None:
    """The patterns of the query are the edges, except those in filters; the variable is the answer."""
    body = (
        "FILTER (?x != ns:m.1)\nFILTER(NOT EXISTS {?x ns:a.from ?s .} || EXISTS {?x ns:a.from ?s . FILTER(?s < 3)})\n"
        "ns:m.1 ns:geo.contains ?x .\n?x ns:geo.type ns:m.2 ."
    )
    question, problems = one("cwq", tmp_path, cwq(body, "m.7"))
    assert (question.id, question.category, question.gold_answer) == ("W-1", "conjunction", "M.7")
    assert edges(question) == [[("m.1", "geo.contains", "m.7"), ("m.7", "geo.type", "m.2")]]
    assert problems.noted == {}


def test_cwq_through_a_variable(tmp_path: Path) -> None:
    """A query through a variable gives no path; an order is reported."""
    body = "ns:m.1 ns:a.b ?c .\n?c ns:c.d ?x .\n} ORDER BY ?n LIMIT 1 {"
    question, problems = one("cwq", tmp_path, cwq(body, "m.7"))
    assert question.paths == ()
    assert set(problems.noted) == {
        "the query orders or counts, which no path expresses",
        UNNAMED,
    }


def test_cwq_with_literals_and_choices(tmp_path: Path) -> None:
    """A literal is its text without its type, even directly before the dot; a choice gives no path."""
    body = 'ns:m.1 ns:a.b ?x.\n?x ns:a.year "1990"^^xsd:gYear .\n?x ns:c.d ns:m.2.'
    question, _ = one("cwq", tmp_path, cwq(body, "m.7"))
    # From both entities first, then from the answer that they lead to.
    assert edges(question) == [[("m.1", "a.b", "m.7"), ("m.7", "c.d", "m.2"), ("m.7", "a.year", "1990")]]
    question, problems = one("cwq", tmp_path, cwq("{ ?x ns:a.b ns:m.1 . } UNION { ?x ns:c.d ns:m.2 . }", "m.7"))
    assert question.paths == ()
    assert problems.noted == {f"the query has alternative or optional parts: {UNSCORED}": 1}
