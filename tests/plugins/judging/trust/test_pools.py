"""Pools of several runs: each chunk is judged once, and the runs are measured by what was judged."""

from __future__ import annotations

import json
import re
from math import log2
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

from graphkit.files.problems import Problems
from graphkit.measures.registry import parse_measure
from graphkit.plugins.judging.grading.surroundings import Distances
from graphkit.plugins.judging.trust.pooled_chunks import beside, drawn, prompts_of
from graphkit.plugins.judging.trust.pools import condensed
from graphkit.plugins.logs.judgements import judged_questions
from tests.helpers.api import Api, served
from tests.helpers.api import Reply as Sent
from tests.helpers.cases import answer, question
from tests.helpers.chat import completion, last_text
from tests.helpers.cli import inside
from tests.helpers.datasets import write_jsonl
from tests.helpers.terminals import ProgressLines

#: A judge that grades a chunk by the digit at its end, and writes a line for each chunk that it is asked about.
JUDGE = """
import re


def judge(prompt, schema):
    found = re.findall(r"<(c\\d+)-([0-9a-f]{16})>\\n(\\S+)\\n(.*?)\\n</\\1-\\2>", prompt, re.DOTALL)
    with open("asked.txt", "a") as log:
        log.writelines(f"{name}\\n" for _, _, name, _ in found)
    rows = [{"chunk": key, "reason": "r", "relevance": int(text[-1])} for key, _, _, text in found]
    return {"chunks": rows}


judge.version = "1"
"""


def ranked(run: str, asked: str, *chunks: tuple[str, str | None]) -> dict[str, Any]:
    """Return a record with chunks, each an id and a text that ends in its grade."""
    retrieved = [{"id": one, "text": text} for one, text in chunks]
    return {"run": run, "question_id": asked, "answer": "", "retrieved": retrieved}


X, Y, Z = ("x", "is 3"), ("y", "is 0"), ("z", "is 2")


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Two runs over q1, without gold, and q2, whose relevant chunk is x; the second failed on q2."""
    (tmp_path / "grades.py").write_text(JUDGE)
    rows: list[dict[str, Any]] = [{"id": "q1", "question": "?"}, {"id": "q2", "question": "?", "relevant": {"x": 1}}]
    write_jsonl(tmp_path / "questions.jsonl", rows)
    failed: dict[str, Any] = {"run": "b", "question_id": "q2", "error": "timed out"}
    return [
        write_jsonl(tmp_path / "runs" / "a.jsonl", [ranked("a", "q1", X, Y), ranked("a", "q2", Y, X)]),
        write_jsonl(tmp_path / "runs" / "b.jsonl", [ranked("b", "q1", Y, Z), failed]),
    ]


def pooled(runs: list[Path], *options: object) -> Any:
    """Return the JSON of pooling runs with the judge by digits."""
    folder = runs[0].parent.parent
    return inside("judge", "pool", *runs, "-j", "grades:judge", *options, "--json", cwd=folder, code=0).object()


def asked(runs: list[Path]) -> list[str]:
    """Return the chunks that the judge was asked about so far."""
    return sorted((runs[0].parent.parent / "asked.txt").read_text().split())


def test_runs_by_a_pool(runs: list[Path]) -> None:
    """q1 has x 3, y 0 and z 2, whoever retrieved them; q2 has x 3 and y 0.

    nDCG of a: q1 3 / (3 + 2/log2 3), q2 (3/log2 3) / 3. RR: 1 and 1/2. Recall of q1: x of x and z. The failure of b is
    in no mean of the scored. Of 4 ranked chunks of a and 2 of b all are judged; x is retrieved twice and judged once a
    question.
    """
    found = pooled(runs)
    assert (found["chunks"], found["asked"], found["unjudged"], found["textless"], found["differing"]) == (
        5,
        5,
        0,
        0,
        0,
    )
    assert asked(runs) == ["x", "x", "y", "y", "z"]
    a, b = found["runs"]
    assert (a["run"], a["judged"], a["ranked"], b["judged"], b["ranked"]) == ("a", 4, 4, 2, 2)
    ideal = 3 + 2 / log2(3)
    means = {name: one["mean"] for name, one in a["by_pool"].items()}
    assert means == {
        "nDCG@10": pytest.approx((3 / ideal + 1 / log2(3)) / 2),
        "P@5": pytest.approx((1 / 5 + 1 / 5) / 2),
        "Recall@20": pytest.approx((1 / 2 + 1) / 2),
        "RR": pytest.approx((1 + 1 / 2) / 2),
    }
    assert b["by_pool"]["nDCG@10"]["mean"] == pytest.approx((2 / log2(3)) / ideal)
    assert (b["by_pool"]["RR"]["mean"], b["by_pool"]["RR"]["failed"]) == (0.5, 1)
    assert (a["by_gold"]["RR"]["mean"], a["by_gold"]["RR"]["total"]) == (0.5, 1)


def test_agreement_and_the_corrected_mean(runs: list[Path]) -> None:
    """Gold calls x relevant and y not, as the judge does: both pairs of q2 agree.

    RR of a: gold and judge give 0.5 to q2, and the judge 1 to q1. One label shows no spread, so the judge isn't used:
    the corrected mean is that of the labels, 0.5, and has no interval.
    """
    found = pooled(runs)
    assert (found["agreement"]["value"], found["agreement"]["n"], found["kappa"]["value"]) == (1.0, 2, 1.0)
    estimate = found["runs"][0]["corrected"]["RR"]
    assert (estimate["value"], estimate["low"], estimate["lambda"]) == (0.5, None, 0.0)
    # The failure of b counts as 0.
    assert found["runs"][1]["corrected"]["RR"]["value"] == 0.0


def test_judged_once_for_all(runs: list[Path]) -> None:
    """A second time nobody is asked; a new run, and a chunk whose text changed, cost their chunks alone."""
    first = pooled(runs)
    again = pooled(runs)
    assert (again["asked"], len(asked(runs))) == (0, 5)
    assert again["runs"] == first["runs"]
    third = write_jsonl(runs[0].with_name("c.jsonl"), [ranked("c", "q1", X, ("w", "is 1"))])
    assert (pooled([*runs, third])["asked"], len(asked(runs))) == (1, 6)
    write_jsonl(runs[1], [ranked("b", "q1", Y, ("z", "is now 0"))])
    changed = pooled(runs)
    assert (changed["asked"], len(asked(runs))) == (1, 7)
    assert changed["runs"][1]["by_pool"]["nDCG@10"]["mean"] == 0.0  # y and z have 0


def test_a_pool_without_a_judgement_can_be_judged_again(runs: list[Path]) -> None:
    """A judge that fails on every prompt leaves no file, which couldn't be read: the same command then asks it anew."""
    folder = runs[0].parent.parent
    (folder / "grades.py").write_text("def judge(prompt, schema):\n    return {}\n")
    for _ in range(2):
        done = inside("judge", "pool", *runs, "-j", "grades:judge", cwd=folder, code=2)
        assert "every verdict failed" in done.err
        assert "no judgement is kept\n" in done.out
    (folder / "grades.py").write_text(JUDGE)
    assert pooled(runs)["asked"] == 5


def test_condensed_lists(runs: list[Path]) -> None:
    """Of each run the first chunk is pooled: b's z isn't judged, and its ranking of q1 is y alone, whose grade is 0."""
    found = pooled(runs, "--k", 1)
    a, b = found["runs"]
    assert (found["chunks"], b["judged"], b["ranked"]) == (3, 1, 2)  # of q1 x and y, of q2 y
    assert b["by_pool"]["RR"]["mean"] == 0.0
    assert a["judged"] == 3
    case = condensed(_case("u", "x", "v", "y"), {"y": 3, "x": 1}, graded=True)
    assert [chunk.id for chunk in case.chunks] == ["x", "y"]
    assert parse_measure("nDCG@10").score(case) == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))
    binary = condensed(_case("u", "x", "v", "y"), {"y": 3, "x": 1}, graded=False)
    assert parse_measure("RR").score(binary) == 0.5


def _case(*ids: str) -> Any:
    from graphkit.measures.case import Case

    return Case(question(), answer(retrieved=list(ids)))


def test_chunks_that_can_not_be_judged(runs: list[Path]) -> None:
    """A text that is too long by itself is never judged, and one that fits beside fewer is judged next; both are said.

    20 tokens are 60 characters: of x and y with 40 each one fits at a time; w has 99 and never does. v has no text, and
    y another one in b.
    """
    long = [("x", "x" * 39 + "3"), ("y", "y" * 39 + "0"), ("w", "w" * 98 + "3"), ("v", None)]
    write_jsonl(runs[0], [ranked("a", "q1", *long)])
    found = pooled(runs, "--context-tokens", 20)
    assert (found["chunks"], found["unjudged"], found["textless"], found["differing"]) == (4, 1, 1, 1)
    assert asked(runs) == ["x", "y", "z"]
    assert (found["runs"][0]["judged"], found["runs"][0]["ranked"]) == (2, 4)


def test_mistakes(runs: list[Path]) -> None:
    """Two runs of one name, no text, batches, and a judge that gives no verdict: each says what to do."""
    folder = runs[0].parent.parent

    def refused(*words: object, code: int = 2) -> str:
        return inside("judge", "pool", *words, "-j", "grades:judge", cwd=folder, code=code).err

    assert "two of the runs have the same name" in refused(runs[0], runs[0])
    assert "Leave --batch out" in refused(*runs, "--batch")
    bare = write_jsonl(runs[0].with_name("d.jsonl"), [ranked("d", "q1", ("x", None))])
    assert "no run retrieved a chunk with a text" in refused(bare)
    (folder / "grades.py").write_text("def judge(prompt, schema):\n    return {'chunks': []}\n")
    assert "every verdict failed" in refused(*runs)
    assert not (runs[0].parent / "pool.grades" / "grades-judge.relevance.jsonl").exists()


def test_in_words(runs: list[Path]) -> None:
    """The table names each run and measure, with what is judged and where it is kept."""
    folder = runs[0].parent.parent
    done = inside("judge", "pool", *runs, "-j", "grades:judge", cwd=folder, code=0)
    assert "a: 4 of 4 ranked chunks judged by grades:judge" in done.out
    assert "pool: 5 chunks with a text, the first 10 chunks of 2 runs" in done.out
    assert "of the pool, 5 judged now" in done.out
    assert "agreement with gold: 1.000" in done.out
    assert "grades-judge.relevance.jsonl" in done.out


def test_a_dataset_of_the_pool(runs: list[Path]) -> None:
    """Written as a dataset, chunks of 2 and 3 are relevant ids with these gains, and the other files are there.

    q1: x 3, z 2; q2: x 3. The ranking x, y of a on q1 gives 3 / (3 + 2/log2 3), as the pool does.
    """
    folder = runs[0].parent.parent
    (folder / "edges.jsonl").write_text('{"source": "x", "relation": "R", "target": "y"}\n')
    pooled(runs, "--out", "pool")
    written = [json.loads(line) for line in (folder / "pool" / "questions.jsonl").read_text().splitlines()]
    assert [one["relevant"] for one in written] == [{"x": 3.0, "z": 2.0}, {"x": 3.0}]
    assert (folder / "pool" / "edges.jsonl").read_text() == (folder / "edges.jsonl").read_text()
    words = ("evaluate", runs[0], "--dataset", "pool", "--no-store", "-m", "nDCG@10", "--json")
    found = inside(*words, cwd=folder, code=0).object()
    expected = (3 / (3 + 2 / log2(3)) + 1 / log2(3)) / 2
    assert found["measures"]["nDCG@10"]["mean"] == pytest.approx(expected)
    again = inside("judge", "pool", *runs, "-j", "grades:judge", "--out", "pool", cwd=folder, code=2)
    assert "the folder isn't empty" in again.err


def test_a_question_without_a_relevant_chunk_is_unscored(runs: list[Path]) -> None:
    """All chunks of q1 have grade 0: no measure scores it, nDCG neither, which has gains of 0 as no gains at all.

    q2 of a: x 3 at rank 2, so nDCG is 1/log2 3 and RR 1/2.
    """
    write_jsonl(runs[0], [ranked("a", "q1", Y, ("w", "is 0")), ranked("a", "q2", Y, X)])
    by_pool = pooled(runs[:1])["runs"][0]["by_pool"]
    assert {name: one["scored"] for name, one in by_pool.items()} == dict.fromkeys(by_pool, 1)
    assert by_pool["nDCG@10"]["mean"] == pytest.approx(1 / log2(3))
    assert by_pool["RR"]["mean"] == 0.5
    write_jsonl(runs[0].parent.parent / "questions.jsonl", [{"id": "q1", "question": "?"}])
    write_jsonl(runs[0], [ranked("a", "q1", X, Y)])
    corrected = pooled(runs[:1])["runs"][0]["corrected"]["RR"]
    assert corrected["reason"] == "no question has a value by the pool and by gold"


def test_stale_gold_is_nothing_to_agree_with(runs: list[Path]) -> None:
    """The knowledge graph has lost the gold edge of q2: neither its relevant ids nor its measures count."""
    folder = runs[0].parent.parent
    steps = [{"source": "x", "relation": "R", "target": "y"}]
    rows: list[dict[str, Any]] = [
        {"id": "q1", "question": "?"},
        {"id": "q2", "question": "?", "relevant": {"x": 1}, "gold_paths": [steps]},
    ]
    write_jsonl(folder / "questions.jsonl", rows)
    write_jsonl(folder / "edges.jsonl", steps)
    assert pooled(runs)["agreement"]["n"] == 2
    write_jsonl(folder / "edges.jsonl", [{"source": "y", "relation": "R", "target": "x"}])
    found = pooled(runs)
    assert (found["agreement"]["n"], found["runs"][0]["by_gold"]["RR"]["total"]) == (0, 0)


def test_a_dataset_of_the_pool_has_no_evidence_sets(runs: list[Path]) -> None:
    """Sets of relevant ids give way to the judged chunks, too: a's x is at rank 1 of q1, so RR with sets is 1.

    By the former set, y, it would be 1/2.
    """
    folder = runs[0].parent.parent
    rows: list[dict[str, Any]] = [{"id": "q1", "question": "?", "evidence_sets": [["y"]]}]
    write_jsonl(folder / "questions.jsonl", rows)
    write_jsonl(runs[0], [ranked("a", "q1", X, Y)])
    pooled(runs[:1], "--out", "pool")
    words = ("evaluate", runs[0], "--dataset", "pool", "--no-store", "-m", "RR(sets=True)", "--json")
    assert inside(*words, cwd=folder, code=0).object()["measures"]["RR(sets=True)"]["mean"] == 1.0


def test_a_slow_judge_shows_its_progress(
    runs: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines say how many of the two questions are done while the judge works, and Ctrl-C where replies are kept."""
    from graphkit.plugins.judging.commands.grade import judge_progress
    from graphkit.plugins.judging.grading.judge_setup import JudgeOptions

    monkeypatch.setattr("tests.helpers.terminals.awaited", ProgressLines(monkeypatch), raising=False)
    folder = runs[0].parent.parent
    waiting = "    from tests.helpers import terminals\n    terminals.awaited.await_more(1)\n    rows ="
    (folder / "grades.py").write_text(JUDGE.replace("    rows =", waiting))
    done = inside("judge", "pool", *runs, "-j", "grades:judge", cwd=folder, code=0)
    assert "judging the pool ... 0 of 2 answers" in done.err
    options = JudgeOptions(model="openai:gpt", cache=Path("kept.sqlite"))
    with pytest.raises(KeyboardInterrupt), judge_progress("judging", options):
        raise KeyboardInterrupt
    assert "the replies so far are kept in kept.sqlite" in capsys.readouterr().err


def test_two_pools_at_once_keep_both(runs: list[Path]) -> None:
    """A judgement that another pool keeps while this judge works is still there: w's, and those of x, y and z."""
    folder = runs[0].parent.parent
    pooled(runs[:1])
    file = runs[0].parent / "pool.grades" / "grades-judge.relevance.jsonl"
    other = json.loads(file.read_text().splitlines()[0]) | {"chunk": "w"}
    meanwhile = (
        f"    with open({str(file)!r}, 'a') as kept:\n        kept.write({json.dumps(other)!r} + '\\n')\n    rows ="
    )
    (folder / "grades.py").write_text(JUDGE.replace("    rows =", meanwhile))
    pooled(runs)
    kept = {json.loads(line)["chunk"] for line in file.read_text().splitlines()}
    assert kept == {"w", "x", "y", "z"}
    assert not (file.parent / ".lock").exists()


# Pools by the graph --------------------------------------------------------------------------------------------------


def edges(folder: Path, *pairs: tuple[str, str]) -> None:
    """Write a knowledge graph of one relation."""
    write_jsonl(folder / "edges.jsonl", [{"source": one, "relation": "R", "target": other} for one, other in pairs])


@pytest.fixture
def walked(runs: list[Path]) -> list[Path]:
    """The runs beside the graph x -> n, m -> n, y -> o: of n run b knows the text, by q2; of o and m none does."""
    edges(runs[0].parent.parent, ("x", "n"), ("m", "n"), ("y", "o"))
    write_jsonl(runs[1], [ranked("b", "q1", Y, Z), ranked("b", "q2", ("n", "is 2"))])
    return runs


def test_neighbours_are_pooled(walked: list[Path]) -> None:
    """What no run retrieved for q1 counts as relevant, too, so that recall isn't bounded by the runs.

    q1 has x 3, y 0, z 2, and by the graph n 2, from the text that q2 has of it: a, with x and y, has 1 of 2 relevant
    chunks by the runs alone, and 1 of 3 with n. Of q2, x, y and n are retrieved; neighbours of these are m and o.
    """
    alone = pooled(walked)
    assert (alone["hops"], alone["neighbours"], alone["chunks"]) == (0, 0, 6)
    assert alone["runs"][0]["by_pool"]["Recall@20"]["mean"] == pytest.approx((1 / 2 + 1 / 2) / 2)
    found = pooled(walked, "--neighbours", 1)
    # q1: n is pooled, o has no text; q2: m and o have none.
    assert (found["hops"], found["chunks"], found["neighbours"], found["beyond"], found["unknown"]) == (1, 7, 1, 0, 3)
    assert (found["asked"], found["in_graph"], found["questions"]) == (1, 2, 2)
    assert found["runs"][0]["by_pool"]["Recall@20"]["mean"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert pooled(walked)["runs"] == alone["runs"]  # what was kept of neighbours is in no pool without them


def test_texts_and_hops(walked: list[Path]) -> None:
    """A file gives the texts of what nobody retrieved, but of no retrieved chunk; two hops reach m from x."""
    folder = walked[0].parent.parent
    texts = write_jsonl(folder / "t.jsonl", [{"id": "m", "text": "is 3"}, {"id": "n", "text": "other 0"}])
    found = pooled(walked, "--neighbours", 2, "--texts", texts)
    # q1: n and m, without o; q2: m, without o.
    assert (found["hops"], found["neighbours"], found["unknown"]) == (2, 3, 2)
    assert found["runs"][0]["by_pool"]["Recall@20"]["mean"] == pytest.approx((1 / 4 + 1 / 3) / 2)
    assert pooled(walked, "--neighbours", 1, "--texts", texts)["neighbours"] == 2
    done = inside("judge", "pool", *walked, "-j", "grades:judge", "--neighbours", 1, cwd=folder, code=0)
    assert "pool: 7 chunks with a text, the first 10 chunks of 2 runs with their neighbours within 1 hop;" in done.out
    assert "1 of them as neighbours; 3 neighbours without a known text" in done.out


def test_neighbours_of_a_hub_are_limited(runs: list[Path]) -> None:
    """Of 25 neighbours with a text 20 are pooled, whatever the order of the edges, and 5 are said to be left out."""
    folder = runs[0].parent.parent
    names = [f"n{number}" for number in range(25)]
    texts = write_jsonl(folder / "t.jsonl", [{"id": name, "text": "is 0"} for name in names])
    write_jsonl(runs[0], [ranked("a", "q1", X)])
    chosen = []
    for order in (names, names[::-1]):
        edges(folder, *(("x", name) for name in order))
        found = pooled(runs[:1], "--neighbours", 1, "--texts", texts)
        assert (found["chunks"], found["neighbours"], found["beyond"]) == (21, 20, 5)
        chosen.append(set(asked(runs)))
    assert chosen[0] == chosen[1]


def test_neighbours_share_a_prompt() -> None:
    """If a pool needs several prompts, each holds chunks of one neighbourhood: pairs of which two fit into a prompt."""
    graph = Distances()
    for number in range(6):
        graph.add(f"a{number}", f"b{number}")
    texts = {f"{end}{number}": "123" for end in "ab" for number in range(6)}
    for seed in map(str, range(20)):
        order = [*beside(drawn(seed, texts), graph)]
        assert sorted(order) == sorted(texts)
        prompts = prompts_of(texts, order, context_tokens=2)
        assert [len({name[1:] for name in one}) for one in prompts] == [1] * 6


def test_where_there_is_no_graph(runs: list[Path]) -> None:
    """Without a graph there are no neighbours, and texts without neighbours have no use: both are refused."""
    folder = runs[0].parent.parent
    texts = write_jsonl(folder / "t.jsonl", [{"id": "m", "text": "is 3"}])
    for words, said in (
        (("--neighbours", 1), "the dataset has no knowledge graph"),
        (("--texts", texts), "--texts are those of neighbours"),
    ):
        done = inside("judge", "pool", *runs, "-j", "grades:judge", *words, cwd=folder, code=2)
        assert said in done.err
    assert not (folder / "asked.txt").exists()


# A part, a forecast, and qrels ---------------------------------------------------------------------------------------


def test_some_questions(runs: list[Path]) -> None:
    """A filter picks what is judged, measured and written, and stands beside the figures."""
    found = pooled(runs, "--where", "question == 'q1'", "--out", "part")
    folder = runs[0].parent.parent
    assert (found["chunks"], found["asked"], found["runs"][0]["ranked"]) == (3, 3, 2)
    assert (found["where"]["questions"], found["where"]["of"]) == (1, 2)
    assert found["runs"][0]["by_pool"]["RR"]["total"] == 1
    assert [json.loads(line)["id"] for line in (folder / "part" / "questions.jsonl").read_text().splitlines()] == ["q1"]
    words = ("judge", "pool", *runs, "-j", "grades:judge", "--where", "question == 'q1'")
    assert "over 1 of 2 questions" in inside(*words, cwd=folder, code=0).out


def _relevance(api: Api, body: dict[str, Any]) -> Sent:
    keys = re.findall(r"<(c\d+)-[0-9a-f]{16}>", last_text(body))
    rows = [{"chunk": key, "reason": "r", "relevance": 2} for key in dict.fromkeys(keys)]
    return completion(json.dumps({"chunks": rows}))


def test_dry_run(runs: list[Path]) -> None:
    """Every prompt is counted before anything is sent, also those of chunks that don't fit into the first.

    A prompt of 20 tokens holds 60 characters: q1 has three texts of 40, q2 two of 4. What was judged isn't asked for
    again: then a new chunk is one call.
    """
    folder = runs[0].parent.parent
    long = [(name, name * 40) for name in "xyz"]
    write_jsonl(runs[0], [ranked("a", "q1", *long), ranked("a", "q2", X, Y)])
    there = ("judge", "pool", runs[0], "--context-tokens", 20, "--no-cache", "--json")
    (folder / "prices.toml").write_text("[models.m]\nprompt = 1\noutput = 1\n")
    with served(_relevance) as api:
        model = ("--model", "vllm:m", "--base-url", f"{api.url}/v1")
        found = inside(*there, *model, "--dry-run", cwd=folder, code=0).object()
        assert (found["calls"], found["cost"], found["pool"]["chunks"], len(api.requests)) == (4, None, 5, 0)
        priced = inside(*there, *model, "--dry-run", "--prices", "prices.toml", cwd=folder, code=0).object()
        assert 0 < priced["cost"] < priced["most"]
        assert not (runs[0].parent / "pool.grades").exists()
        assert inside(*there, *model, cwd=folder, code=0).object()["asked"] == 5
        assert len(api.requests) == 4
        assert inside(*there, *model, "--dry-run", cwd=folder, code=0).object()["calls"] == 0
        write_jsonl(runs[0], [ranked("a", "q1", *long, ("w", "new")), ranked("a", "q2", X, Y)])
        assert inside(*there, *model, "--dry-run", cwd=folder, code=0).object()["calls"] == 1
    refused = inside("judge", "pool", *runs, "--dry-run", cwd=folder, code=2)
    assert "the judge 'lexical' asks none" in refused.err


def test_qrels(runs: list[Path]) -> None:
    """The judgements as TREC's qrels: trec_eval has the same nDCG by them, where every ranked chunk is judged.

    Lines are in the order of question and chunk, with grades of 0.
    """
    write_jsonl(runs[1], [ranked("b", "q1", Y, Z, ("w", "is 1")), ranked("b", "q2", Y, ("w", "is 2"))])
    folder = runs[0].parent.parent
    found = pooled(runs, "--out", "deep/pool.qrels")
    path = folder / "deep" / "pool.qrels"
    grades = {"q1": {"w": 1, "x": 3, "y": 0, "z": 2}, "q2": {"w": 2, "x": 3, "y": 0}}
    assert path.read_text().splitlines() == [
        f"{question} 0 {chunk} {grade}" for question, some in grades.items() for chunk, grade in some.items()
    ]
    with path.open() as stream:
        peer = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(stream), {"ndcg_cut_10", "recip_rank"})
    rankings = {"a": {"q1": "xy", "q2": "yx"}, "b": {"q1": "yzw", "q2": "yw"}}
    for run in found["runs"]:
        scores = {asked: {one: -rank for rank, one in enumerate(some)} for asked, some in rankings[run["run"]].items()}
        theirs = [one["ndcg_cut_10"] for one in peer.evaluate(scores).values()]
        assert run["by_pool"]["nDCG@10"]["mean"] == pytest.approx(sum(theirs) / 2, abs=1e-9)
    write_jsonl(folder / "deep" / "queries.jsonl", [{"_id": one, "text": "?"} for one in grades])
    read = {row["id"]: row["relevant"] for _, row in judged_questions(path, Problems())}
    assert read == {question: {one: grade for one, grade in some.items() if grade} for question, some in grades.items()}


def test_qrels_that_can_not_be_written(runs: list[Path]) -> None:
    """A file that is there stays as it is, and an id with a space fits into no line: both are said before judging."""
    folder = runs[0].parent.parent
    words = ("judge", "pool", *runs, "-j", "grades:judge", "--out", "pool.qrels")
    (folder / "pool.qrels").write_text("q1 0 x 1\n")
    assert "the file is already there" in inside(*words, cwd=folder, code=2).err
    assert (folder / "pool.qrels").read_text() == "q1 0 x 1\n"
    (folder / "pool.qrels").unlink()
    write_jsonl(runs[0], [ranked("a", "q1", ("my x", "is 3"))])
    assert "the id 'my x' holds white space" in inside(*words, cwd=folder, code=2).err
    assert not (folder / "asked.txt").exists()
