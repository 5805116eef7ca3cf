"""Each format of public gold, with rows made by hand from its documentation: the gold, and the notes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.gold.conversion import gold_questions
from graphkit.gold.diffs import changed_files
from graphkit.gold.formats import gold_format, gold_formats
from graphkit.records import plugins
from graphkit.records.models import Question

Row = dict[str, Any]


def read(name: str, folder: Path, *rows: Row | str) -> tuple[list[Question], Problems]:
    """Return the questions of some rows, and the problems."""
    path = folder / "rows.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    problems = Problems()
    return list(gold_questions(gold_format(name), [path], problems)), problems


def one(name: str, folder: Path, row: Row | str) -> tuple[Question, Problems]:
    """Return the question of a usable row."""
    questions, problems = read(name, folder, row)
    assert problems.left_out == []
    return questions[0], problems


def mistake(name: str, folder: Path, row: Row | str) -> str:
    """Return the message about an unusable row."""
    questions, problems = read(name, folder, row)
    assert questions == []
    return str(problems.left_out[0])


def edges(question: Question) -> list[list[tuple[str, str | None, str]]]:
    """Return the steps of each gold path."""
    return [[(step.source, step.relation, step.target) for step in path.steps] for path in question.paths]


def unused(problems: Problems) -> set[str]:
    """Return the fields that are reported as unused."""
    return {name for _, name in problems.ignored_fields}


# Knowledge graphs --------------------------------------------------------------------------------------------------

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
    """A name without a Wikidata id is its own id, and a colon in it is reported."""
    row = GTSQA | {"seed_entities": ["a"], "answer_node": "x: y", "answer_subgraph": [["a", "knows", "x: y"]]}
    question, problems = one("gtsqa", tmp_path, row)
    assert edges(question) == [[("a", "knows", "x: y")]]
    assert [note for note in problems.noted if "colon" in note]


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
    told = mistake("gtsqa", tmp_path, GTSQA | change)
    assert f"{tmp_path / 'rows.jsonl'}:1: record '7': " in told
    assert said in told


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
    told = mistake("entailment-bank", tmp_path, row)
    assert "record 'M_1': " in told
    assert "such as 'sent1 & sent2 -> int1'" in told


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
    assert problems.noted == {"the query goes through an unnamed node: the question has no path": 1}


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
        "the query goes through an unnamed node: the question has no path",
    }


def test_cwq_with_literals_and_choices(tmp_path: Path) -> None:
    """A literal is its text without its type, even directly before the dot; a choice gives no path."""
    body = 'ns:m.1 ns:a.b ?x.\n?x ns:a.year "1990"^^xsd:gYear .\n?x ns:c.d ns:m.2.'
    question, _ = one("cwq", tmp_path, cwq(body, "m.7"))
    # From both entities first, then from the answer that they lead to.
    assert edges(question) == [[("m.1", "a.b", "m.7"), ("m.7", "c.d", "m.2"), ("m.7", "a.year", "1990")]]
    question, problems = one("cwq", tmp_path, cwq("{ ?x ns:a.b ns:m.1 . } UNION { ?x ns:c.d ns:m.2 . }", "m.7"))
    assert question.paths == ()
    assert problems.noted == {"the query has alternative or optional parts: the question has no path": 1}


# Texts -------------------------------------------------------------------------------------------------------------


def test_hotpotqa(tmp_path: Path) -> None:
    """The titles of the supporting facts are relevant, each once; there is no path."""
    row = {
        "_id": "h1",
        "question": "?",
        "answer": "yes",
        "type": "comparison",
        "level": "hard",
        "supporting_facts": [["T", 0], ["U", 3], ["T", 1]],
    }
    question, _ = one("hotpotqa", tmp_path, row)
    assert (question.id, question.difficulty, question.category) == ("h1", "hard", "comparison")
    assert question.relevant == {"T": 1.0, "U": 1.0}
    assert question.paths == ()


def test_musique(tmp_path: Path) -> None:
    """The paragraphs of the steps are relevant, in order, and then other supporting paragraphs."""
    row: Row = {
        "id": "2hop__1_2",
        "question": "?",
        "answer": "a",
        "answerable": True,
        "paragraphs": [
            {"idx": 0, "title": "S", "paragraph_text": "...", "is_supporting": True},
            {"idx": 1, "title": "No", "paragraph_text": "...", "is_supporting": False},
            {"idx": 2, "title": "T", "paragraph_text": "...", "is_supporting": True},
        ],
        "question_decomposition": [
            {"id": 1, "question": "?", "answer": "b", "paragraph_support_idx": 2},
            {"id": 2, "question": "?", "answer": "a", "paragraph_support_idx": 0},
        ],
    }
    question, problems = one("musique", tmp_path, row)
    assert list(question.relevant) == ["T", "S"]
    assert question.category == "2hop"
    assert problems.noted == {}
    question, problems = one("musique", tmp_path, row | {"question_decomposition": row["question_decomposition"][:1]})
    assert list(question.relevant) == ["T", "S"]
    assert len(problems.noted) == 1
    wrong = row | {"question_decomposition": [{"id": 1, "question": "?", "answer": "b", "paragraph_support_idx": 9}]}
    assert "names a paragraph that isn't there: 9" in mistake("musique", tmp_path, wrong)
    question, problems = one("musique", tmp_path, row | {"answerable": False})
    assert (question.relevant, question.gold_answer) == ({}, None)
    assert problems.noted == {"the question is marked as unanswerable: nothing is gold": 1}


# Code --------------------------------------------------------------------------------------------------------------

#: Changes a method (with its heading), a signature, and adds a function; adds a file; renames one; removes one.
PATCH = """diff --git a/pkg/m.py b/pkg/m.py
index 1..2 100644
--- a/pkg/m.py
+++ b/pkg/m.py
@@ -10,3 +10,3 @@ class Store:
         a = 1
-        b = 2
+        b = 3
         c = 4
@@ -20,7 +20,10 @@ def before():
     x = 1
 
     def load(self, key):
-        return key
+        return self.of(key)
 
-def top(a):
+def top(a, b):
     return a
+
+def added():
+    return 1
diff --git a/pkg/new.py b/pkg/new.py
new file mode 100644
--- /dev/null
+++ b/pkg/new.py
@@ -0,0 +1,2 @@
+def fresh():
+    --- not a header
diff --git a/old name.txt b/new name.txt
similarity index 100%
rename from old name.txt
rename to new name.txt
diff --git "a/caf\\303\\251.py" "b/caf\\303\\251.py"
--- "a/caf\\303\\251.py"
+++ /dev/null
@@ -1 +0,0 @@
-x = 1
"""

SWE: Row = {
    "instance_id": "o__r-1",
    "repo": "o/r",
    "base_commit": "c0ffee",
    "problem_statement": "It fails.",
    "patch": PATCH,
    "test_patch": "diff",
}


def test_swe_bench(tmp_path: Path) -> None:
    """The files at the commit before, and the innermost definition around each changed line.

    Store by the heading, load by its line in the hunk, top by its own line; neither the neighbour in the heading, nor
    what the patch adds.
    """
    question, problems = one("swe-bench", tmp_path, SWE)
    assert question.expected_files == ("o/r:pkg/m.py", "o/r:old name.txt", "o/r:café.py")
    assert question.expected_symbols == ("Store", "load", "top")
    assert question.commits == {"o/r": "c0ffee"}
    assert question.question == "It fails."
    assert unused(problems) == {"test_patch"}
    # The repository before the colon is one: nothing is told of it.
    assert problems.noted == {}


def test_swe_bench_that_only_adds(tmp_path: Path) -> None:
    """A patch that only adds files expects no file."""
    patch = "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+x = 1\n"
    question, problems = one("swe-bench", tmp_path, SWE | {"patch": patch})
    assert (question.expected_files, question.expected_symbols) == ((), ())
    assert problems.noted == {"the patch only adds files: none is expected at base_commit": 1}


@pytest.mark.parametrize(
    ("hunk", "symbols"),
    [
        # A method that is added behind the one in the heading is no change of that.
        ("@@ -1 +1,4 @@ def before(self):\n         return 1\n+\n+    def after(self):\n+        return 2", []),
        # Added to a class, it is one of the class.
        ("@@ -1 +1,3 @@ class Store:\n         return 1\n+    def after(self):\n+        return 2", ["Store"]),
        # What stands beside a function isn't in it.
        ("@@ -1,3 +1,3 @@\n def f():\n     pass\n-X = 1\n+X = 2", []),
        # The heading of a hunk is what begins before it; the function within is nearer.
        ("@@ -9,2 +9,2 @@ class Store:\n     def get(self):\n-        return 1\n+        return 2", ["get"]),
        # A line that is added behind what was added belongs to that.
        ("@@ -1 +1,3 @@\n def f(): ...\n+def g():\n+    return 1", []),
        ("@@ -1,2 +1,2 @@ func (s *Store) Get() {\n-\treturn 1\n+\treturn 2\n }", ["Get"]),
        ("@@ -1,2 +1,2 @@ static int parse(const char *text)\n-    return 1;\n+    return 2;\n }", ["parse"]),
        ("@@ -1 +1 @@ if (x) {\n-    return 1;\n+    return 2;\n\\ No newline at end of file", []),
    ],
)
def test_symbols_of_a_hunk(hunk: str, symbols: list[str]) -> None:
    """The symbol of a changed line is the innermost old definition around it that the hunk shows."""
    [file] = changed_files(f"--- a/x\n+++ b/x\n{hunk}\n")
    assert list(file.symbols) == symbols


def test_files_without_hunks() -> None:
    """Binary files and files that only change their mode count; new files don't."""
    patch = (
        "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
        "diff --git a/a b.png b/a b.png\nindex 1..2 100644\nBinary files a/a b.png and b/a b.png differ\n"
        "diff --git a/new.png b/new.png\nnew file mode 100644\nBinary files /dev/null and b/new.png differ\n"
    )
    assert [file.path for file in changed_files(patch)] == ["run.sh", "a b.png", None]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"patch": "fix it"}, "the patch isn't a unified diff"),
        ({"patch": "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ f\n a\n-b\n"}, "a hunk of the patch is cut short: '@@ -1,3"),
        ({"patch": "@@ -1 +1 @@\n-a\n+b\n"}, "a hunk without a file"),
        ({"base_commit": None}, "the field 'base_commit' is missing"),
        ({"repo": "a:b"}, "'repo' must be the name of a repository"),
    ],
)
def test_swe_bench_mistakes(change: Row, said: str, tmp_path: Path) -> None:
    """A row with an unreadable patch is reported with its id."""
    told = mistake("swe-bench", tmp_path, SWE | change)
    assert "record 'o__r-1'" in told
    assert said in told


def test_context_bench(tmp_path: Path) -> None:
    """The files of the blocks without the container's folder, and the symbols whose definitions begin there."""
    blocks = [
        {"file": "/testbed/src/a.go", "start_line": 1, "end_line": 3, "content": "func (s *S) Get() {\n\treturn\n}"},
        {"file": "src/b.py", "start_line": 8, "end_line": 9, "content": "    return x"},
        {"file": "/workspace/r/src/b.py", "start_line": 1, "end_line": 2, "content": "class B:\n    def m(self): ..."},
    ]
    row = {"instance_id": "i-1", "repo": "o/r", "base_commit": "c0ffee", "problem_statement": "It fails."}
    question, problems = one("context-bench", tmp_path, row | {"gold_context": json.dumps(blocks)})
    assert question.expected_files == ("o/r:src/a.go", "o/r:src/b.py")
    assert question.expected_symbols == ("Get", "B", "m")
    assert question.commits == {"o/r": "c0ffee"}
    assert problems.noted == {}
    former = {"inst_id": "i-1", "repo_url": "https://github.com/o/r.git", "commit": "c0ffee", "prompt": "It fails."}
    question, problems = one(
        "context-bench", tmp_path, former | {"init_ctx": [{"file": "x.py"}], "add_ctx": blocks[:1]}
    )
    assert question.expected_files == ("o/r:x.py", "o/r:src/a.go")
    assert "block 1 of 'gold_context' names no file" in mistake(
        "context-bench", tmp_path, row | {"gold_context": "[{}]"}
    )


# All of them -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", gold_formats()[0], ids=lambda form: form.name)
@pytest.mark.parametrize("value", [None, 1, True, "", "x", [], [1], [[]], {}, {"a": 1}], ids=repr)
def test_hostile_rows(form: Any, value: Any, tmp_path: Path) -> None:
    """Any values in a row give a question or a problem, never a traceback."""
    names = (
        "id _id qid ID instance_id question problem_statement repo base_commit patch answer answers sparql proof meta"
    )
    names += " evidences evidence_triple supporting_facts paragraphs question_decomposition graph_query gold_context"
    names += " answer_subgraph seed_entities answer_node type level source domains function init_ctx add_ctx"
    base = {
        "id": "1",
        "qid": 1,
        "instance_id": "1",
        "question": "?",
        "problem_statement": "?",
        "repo": "r",
        "base_commit": "c",
    }
    rows = [base | {name: value} for name in names.split()]
    rows += [dict.fromkeys(names.split(), value), base | {"graph_query": {"nodes": value, "edges": value}}]
    for row in rows:
        path = tmp_path / "rows.jsonl"
        path.write_text(json.dumps(row) + "\n")
        problems = Problems()
        questions = list(gold_questions(form, [path], problems))
        assert len(questions) + len({problem.where for problem in problems.left_out}) == 1


@pytest.mark.parametrize("form", gold_formats()[0], ids=lambda form: form.name)
def test_each_format_says_what_it_lacks(form: Any) -> None:
    """Each format has a name, a title, and sentences about what it lacks."""
    assert form.lacks
    assert all(sentence.endswith(".") for sentence in form.lacks)
    assert type(gold_format(form.name)) is type(form)


OWN = '''
from graphkit.gold.formats import GoldFormat


class Riddles(GoldFormat):
    """Reads ``riddle``."""

    name = "riddles"
    title = "Riddles"
    lacks = ("There are no paths.",)

    def question(self, row):
        return {"id": row.name("id"), "question": row.text("riddle")}
'''


def test_other_packages_add_formats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package adds a format by an entry point; broken ones are reported and hide no other format."""
    (tmp_path / "own_gold.py").write_text(OWN)
    info = tmp_path / "own_gold-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-gold\nVersion: 1.0\n")
    points = (
        "riddles = own_gold:Riddles",
        "gone = own_gold:Gone",
        "other = own_gold:Riddles",
        "cwq = own_gold:Riddles",
    )
    (info / "entry_points.txt").write_text("\n".join(["[graphkit.gold]", *points]) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins.installed.cache_clear()
    try:
        question, _ = one("riddles", tmp_path, {"id": 1, "riddle": "What has roots as nobody sees?"})
        assert question.question == "What has roots as nobody sees?"
        formats, errors = gold_formats()
        assert {"riddles", "cwq", "swe-bench"} <= {form.name for form in formats}
        assert "own_gold" not in type(gold_format("cwq")).__module__
        broken, misnamed = sorted(map(str, errors))
        assert broken.startswith("own_gold:Gone: there is no 'Gone'")
        assert "the format lacks its name" in misnamed
        assert "of own-gold" in misnamed
        with pytest.raises(InputError, match="there is no 'Gone'"):
            gold_format("gone")
    finally:
        plugins.installed.cache_clear()
