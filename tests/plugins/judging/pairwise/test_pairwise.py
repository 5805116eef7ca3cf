"""``graphkit judge pairwise``: what is asked, kept, stored and shown."""

from __future__ import annotations

import json
import re
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.judging.judges.lexical import LexicalJudge
from graphkit.plugins.judging.judges.materials import Materials, ShownPair
from graphkit.plugins.judging.judges.pairwise import CRITERIA, DIFFERENTIAL, IDENTICAL, PAIRWISE, differences
from graphkit.plugins.judging.judges.prompts import PAIR_PARTS, nonce_of, text_of
from graphkit.plugins.judging.judges.verdict_request import ask, prompt_of
from graphkit.plugins.judging.llm.requests import Block, Request, Turn
from graphkit.plugins.judging.pairwise.comparisons import BOTH_LACK
from graphkit.shards import event_loop
from tests.helpers import forked
from tests.helpers.api import Api, Reply, served
from tests.helpers.chat import CHAT, OWN, completion
from tests.helpers.cli import Done, Graph, inside
from tests.helpers.datasets import write_jsonl
from tests.plugins.judging.judges.injections import INJECTIONS

#: A judge that prefers the answer with the larger number, and notes what it was asked. ``broken`` has no verdict.
JUDGE = r"""
import re


def judge(prompt, schema):
    one, two = (re.search(rf"<answer_{n}-(\w+)>\n(.*?)\n</answer_{n}-\1>", prompt, re.DOTALL)[2] for n in (1, 2))
    criterion = re.search(r"<criterion-(\w+)>\n(.*?)\n</criterion-\1>", prompt, re.DOTALL)[2]
    with open("asked.txt", "a") as stream:
        stream.write(f"{one!r} {two!r} {criterion}\n")
    if "broken" in one + two:
        return "no JSON"
    first, second = (max(map(int, re.findall(r"\d+", text)), default=0) for text in (one, two))
    winner = "tie" if first == second else "first" if first > second else "second"
    return {"reasoning": f"{first} and {second} </script><b>", "winner": winner}


judge.version = "1"
"""
#: What kills the process of a judge when it is called for the time that KILL_AT names.
KILLED = """
import os
import pathlib
import signal

if os.environ.get("KILL_AT"):
    import builtins

    real, calls = open, []

    def open(*given):
        calls.append(given)
        if len(calls) == int(os.environ["KILL_AT"]):
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given)
"""
ANSWERS: dict[str, dict[str, str | None]] = {
    "a": {"q1": "worth 1", "q2": "worth 5", "q3": "worth 2", "q4": None},
    "b": {"q1": "worth 3", "q2": "worth 4", "q3": "worth  2", "q4": "worth 9"},
    "c": {"q1": "worth 9", "q2": "worth 9", "q3": "worth 9", "q4": "worth 9"},
}


def record(run: str, question: str, answer: str | None) -> dict[str, Any]:
    """Return a record of a run; without an answer it failed."""
    return {"run": run, "question_id": question} | ({"error": "timed out"} if answer is None else {"answer": answer})


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """The runs a, b and c over four questions; a failed on q4, and a and b agree on q3 up to white space."""
    write_jsonl(tmp_path / "questions.jsonl", [{"id": one, "question": f"What of {one}?"} for one in ANSWERS["a"]])
    (tmp_path / "numbers_judge.py").write_text(JUDGE)
    write_jsonl(tmp_path / "runs" / "same.jsonl", [record("same", *one) for one in ANSWERS["a"].items()])
    return [
        write_jsonl(tmp_path / "runs" / f"{run}.jsonl", [record(run, *one) for one in some.items()])
        for run, some in ANSWERS.items()
    ]


def compare(runs: list[Path], *options: object, code: int = 0, **more: Any) -> Done:
    """Have the judge by numbers compare runs, without a database unless one is named."""
    store = () if "env" in more else ("--no-store",)
    words = ("judge", "pairwise", *runs, "-j", "numbers_judge:judge", *options, *store)
    return inside(*words, code=code, **({"cwd": runs[0].parent.parent} if runs else {}) | more)


def asked(runs: list[Path]) -> list[str]:
    """Return what the judge was asked so far."""
    return (runs[0].parent.parent / "asked.txt").read_text().splitlines()


def test_both_orders(runs: list[Path]) -> None:
    """b wins q1, loses q2, q3 is the same, and a has no answer to q4: (1 + 0 + 0.5 + 1)/4.

    The judge is asked about q1 and q2 in both orders by each criterion, and of nothing else.
    """
    found = compare(runs[:2], "-c", "directness", "-c", "diversity", "--json").object()
    assert [one["win_rate"]["value"] for one in found["win_rates"]] == [0.625, 0.625]
    [directness, _] = found["win_rates"]
    assert (directness["won"], directness["drawn"], directness["lost"], directness["unanswered"]) == (2, 1, 1, 1)
    assert directness["verdict"]["winner"] is None
    assert found["bias"]["position"]["value"] == 0.0
    said = asked(runs)
    assert len(said) == found["asked"] == 8
    assert said.count(f"'worth 1' 'worth 3' {CRITERIA['directness']}") == 1
    assert said.count(f"'worth 3' 'worth 1' {CRITERIA['directness']}") == 1
    assert found["warnings"] == []
    same = compare([runs[0], runs[0].with_name("same.jsonl")], "-c", "directness")
    assert "position bias: – (the judge was asked about no question)" in same.out
    assert "grading: 0 verdicts for 0.0000\n" in same.out


def test_a_blank_answer_is_none(runs: list[Path]) -> None:
    """A run whose answers are white space loses q1 to q3 to a, which failed on q4: there neither has an answer."""
    blank = write_jsonl(runs[0].with_name("d.jsonl"), [record("d", one, " \n") for one in ANSWERS["a"]])
    [found] = compare([runs[0], blank], "-c", "directness", "--json").object()["win_rates"]
    assert (found["won"], found["lost"], found["unanswered"], found["without"]) == (0, 3, 3, {BOTH_LACK: 1})
    assert not (runs[0].parent.parent / "asked.txt").exists()


def test_kept_comparisons_are_not_asked_for_again(runs: list[Path]) -> None:
    """The same command asks nobody; another run, criterion or text costs its own comparisons alone."""
    first = compare(runs[:2], "-c", "directness", "--json").object()
    again = compare(runs[1::-1], "-c", "directness", "--json").object()  # the runs the other way round
    assert (first["asked"], again["asked"]) == (4, 0)
    assert again["win_rates"][0]["win_rate"]["value"] == 1 - 0.625
    # c with a on q1 to q3, with b on q1 to q3 (q4 is the same), each in both orders.
    assert compare(runs, "-c", "directness", "--json").object()["asked"] == 12
    write_jsonl(runs[1], [record("b", one, "worth 7" if one == "q1" else said) for one, said in ANSWERS["b"].items()])
    changed = compare(runs[:2], "-c", "directness", "--json").object()
    assert changed["asked"] == 2
    kept = [json.loads(line) for line in Path(runs[0].parent.parent / changed["file"]).read_text().splitlines()]
    assert len({(one["question"], one["first"], one["second"]) for one in kept}) == len(kept)


def test_a_dataset_stands_for_its_runs(runs: list[Path]) -> None:
    """Its runs are compared two by two, as by name, the first of them with each other one."""
    named = compare(sorted((runs[0].parent).glob("*.jsonl")), "-c", "directness", "--json").object()
    whole = compare(runs[:0], runs[0].parent.parent, "-c", "directness", "--json", cwd=runs[0].parent.parent).object()
    assert whole["runs"] == named["runs"] == ["a", "b", "c", "same"]
    assert (whole["win_rates"], whole["asked"]) == (named["win_rates"], 0)


def test_failures_and_gates(runs: list[Path]) -> None:
    """A verdict that can't be read is no value, is named, and counts as lost at a gate; every one fails the command.

    b wins q1, q2 has no verdict, q3 is a tie, q4 is won without a judge: (1 + 0 + 0.5 + 1)/4.
    """
    broken = {**ANSWERS["b"], "q2": "broken"}
    write_jsonl(runs[1], [record("b", *one) for one in broken.items()])
    options = ("-c", "directness", "--fail-under", "win_rate=0.7")
    done = compare(runs[:2], *options, "--json", code=1)
    found = done.object()
    assert found["win_rates"][0]["without"] == {"the judge gave no verdict in one of the orders": 1}
    assert found["failures"] == {"unreadable": 2}
    [gate] = found["gates"]
    assert (gate["passed"], gate["value"], gate["measure"]) == (False, 0.625, "win rate by directness")
    assert "no verdict on q2 by directness, a first: unreadable" in done.err
    assert compare(runs[:2], "-c", "directness", "--fail-under", "directness=0.6").code == 0
    for same in ({}, {"q3": "worth 2"}):  # a tie of the same answer is nothing that a judge said
        write_jsonl(runs[1], [record("b", one, same.get(one, f"broken {one}")) for one in broken])
        assert "every verdict failed" in compare(runs[:2], "-c", "directness", code=2).err


def test_own_criteria_trials_and_differences(runs: list[Path]) -> None:
    """A criterion of the user's is asked by its words, each order three times; and what differs is shown alone."""
    folder = runs[0].parent.parent
    (folder / "own.toml").write_text('cites = "Does it name its sources?"\n')
    found = compare(runs[:2], "--criteria", "own.toml", "--trials", 3, "--json").object()
    assert (found["criteria"], found["trials"], found["asked"]) == ({"cites": "Does it name its sources?"}, 3, 12)
    assert asked(runs)[0].endswith("Does it name its sources?")
    longer = {"q1": "The cache is in redis. It is worth 3.", "q2": "worth 4", "q3": "worth 2", "q4": "worth 9"}
    write_jsonl(runs[1], [record("b", *one) for one in longer.items()])
    write_jsonl(runs[0], [record("a", "q1", "The cache is in redis. It holds users.")])
    compare(runs[:2], "-c", "directness", "--differential")
    assert f"'It holds users.' 'It is worth 3.' {CRITERIA['directness']}" in asked(runs)


def test_mistakes(runs: list[Path]) -> None:
    """Each says what is wrong and what to do; nothing is asked."""
    folder = runs[0].parent.parent
    assert "one run can't be compared" in compare(runs[:1], code=2).err
    assert "two of the runs have the same name" in compare([runs[0], runs[0]], code=2).err
    assert "Did you mean diversity" in compare(runs, "-c", "diversty", code=2).err
    assert "neither win_rate nor a criterion" in compare(runs, "--fail-under", "cites=0.5", code=2).err
    assert "a win rate lies between 0 and 1" in compare(runs, "--fail-under", "win_rate=50", code=2).err
    assert "Leave --batch out" in compare(runs, "--batch", code=2).err
    assert "asks none" in compare(runs, "--dry-run", code=2).err
    stale = [{"id": one, "question": "What?", "stale": "moved"} for one in ANSWERS["a"]]
    write_jsonl(folder / "stale" / "questions.jsonl", stale)
    unasked = compare(runs, "--dataset", "stale", "--fail-under", "win_rate=0.5", code=2).err
    assert "there is nothing to compare: the gold of each question is stale (4)" in unasked
    for text, what in (
        ('directness = "x"', "is a built-in criterion"),
        ("cites = 3", "has no text"),
        ("", "holds no criterion"),
        ('win_rate = "x"', "names the win rates by all criteria"),
        ("=", "not valid TOML"),
    ):
        (folder / "own.toml").write_text(text)
        assert what in compare(runs, "--criteria", "own.toml", code=2).err
    bare = write_jsonl(runs[0].with_name("d.jsonl"), [{"run": "d", "question_id": "q1"}])
    assert "d has no answer to compare" in compare([runs[0], bare], code=2).err
    assert not (folder / "asked.txt").exists()


def by_number(_: Api, body: dict[str, Any]) -> Reply:
    """Reply as the judge by numbers does."""
    text = "\n".join(str(turn["content"]) for turn in body["messages"])
    one, two = (int(re.findall(rf"<answer_{n}-\w+>\n\D*(\d+)", text)[0]) for n in (1, 2))
    return completion(json.dumps({"reasoning": "r", "winner": "first" if one > two else "second"}), 100, 20)


def test_by_a_model(runs: list[Path]) -> None:
    """A model is asked once for each comparison, at a cost that --dry-run counts and --max-cost limits.

    Of two trials the first is at temperature 0 on a server of one's own, and the second is sampled.
    """
    folder = runs[0].parent.parent
    words = ("judge", "pairwise", *runs[:2], "-c", "directness", "--no-store", "--json")
    with served(by_number) as api:
        options = (*words, *OWN.judge(api), "--trials", 2)
        expected = inside(*options, "--dry-run", cwd=folder, env=OWN.env(api), code=0).object()
        assert (expected["calls"], api.requests) == (8, [])
        found = inside(*options, cwd=folder, env=OWN.env(api), code=0).object()
        assert [one.get("temperature") for one in api.requests].count(0) == 4
        assert len(api.requests) == found["asked"] == 8
        # The file of comparisons is lost: the replies are kept, too.
        Path(folder / found["file"]).unlink()
        again = inside(*options, cwd=folder, env=OWN.env(api), code=0).object()
        assert (len(api.requests), again["win_rates"]) == (8, found["win_rates"])
    (folder / "prices.toml").write_text('currency = "USD"\n[models.m]\nprompt = 1.0\noutput = 2.0\n')
    with served(by_number) as api:
        options = (*words, *CHAT.judge(api), "--prices", "prices.toml", "--max-cost", 0.0000001)
        done = inside(*options, cwd=folder, env=CHAT.env(api), code=1)
        assert "stopped at --max-cost" in done.err
        assert api.requests == []


@pytest.mark.slow("a comparison is killed")
def test_killed_between_verdicts(runs: list[Path]) -> None:
    """After a kill at its third reply the same command asks for what has no reply yet, and none is lost.

    Of q1 and q2 in both orders there are 4 comparisons, one at a time. The two replies before the kill were kept.
    """
    folder, killed = runs[0].parent.parent, threading.Event()
    words = ("judge", "pairwise", *runs[:2], "-c", "directness", "--no-store", "--json", "--concurrency", 1)

    def held(api: Api, body: dict[str, Any]) -> Reply:
        """Reply twice, then not before the kill."""
        if len(api.requests) == 3:
            process.kill()
            killed.set()
        return by_number(api, body)

    with served(held) as api:
        process = forked.command(*words, *OWN.judge(api), cwd=folder, env=OWN.env(api))
        assert process.wait() == -signal.SIGKILL
        assert killed.is_set()
        assert not [*folder.rglob("*.comparisons.jsonl")]
        found = inside(*words, *OWN.judge(api), cwd=folder, env=OWN.env(api), code=0).object()
        assert len(api.requests) == 3 + 2
    [rate] = found["win_rates"]
    assert (rate["win_rate"]["value"], rate["without"]) == (0.625, {})
    assert not [one for one in folder.rglob("*") if "lock" in one.name or one.suffix == ".tmp"]


@pytest.mark.slow("a comparison is killed")
def test_a_function_killed_between_verdicts(runs: list[Path]) -> None:
    """After a kill at its third call a judge that is a function is asked for what it hadn't said, and none is lost.

    Of q1 and q2 in both orders there are 4 comparisons, one at a time: 3 calls before the kill, of which 2 ended, and 2
    after it. What they said is forgotten with the end; the comparisons are kept.
    """
    folder = runs[0].parent.parent
    (folder / "numbers_judge.py").write_text(KILLED + JUDGE)
    words = ("judge", "pairwise", *runs[:2], "-c", "directness", "-j", "numbers_judge:judge", "--concurrency", 1)
    process = forked.command(*words, "--no-store", cwd=folder, env={"KILL_AT": "3"})
    assert process.wait() == -signal.SIGKILL
    assert len(asked(runs)) == 2
    found = compare(runs[:2], "-c", "directness", "--json").object()
    assert len(asked(runs)) == len({*asked(runs)}) == 4
    [rate] = found["win_rates"]
    assert (rate["win_rate"]["value"], rate["without"]) == (0.625, {})
    assert [one.name for one in (runs[0].parent / "pairwise.grades").iterdir()] == [Path(found["file"]).name]


def test_in_the_graph(runs: list[Path], any_graph: Graph) -> None:
    """Answers are linked by what the verdicts are worth; a query names those whose orders disagree; twice is once."""
    folder, env = runs[0].parent.parent, any_graph.env
    (folder / "numbers_judge.py").write_text(
        JUDGE.replace('winner = "tie"', 'winner = "first" if "worth 5" in one + two else "tie"')
    )
    for _ in range(2):
        compare(runs[:2], "-c", "directness", env=env)
        rows = any_graph.store.read(
            "MATCH (a:Answer)-[c:COMPARED]->(b:Answer) RETURN a.question AS question, a.run AS one, b.run AS two, "
            "c.value AS value, c.ahead AS ahead, c.behind AS behind, c.judge AS judge ORDER BY question"
        )
        assert [tuple(row.values()) for row in rows] == [
            ("q1", "a", "b", 1.0, 1.0, 1.0, "numbers_judge:judge"),
            ("q2", "a", "b", 0.5, 1.0, 0.0, "numbers_judge:judge"),
            ("q3", "a", "b", 0.5, 0.5, 0.5, "numbers_judge:judge"),
            ("q4", "a", "b", 1.0, None, None, "numbers_judge:judge"),
        ]
    for run, other in (("a", "b"), ("b", "a")):
        done = inside("query", "orders-disagree", "-p", f"run={run}", "--json", cwd=folder, env=env, code=0)
        [row] = done.objects()
        about = row["question"], row["other"], row["criterion"], row["shown_first"], row["shown_second"]
        assert about == ("q2", other, "directness", 1.0, 0.0)


def test_on_the_page(runs: list[Path]) -> None:
    """The page shows win rates and both answers with what the judge said, escaped; outdated ones aren't counted."""
    folder = runs[0].parent.parent
    compare(runs[:2], "-c", "directness")
    page = folder / "page.html"
    options = ("report", *runs[:2], "--out", page)
    inside(*options, cwd=folder, code=0)
    text = page.read_text()
    assert "Head to head" in text
    section = text.partition("Head to head")[2]
    assert "don&#39;t clearly differ: win rate by directness" in section
    assert "1 and 3 &lt;/script&gt;&lt;b&gt;" in section
    assert "worth 5" in section
    assert "</script><b>" not in section.partition("</section>")[0]
    write_jsonl(runs[1], [record("b", one, "worth 8") for one in ANSWERS["b"]])
    inside(*options, cwd=folder, code=0)
    assert "8 comparisons of answers that have changed since aren&#39;t counted" in page.read_text().replace(
        "'", "&#39;"
    )
    assert "Head to head" not in _without_comparisons(runs, page)


def _without_comparisons(runs: list[Path], page: Path) -> str:
    for file in (runs[0].parent / "pairwise.grades").glob("*.jsonl"):
        file.unlink()
    inside("report", *runs[:2], "--out", page, cwd=page.parent, code=0)
    return page.read_text()


def pair(first: str, second: str, criterion: str = "relevance", **more: Any) -> Materials:
    """Return the materials of two answers."""
    shown = ShownPair(first, second, criterion, CRITERIA.get(criterion, "names its sources"))
    return Materials(run="r", question_id="q", question="Who reads customers?", answer="", pair=shown, **more)


@pytest.mark.parametrize("name", INJECTIONS)
def test_structure_of_the_request(name: str) -> None:
    """An answer closes nothing and stands to the character between its tags; nothing of it is among our words."""
    for nonce in (nonce_of(pair("x", "y")), "0123456789abcdef"):
        text = INJECTIONS[name].replace("NONCE", nonce)
        for given in (pair(f"a {text}", "b"), pair("a", f"b {text}")):
            assert given.pair is not None
            for grader in (PAIRWISE, DIFFERENTIAL):
                prompt = prompt_of(grader, given)
                own = nonce_of(given)
                assert own not in (given.pair.first + given.pair.second).casefold()
                assert [part for part, _ in prompt.parts] == list(PAIR_PARTS)
                for (part, shown), inner in zip(
                    prompt.parts, (given.question, given.pair.first, given.pair.second, given.pair.text), strict=True
                ):
                    assert shown == f"<{part}-{own}>\n{inner}\n</{part}-{own}>"
                assert (prompt.system, prompt.instruction) == (text_of("pairwise_system"), text_of(grader.name))


def lexical(first: str, second: str, criterion: str) -> str | None:
    """Return the winner by rules."""
    return event_loop.run(ask(PAIRWISE, pair(first, second, criterion), LexicalJudge())).findings[0].grade


def test_rules() -> None:
    """Words are counted: more of them, more names, more reasons, denser in those of the question, or of a criterion."""
    few, many = "`login` reads customers.", "`login` calls `find_customer`, since it reads the table customers [db.py]."
    assert [lexical(few, many, name) for name in CRITERIA] == ["second", "second", "second", "first", "tie"]
    assert lexical("it names sources", "it doesn't", "own") == "first"
    assert lexical(few, few, "diversity") == "tie"


def test_the_same_answer_needs_no_judge() -> None:
    """It is a tie, up to white space."""
    judged = event_loop.run(ask(PAIRWISE, pair("one  answer", "one answer"), LexicalJudge()))
    assert judged.verdict is not None
    assert (judged.findings[0].value, judged.verdict.attempts, judged.verdict.explanation) == (0.5, 0, IDENTICAL)


def test_differences() -> None:
    """A sentence is shared if the other answer has its names and four fifths of its words in one sentence."""
    one = "The cart calls `login`. Orders are kept for thirty days in the table orders."
    two = "Orders are kept for thirty days in a table orders. The cart calls `logout`."
    assert differences(one, two) == ("The cart calls `login`.", "The cart calls `logout`.")
    assert differences(one, one) == ("", "")
    assert differences("", "x") == ("", "x")


def test_trials_have_requests_of_their_own() -> None:
    """The first trial is the request that was asked before there were trials; another has another digest."""
    plain = Request("m", (), (Turn("user", (Block("x"),)),))
    again = Request("m", (), (Turn("user", (Block("x"),)),), trial=2)
    assert "trial" not in plain.as_json()
    assert plain.digest != again.digest
    assert Request.from_json(again.as_json()).digest == again.digest
