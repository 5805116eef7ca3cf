"""Graphs of documents: what is right of small inputs made by hand after released result sets of text GraphRAG.

The inputs of the data set, and what is right of each, are those of its own README.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.imports.importer import import_log
from graphkit.measures.case import Case
from graphkit.measures.outcome import UNDECIDABLE, Decision, right_answer
from graphkit.measures.paths import first_divergences
from graphkit.plugins.agents.workspace import Workspace
from graphkit.plugins.gold.datasets.question_fields import fields_of
from graphkit.records.models import Answer, Question
from graphkit.report import PageOptions, write_report
from tests.helpers import ROOT
from tests.helpers.cases import answer, question, ranking, reason, unlogged, value
from tests.helpers.cli import inside
from tests.helpers.datasets import read_jsonl, write_jsonl
from tests.helpers.gold_rows import one
from tests.helpers.pages import Page


@pytest.fixture
def place(texts: Path, tmp_path: Path) -> Path:
    """A copy of the data set that may be written to."""
    return Path(shutil.copytree(texts, tmp_path / "text"))


# Gold answers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "said", "right"),
    [
        # A part of a word is none.
        ("no", "I don't know; both are unknown to me.", False),
        ("2", "1925", False),
        ("2", "2.5", False),
        ("25", "2.5", False),
        ("1000", "There are 1,000.", True),
        ("Ann", "Joanna Smith", False),
        ("Ann Lee", "It was “Ann Lee”.", True),
        ("Ann", "Bob/Ann", True),
        ("U2", "the U-2", True),
        ("C++", "It is written in C.", False),
        ("1925", "12.05.1925", True),
        # Yes and no are the answer's own.
        ("yes", "Yesterday", False),
        ("no", "There is no evidence that they differ, so yes.", False),
        ("yes", "There is no evidence that they differ, so yes.", True),
        ("no", "**No**, they aren't.", True),
        ("No.", "The answer is no", True),
        ("no", "no one knows", False),
        ("yes", "Is it yes or no? No.", False),
        # Scripts without spaces have no whole words.
        ("奥斯陆", "他出生于奥斯陆。", True),
    ],
)
def test_a_gold_answer_is_found_as_whole_words(gold: str, said: str, right: bool) -> None:
    """A gold answer occurs as whole words, yes and no as the answer's own."""
    assert value("AnswerHit", question(gold_answers=[gold]), answer(answer=said)) == right


def test_a_part_of_a_word_counts_as_published() -> None:
    """RoG and GNN-RAG look for gold answers in words, too."""
    assert value("AnswerHit(words=False)", question(gold_answers=["Ann"]), answer(answer="Joanna")) == 1
    assert value("AnswerF1(words=False)", question(gold_answers=["Ann"]), answer(answer="Joanna\nBob")) == 2 / 3
    assert value("AnswerF1", question(gold_answers=["Ann"]), answer(answer="Joanna\nBob")) == 0


def test_a_long_gold_answer_decides_nothing() -> None:
    """Six words may be said in others; listed as gold answers they are looked for as they stand."""
    text = "It was born in Oslo then"
    why = "the gold answer is longer than 5 words, so an answer may say it in others"
    assert reason("AnswerHit", question(gold_answer=text), answer(answer=text)) == why
    assert value("AnswerHit", question(gold_answers=[text]), answer(answer=text)) == 1
    assert reason("AnswerHit", question(gold_answer="Oslo"), unlogged()) == "the run logs no answer text (not logged)"


def test_gold_answers_decide_where_nothing_better_does(place: Path) -> None:
    """Of five answers only the last holds a gold answer; all five are decided, though nothing says of the path."""
    folder = place / "answers"
    answers = {one["question_id"]: Answer.model_validate(one) for one in read_jsonl(folder / "runs" / "r.jsonl")}
    asked = [Question.model_validate(one) for one in read_jsonl(folder / "questions.jsonl")]
    rights = {one.id: right_answer(Case(one, answers[one.id])).right for one in asked}
    assert rights == {"a1": False, "a2": False, "a3": False, "a4": False, "a5": True}
    result = json.loads(inside("evaluate", folder, "--no-store", "--json", cwd=place).out)
    assert result["measures"]["AnswerHit"]["mean"] == 0.2
    done = inside("evaluate", place / "answers", "--no-store", cwd=place)
    assert "1 right answer" in done.out
    assert "nothing could be judged" not in done.out
    full = inside("evaluate", place / "answers", "--no-store", "--full", cwd=place).out
    assert "0 of 5 are undecided" in full


def test_facts_and_the_expected_output_come_first() -> None:
    """An answer with a gold answer is wrong if it lacks a fact or the expected output, which are whole words, too."""
    facts = question(facts=["status 409"], gold_answers=["Oslo"])
    span = question(expected_output="Ann", gold_answers=["Oslo"])
    coded = question(test_cases=[{"name": "t", "assertion": "True"}], gold_answers=["Oslo"])
    plain = question(gold_answers=["Oslo"])
    given = answer(answer="Joanna, Oslo")
    assert [right_answer(Case(one, given)).right for one in (facts, span, plain)] == [False, False, True]
    assert right_answer(Case(span, answer(answer="Ann"))).right is True
    assert right_answer(Case(coded, given)) == Decision(None, UNDECIDABLE)


def test_aliases_are_gold_answers(tmp_path: Path) -> None:
    """MuSiQue's aliases are other spellings of the answer, and KILT's outputs hold several answers."""
    row = {"id": "2hop__1", "question": "?", "answer": "Ann Lee", "answer_aliases": ["A. Lee"], "answerable": True}
    row |= {"paragraphs": [], "question_decomposition": []}
    found, _ = one("musique", tmp_path, row)
    assert (found.gold_answer, found.gold_answers) == ("Ann Lee", ("Ann Lee", "A. Lee"))
    found, _ = one(
        "kilt", tmp_path, {"id": "k", "input": "?", "output": [{"answer": "Oslo"}, {"answer": "Kristiania"}]}
    )
    assert (found.gold_answer, found.gold_answers) == ("Oslo", ("Oslo", "Kristiania"))


# The page ------------------------------------------------------------------------------------------------------------

#: Of 30 questions a has 15 right and b 10: .5 and .33, and the difference of b to a is -.17.
VERDICT = "a and b don't clearly differ: AnswerHit 0.50 to 0.33, +0.17"


def _text(page: Path) -> str:
    return " ".join(Page(page.read_text("utf-8")).text.split())


def test_one_verdict_in_every_output(place: Path) -> None:
    """All 30 questions are scored in both runs, so terminal, comparison and page say by how much these differ."""
    a, b = (place / "page" / "runs" / f"{name}.jsonl" for name in "ab")
    assert VERDICT in inside("evaluate", place / "page", "--no-store", cwd=place).out
    assert VERDICT in inside("compare", a, b, cwd=place).out
    (row,) = json.loads(inside("compare", a, b, "--json", cwd=place).out)["groups"][0]["measures"]
    assert (row["measure"], row["questions"], round(row["delta"], 4)) == ("AnswerHit", 30, -0.1667)
    page = _text(write_report([a, b], place / "page.html", PageOptions(measures=("AnswerF1",))))
    assert VERDICT in page
    assert "no question was scored in both" not in page
    # A measure that somebody asked for stands before the folded ones.
    board = page[page.index("Board") :]
    assert board.index("AnswerF1") < board.index("more measures")


def test_no_verdict_by_a_measure_without_weight(tmp_path: Path) -> None:
    """The run that finds all nodes and walks nothing leads by nDCG@10, until it weighs 0; then EdgeRecall decides."""
    gold = [{"id": f"q{n}", "question": "?", "relevant": ["x"], "paths": [[["x", "R", "y"]]]} for n in range(20)]
    write_jsonl(tmp_path / "questions.jsonl", gold)
    both: dict[str, dict[str, Any]] = {
        "found": {"retrieved": ["x"], "traversal": []},
        "walked": {"retrieved": [], "traversal": [["x", "R", "y"]]},
    }
    runs = [
        write_jsonl(tmp_path / f"{name}.jsonl", [{"run": name, "question_id": f"q{n}", **what} for n in range(20)])
        for name, what in both.items()
    ]
    config = tmp_path / "graphkit.toml"
    config.write_text(
        '[weights.retrieval]\n"nDCG@10" = 0\n"Recall@20" = 0\nRR = 0\nCrossRepoPrecision = 0\nEdgeRecall = 1\n'
    )
    options = ("--dataset", tmp_path, "--no-store")
    assert "found beats walked: nDCG@10" in inside("evaluate", *runs, *options, cwd=tmp_path).out
    assert "walked beats found: EdgeRecall" in inside("evaluate", *runs, *options, "--config", config, cwd=tmp_path).out


# Directions ----------------------------------------------------------------------------------------------------------

LOST = "4 edges logged without a direction: compared in that which gold has"


@pytest.fixture
def lightrag(place: Path) -> Path:
    """A dataset with the run that LightRAG's log gives, whose ends stand in alphabetical order."""
    folder = place / "unordered"
    folder.mkdir()
    shutil.copy(place / "unordered-questions.jsonl", folder / "questions.jsonl")
    log = import_log(place / "unordered.jsonl", "lightrag", folder, out=folder / "runs" / "u.jsonl")
    assert log.figures["directionless"] == 4
    return folder


def test_a_log_without_directions_is_compared_without(lightrag: Path) -> None:
    """Both edges of both questions are found, whichever name comes first in the alphabet, and every output says so."""
    run = lightrag / "runs" / "u.jsonl"
    done = inside("evaluate", lightrag, "--no-store", cwd=lightrag)
    assert LOST in done.err
    result = json.loads(inside("evaluate", lightrag, "--no-store", "--json", cwd=lightrag).out)
    assert [result["measures"][name]["mean"] for name in ("EdgeRecall", "EdgePrecision")] == [1.0, 1.0]
    assert result["relations"]["without_direction"] == 4
    assert LOST in " ".join(result["warnings"])
    assert LOST in _text(write_report([run], lightrag / "page.html", PageOptions()))
    assert LOST in Workspace(lightrag, None).report("runs/u.jsonl")
    # The other run walks u2 by a directed edge, against gold: EdgeRecall 1 and 1/2.
    answers = [{**one, "run": "v"} for one in read_jsonl(run)]
    del answers[1]["traversal"][1]["directed"]
    other = write_jsonl(lightrag / "runs" / "v.jsonl", answers)
    compared = inside("compare", run, other, "-m", "EdgeRecall", "--json", cwd=lightrag)
    (row,) = json.loads(compared.out)["groups"][0]["measures"]
    assert (row["first"], row["second"]) == (1.0, 0.75)
    assert f"u: {LOST}" in json.loads(compared.out)["warnings"]
    assert LOST in inside("compare", run, other, "-m", "EdgeRecall", "--format", "github", cwd=lightrag).out


def test_both_engines_turn_the_same_edges(lightrag: Path, store: Store) -> None:
    """Cypher agrees with Python, also after gold has changed; where gold has both directions, the log's stands."""
    run = lightrag / "runs" / "u.jsonl"
    measures = ["EdgeRecall", "EdgePrecision", "EdgeF1", "PathPrefix", "PathExact"]
    answers = [{**one, "ordered": True} for one in read_jsonl(run)]
    write_jsonl(run, answers)

    def values(engine: Literal["python", "cypher"]) -> dict[str, float | None]:
        found = graphkit.evaluate(run, lightrag, measures=measures, store=store, engine=engine)
        assert any(LOST in one for one in found.warnings) or engine == "cypher"
        assert found.relations.directionless == 4
        return {name: one.mean for name, one in found.measures.items()}

    # Logged in another order than gold's, no path begins with its first step and ends with its last.
    first = {"EdgeRecall": 1.0, "EdgePrecision": 1.0, "EdgeF1": 1.0, "PathPrefix": 0.5, "PathExact": 0.0}
    assert values("cypher") == values("python") == first
    # u1's gold is turned: Ann -> Aida Bay; u2's has both directions, and the log's is Ann -> Zeta Bay: one of 3 missed.
    questions = read_jsonl(lightrag / "questions.jsonl")
    questions[0]["paths"] = [{"steps": [["Ann", "directed", "Aida Bay"], ["Ann", "place of birth", "Oslo"]]}]
    questions[1]["paths"][0]["steps"].append(["Ann", "directed", "Zeta Bay"])
    write_jsonl(lightrag / "questions.jsonl", questions)
    second = values("python")
    assert second["EdgeRecall"] == (1 + 2 / 3) / 2
    assert values("cypher") == second


def test_an_undirected_graph_of_networkx_has_no_directions() -> None:
    """Node-link JSON says of the whole graph whether its edges have a direction."""
    walk = {"directed": False, "nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "b", "target": "a"}]}
    asked = question([("a", "R", "b")])
    assert value("EdgeRecall", asked, unlogged(traversal=walk)) == 1
    assert value("EdgeRecall", asked, unlogged(traversal={**walk, "directed": True})) == 0


# Order ---------------------------------------------------------------------------------------------------------------

#: Three facts about one film, in no order.
FACTS = [("film", "director", "Ann"), ("film", "writer", "Bob"), ("film", "country", "Norway")]


def _paths(gold: Question, walk: Answer) -> list[float]:
    return [value(name, gold, walk) for name in ("PathExact", "PathInOrder", "PathPrefix")]


def test_unordered_gold_demands_no_order() -> None:
    """A star walked in another order is whole; with its order, only its first step is followed."""
    star = {"steps": [*map(list, FACTS)], "ordered": False}
    turned = answer([FACTS[2], FACTS[0], FACTS[1]])
    assert _paths(question(star), turned) == [1.0, 1.0, 1.0]
    assert _paths(question([*FACTS]), turned) == [0.0, 0.0, 2 / 3]
    # Two of three steps, and one beside them.
    other = answer([FACTS[2], ("film", "year", "1925"), FACTS[0]])
    assert _paths(question(star), other) == [0.0, 0.0, 2 / 3]
    # A set of edges has no order to lack.
    loose = answer([FACTS[2], FACTS[0], FACTS[1]], ordered=False)
    assert _paths(question(star), loose) == [1.0, 1.0, 1.0]
    assert reason("PathExact", question([*FACTS]), loose).startswith("the traversal is a set of edges")
    assert reason("PathExact", question(star, [("a", "R", "b")]), loose).startswith("the traversal is a set of edges")


def test_an_unordered_path_is_not_stopped_at() -> None:
    """Of a star the missing step is named, and not where a walk stopped, which has no place in it."""
    star = {"steps": [["Bob", "wrote", "film"], ["film", "won", "prize"], ["Ann", "directed", "film"]]}
    walk = answer([("Ann", "directed", "film"), ("Bob", "wrote", "film")])
    (ordered,) = first_divergences(Case(question(star), walk))
    assert (ordered.position, ordered.ordered) == (1, True)
    (unordered,) = first_divergences(Case(question({**star, "ordered": False}), walk))
    assert (unordered.position, unordered.node, unordered.ordered, unordered.stopped) == (1, "film", False, False)


# Failures ------------------------------------------------------------------------------------------------------------


def test_missed_passages_and_failed_groups(tmp_path: Path, store: Store) -> None:
    """A missed passage and the failed question of category y are named, in files and in the graph."""
    gold = {"question": "?", "relevant": {"p2": 2, "p1": 1}, "gold_answers": ["A"]}
    write_jsonl(tmp_path / "questions.jsonl", [{"id": name, "category": name, **gold} for name in "xy"])
    records: list[dict[str, Any]] = [
        {"question_id": "x", "answer": "A", "retrieved": ["p1", "p3"]},
        {"question_id": "y", "error": "down"},
    ]
    whole = {"answer": "A", "retrieved": ["p1", "p2"]}
    run = write_jsonl(tmp_path / "runs" / "r.jsonl", [{"run": "r", **one} for one in records])
    other = write_jsonl(tmp_path / "runs" / "s.jsonl", [{"run": "s", "question_id": name, **whole} for name in "xy"])
    row = {"question": "x", "relevant": "p2", "gain": 2.0, "found": 1, "required": 2}
    assert [*graphkit.file_failures(run, "missed-passages")] == [row]
    graphkit.evaluate(run, tmp_path, measures=["Recall@5"], store=store)
    assert graphkit.failures(store, "r", "missed-passages") == [row]
    assert "p2 was not retrieved (1 of 2 relevant ids were)" in inside("failures", run, cwd=tmp_path).out
    assert "not retrieved: 'p2'" in inside("why", run, "x", cwd=tmp_path).out.replace('"', "'")
    comment = inside("compare", other, run, "-m", "Recall@5", "--format", "github", cwd=tmp_path).out
    assert "`Recall@5` 1.00 to 0.50; right answer; 1 of 2 relevant ids is not retrieved: `p2`" in comment
    # Recall 1/2 for x, and y counts as the worst value.
    done = inside("evaluate", run, "--no-store", "--by", "category", "-m", "EdgeRecall", "-m", "Recall@5", cwd=tmp_path)
    assert "r: Recall@5 by category: y 0.00, x 0.50" in done.out


def test_what_moved_is_told_by_a_measure_with_values(place: Path) -> None:
    """The usual first measure has no value of answers-only data, so that the questions moved by the gold answers."""
    a, b = (place / "page" / "runs" / f"{name}.jsonl" for name in "ab")
    assert "worse     p1: AnswerHit 1.00 to 0.00" in inside("compare", a, b, cwd=place).out


# Passages ------------------------------------------------------------------------------------------------------------


def test_passages_without_ids() -> None:
    """A passage is known by the hash of its text, on both sides; evidence is a text that a chunk holds."""
    asked = question(relevant=[{"text": "Oslo is in Norway."}], relevant_texts=["born in Oslo", "in 1925"])
    walked = unlogged(retrieved=[{"text": "Ann was  BORN in Oslo."}, {"text": "Oslo is in Norway."}])
    # The relevant passage is second; of two texts of evidence the first passage holds one.
    assert value("RR", asked, walked) == 0.5
    assert value("EvidenceRecall@1", asked, walked) == 0.5
    assert reason("EvidenceRecall@1", question(), walked) == "no texts of evidence"
    assert reason("EvidenceRecall@1", asked, unlogged(retrieved=["a"])) == "the retrieved chunks carry no text"


def test_a_list_of_answers_is_read_as_several(tmp_path: Path) -> None:
    """A list under the name of a gold answer is the gold answers, in records and in the files that init reads."""
    for name in ("answer", "ground_truth", "gold_answer"):
        read = Question.model_validate({"id": "q", "question": "?", name: ["A", "B"]})
        assert (read.gold_answer, read.gold_answers) == (None, ("A", "B"))
    fields, unused = fields_of({"id": 1, "question": "?", "ground_truth": ["A", "B"]})
    assert (fields["gold_answers"], unused) == (["A", "B"], [])


def test_supporting_sentences_are_an_evidence_set(tmp_path: Path) -> None:
    """HotpotQA's facts name sentences: those of one answer suffice together, by title and number."""
    facts = [["T", 0], ["U", 3], ["T", 0]]
    found, _ = one("hotpotqa", tmp_path, {"_id": "h", "question": "?", "answer": "a", "supporting_facts": facts})
    assert (found.relevant, found.evidence_sets) == ({"T": 1.0, "U": 1.0}, (("T#0", "U#3"),))
    # Sentence by sentence, one of two was retrieved, but one of two paragraphs isn't known by this name.
    assert value("Recall(sets=True)@5", found, ranking("T#0", "T#1")) == 0.5


# The page about it ---------------------------------------------------------------------------------------------------


def test_the_documented_steps_give_the_documented_results(tmp_path: Path) -> None:
    """The blocks of docs/text-graphs.md, one after the other: one of two answers is right, and one title is missed."""
    blocks = re.findall(r"```(\w+)\n(.*?)```", (ROOT / "docs" / "text-graphs.md").read_text("utf-8"), re.DOTALL)
    by_kind: dict[str, str] = dict(blocks)
    (tmp_path / "results.jsonl").write_text(by_kind["json"])
    subprocess.run([sys.executable, "-c", by_kind["python"]], cwd=tmp_path, check=True)
    commands = by_kind["bash"].splitlines()
    done = [inside(*shlex.split(line)[1:], cwd=tmp_path, code=0) for line in commands]
    assert "1 right answer" in done[0].out
    # Recall@5 is 1/2 and 1; one of two answers is right.
    assert re.search(r"AnswerHit\W+0\.5000\W+2/2", done[1].out)
    assert re.search(r"Recall@5\W+0\.7500\W+2/2", done[1].out)
    assert "Ann Lee was not retrieved (1 of 2 relevant ids were)" in done[2].out


# What isn't there ----------------------------------------------------------------------------------------------------


def test_what_the_data_has_nothing_for_is_not_shown(tmp_path: Path) -> None:
    """Titles name no repository and nothing states a commit: their measures are in no table, reason or page."""
    gold = {"question": "?", "relevant": ["Aida Bay"], "gold_answers": ["A"], "paths": [[["Aida Bay", "by", "Ann"]]]}
    write_jsonl(tmp_path / "questions.jsonl", [{"id": "q", **gold}])
    record = {"run": "r", "question_id": "q", "answer": "A", "retrieved": ["Aida Bay"], "traversal": []}
    run = write_jsonl(tmp_path / "runs" / "r.jsonl", [record])
    shown = [inside("evaluate", run, "--no-store", *options, cwd=tmp_path).out for options in ((), ("--full",))]
    shown.append(_text(write_report([run], tmp_path / "r.html", PageOptions())).partition("Where it breaks")[0])
    for text in shown:
        assert not re.search("CrossRepo|Boundary(Recall|Precision)|Coherence|OffPin", text), text
    # Asked for, they are there, with their reasons; with a repository, they are there, too.
    asked = inside("evaluate", run, "--no-store", "-m", "CrossRepoRecall", cwd=tmp_path).out
    assert "gold names no repository" in asked
    coded = {"relevant": ["a:x.py"], "paths": [[["a:x.py", "CALLS", "b:y.py"]]]}
    write_jsonl(tmp_path / "questions.jsonl", [{"id": "q", **gold, **coded}])
    write_jsonl(run, [{**record, "retrieved": ["a:x.py"]}])
    assert "CrossRepoRecall" in inside("evaluate", run, "--no-store", "--full", cwd=tmp_path).out
