"""MetaQA and QALD over small graphs made by hand: each path of the question's type to each answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.files.problems import Problems
from graphkit.plugins.gold.conversion import gold_questions
from graphkit.plugins.gold.formats import gold_format
from graphkit.plugins.gold.given_graphs import GivenGraphs
from graphkit.records.models import Question
from tests.helpers.gold_rows import edges, mistake, one

#: Ann acts in F and G; Bob acts in F and directs G; Cid acts in G. F has the tag t.
KB = (
    "F|starred_actors|Ann\nF|starred_actors|Bob\nG|starred_actors|Ann\nG|starred_actors|Cid\n"
    "G|directed_by|Bob\nF|has_tags|t\n"
)

ACTS = ("starred_actors",)
F_ANN, F_BOB = ("F", "starred_actors", "Ann"), ("F", "starred_actors", "Bob")
G_ANN, G_CID, G_BOB = ("G", "starred_actors", "Ann"), ("G", "starred_actors", "Cid"), ("G", "directed_by", "Bob")


def with_graph(name: str, path: Path, graph: Path) -> tuple[list[Question], Problems]:
    """Return the questions of a file over a graph, and the problems."""
    problems = Problems()
    with GivenGraphs(graph) as graphs:
        return list(gold_questions(gold_format(name), [path], problems, graphs)), problems


def metaqa(folder: Path, lines: str, types: str | None = None) -> tuple[list[Question], Problems]:
    """Return the questions of MetaQA's files in its layout: the types stand in the folder above."""
    (folder / "vanilla").mkdir()
    path = folder / "vanilla" / "qa_test.txt"
    path.write_text(lines)
    (folder / "kb.txt").write_text(KB)
    if types is not None:
        (folder / "qa_test_qtype.txt").write_text(types)
    return with_graph("metaqa", path, folder / "kb.txt")


def test_metaqa_paths_have_the_type_of_the_question(tmp_path: Path) -> None:
    """Who acts with Ann: Bob through F alone, since he directs G; Cid through G. F's tag is one step."""
    lines = "who acted together with [Ann]\tBob|Cid\nwhat are tags of [F]\tt\n"
    (first, second), problems = metaqa(tmp_path, lines, "actor_to_movie_to_actor\nmovie_to_tags\n")
    assert edges(first) == [[F_ANN, F_BOB], [G_ANN, G_CID]]
    assert (first.id, first.question, first.category) == (
        "qa_test-1",
        "who acted together with Ann",
        "actor_to_movie_to_actor",
    )
    assert (first.gold_answers, first.relevant) == (("Bob", "Cid"), {"Bob": 1.0, "Cid": 1.0})
    assert edges(second) == [[("F", "has_tags", "t")]]
    assert problems.noted == {}


def test_metaqa_without_types(tmp_path: Path) -> None:
    """The shortest paths in either direction: Bob is reached through F, and through G, which he directs."""
    (question,), _ = metaqa(tmp_path, "who acted together with [Ann]\tBob\n")
    assert sorted(edges(question)) == [[F_ANN, F_BOB], [G_ANN, G_BOB]]
    assert {path.group for path in question.paths} == {"Ann to Bob"}


def test_metaqa_lines(tmp_path: Path) -> None:
    """Without a graph there is no path, and a line needs entity and answers."""
    question, problems = one("metaqa", tmp_path, "what are tags of [F]\tt")
    assert (question.paths, question.relevant) == ((), {"t": 1.0})
    assert list(problems.noted.values()) == [1]
    for line in ("what are tags of F\tt", "what are tags of [F]", "what are tags of [F]\t|"):
        assert "its entity in brackets" in mistake("metaqa", tmp_path, line)


RES, DBO = "http://dbpedia.org/resource/", "http://dbpedia.org/ontology/"
PREFIXES = f"PREFIX dbo: <{DBO}> PREFIX res: <{RES}> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> "
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def qald(query: str, *values: str, kind: str = "uri", **more: Any) -> dict[str, Any]:
    """Return a question as QALD writes it."""
    bindings = [{"uri": {"type": kind, "value": value}} for value in values]
    return {
        "id": "7",
        "answertype": "resource",
        "aggregation": False,
        "onlydbo": True,
        "hybrid": False,
        "question": [
            {"language": "de", "string": "Welche?", "keywords": "x"},
            {"language": "en", "string": "Which?", "keywords": "x"},
        ],
        "query": {"sparql": PREFIXES + query},
        "answers": [{"head": {"vars": ["uri"]}, "results": {"bindings": bindings}}],
    } | more


def asked(folder: Path, *questions: dict[str, Any]) -> tuple[list[Question], Problems]:
    """Return the questions of a file of QALD."""
    path = folder / "qald-9-test.json"
    path.write_text(json.dumps({"dataset": {"id": "qald-9-test"}, "questions": questions}, indent=1))
    problems = Problems()
    return list(gold_questions(gold_format("qald"), [path], problems)), problems


def test_qald_entities_are_addresses(tmp_path: Path) -> None:
    """The query names one end, the results the other: a path of its one edge, and of its type."""
    query = "SELECT DISTINCT ?uri WHERE { res:Salt_Lake_City dbo:timeZone ?uri }"
    typed = f"SELECT ?uri WHERE {{ <{RES}A> dbo:b ?uri ; }}"
    two = "SELECT DISTINCT ?uri WHERE { ?uri rdf:type dbo:City ; dbo:country res:Peru . }"
    (first, second, third), problems = asked(
        tmp_path,
        qald(query, f"{RES}Mountain_Time_Zone"),
        qald(typed, f"{RES}C", id="8"),
        qald(two, f"{RES}Lima", id=9),
    )
    assert edges(first) == [[(f"{RES}Salt_Lake_City", f"{DBO}timeZone", f"{RES}Mountain_Time_Zone")]]
    assert (first.question, first.gold_answer, first.relevant) == (
        "Which?",
        "Mountain Time Zone",
        {f"{RES}Mountain_Time_Zone": 1.0},
    )
    assert edges(second) == [[(f"{RES}A", f"{DBO}b", f"{RES}C")]]
    # From the entities of the query outwards: Lima has both edges, and Peru and City are its ends.
    assert {*edges(third)[0]} == {(f"{RES}Lima", TYPE, f"{DBO}City"), (f"{RES}Lima", f"{DBO}country", f"{RES}Peru")}
    assert (third.id, problems.noted) == ("9", {})


def test_qald_answers_without_entities(tmp_path: Path) -> None:
    """A number is an answer in words, and so is that of ASK, whose patterns are the path; an id of Wikidata isn't."""
    ask = "ASK WHERE { res:Ann dbo:spouse res:Bob }"
    entity = "http://www.wikidata.org/entity/Q1"
    (count, fact, item), problems = asked(
        tmp_path,
        qald("SELECT (COUNT(DISTINCT ?uri) AS ?c) WHERE { ?uri dbo:author res:Ann }", "4", kind="typed-literal"),
        qald(ask, id="2", answers=[{"head": {}, "boolean": True}]),
        qald("SELECT ?uri WHERE { res:Ann dbo:child ?uri }", entity, id="3"),
    )
    assert (count.gold_answers, count.relevant, count.paths) == (("4",), {}, ())
    assert (fact.gold_answer, edges(fact)) == ("yes", [[(f"{RES}Ann", f"{DBO}spouse", f"{RES}Bob")]])
    assert (item.gold_answer, list(item.relevant)) == (None, [entity])
    assert problems.noted["an answer is an entity without a name: no text is right"] == 1


def test_qald_through_an_unnamed_node(tmp_path: Path) -> None:
    """The mother of the author: only the graph knows the author, B."""
    path = tmp_path / "q.json"
    query = "SELECT ?uri WHERE { res:Book dbo:author ?a . ?a dbo:mother ?uri }"
    path.write_text(json.dumps({"questions": [qald(query, f"{RES}M")]}))
    graph = tmp_path / "triples.tsv"
    graph.write_text(f"{RES}Book\t{DBO}author\t{RES}B\n{RES}B\t{DBO}mother\t{RES}M\n")
    (question,), _ = with_graph("qald", path, graph)
    assert edges(question) == [[(f"{RES}Book", f"{DBO}author", f"{RES}B"), (f"{RES}B", f"{DBO}mother", f"{RES}M")]]


@pytest.mark.parametrize("change", [{"question": []}, {"answers": "x"}, {"answers": [{"results": {"bindings": [1]}}]}])
def test_qald_rows_that_cannot_be_read(change: dict[str, Any], tmp_path: Path) -> None:
    """They are problems by their field."""
    questions, problems = asked(tmp_path, qald("ASK { }", **change))
    assert (questions, len(problems.skipped)) == ([], 1)
