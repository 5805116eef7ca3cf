"""``graphkit grade --judge anthropic`` with the real client, against a local server in the place of the API."""

from __future__ import annotations

import json
import math
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.judging.grading.judge_setup import JUDGE_MODEL
from graphkit.plugins.judging.llm.cache import ReplyCache
from graphkit.plugins.judging.llm.requests import Request
from tests.helpers import forked
from tests.helpers.api import Api, BatchApi, Reply, Response, in_turn, message, refusal, served
from tests.helpers.cli import Done, Graph, inside, write_lines
from tests.helpers.forked import Forked
from tests.helpers.grading import (
    GIVEN,
    RIGHT,
    WRONG,
    asks,
    judging,
    many,
    scores_beside,
    shown,
    to_grade,
    verdict_on,
    verdicts_beside,
)
from tests.helpers.suites import one_fast

#: Of a million tokens: a reply to 100 tokens with 20 costs 100 * 10 / 1e6 + 20 * 100 / 1e6 = 0.003.
PRICES = "[models.m]\nprompt = 10\noutput = 100\nbatch = 0.5\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two answers, one record that failed, and a question without a record; prices stand beside it."""
    (tmp_path / "prices.toml").write_text(PRICES)
    return to_grade(tmp_path)


def grade(run: Path, api: Api | None, *options: object, code: int = 0) -> Done:
    """Have a server's model grade a run by the rubric, with a file of replies in the folder of the dataset."""
    folder = run.parents[2]
    known = [
        "-j",
        "anthropic",
        *([] if "--model" in options else ["--model", "m"]),
        "--prices",
        "prices.toml",
        "--no-store",
    ]
    graders = [] if "-g" in options else ["-g", "rubric"]
    return inside("grade", run, *known, *graders, *options, cwd=folder, env=api.env if api else None, code=code)


def no_messages(api: Api, body: dict[str, Any]) -> Reply:
    """Refuse what isn't a batch."""
    return refusal(400, "invalid_request_error", "only batches")


# Asked once --------------------------------------------------------------------------------------------------------


def test_answers_are_asked_about_once(run: Path) -> None:
    """Each of two answers is one request; graded again, nothing is sent, and the verdicts were paid for earlier."""
    with served(judging({"users": WRONG})) as api:
        found = grade(run, api, "--json").object()
        assert len(asks(api)) == 2
        assert all(one["model"] == "m" for one in asks(api))
        again = grade(run, api, "--json").object()
        assert len(asks(api)) == 2
    assert found["measures"]["RubricGrade"]["mean"] == 0.5
    # Two verdicts of 0.003, beside two answers of 0.01.
    assert found["cost"]["cost"] == pytest.approx(0.006)
    assert found["cost"]["share"] == pytest.approx(0.3)
    assert (found["cost"]["cached"], found["cost"]["spent"]) == (0, pytest.approx(0.006))
    assert (again["cost"]["cached"], again["cost"]["spent"], again["cost"]["cost"]) == (2, 0.0, pytest.approx(0.006))
    verdict = verdicts_beside(run, "anthropic", "m")["q2", "rubric"]
    assert (verdict.grade, verdict.label, verdict.confidence) == ("wrong", "hallucination", 0.7)
    assert (verdict.prompt_tokens, verdict.output_tokens, verdict.stop_reason) == (100, 20, "end_turn")
    score = scores_beside(run, "anthropic", "m")["q2", "RubricGrade"]
    assert (score.value, score.label) == (0.0, "hallucination")
    assert score.cost == pytest.approx(0.003)
    assert str(score.version).startswith("m prompt ")


def test_graders_share_the_data(run: Path) -> None:
    """Two graders of one answer send the same blocks up to the breakpoint, and differ in what comes last."""
    with served(lambda _, body: message(verdict_on(body))) as api:
        grade(run, api, "-g", "rubric", "-g", "claims", "--concurrency", 1)
        sent = [one["messages"][0]["content"] for one in asks(api)]
    first, second = sent[0], sent[1]
    assert first[:-1] == second[:-1]
    assert first[-2]["cache_control"] == {"type": "ephemeral"}
    assert first[-1]["text"] != second[-1]["text"]


def test_another_grader_is_reported_by_itself(run: Path) -> None:
    """Grades of another grader stay in the files, and are neither shown nor counted as spent again."""
    scale = json.dumps({"reasoning": "So.", "score": 7})
    with served(judging({"score": scale})) as api:
        grade(run, api)
        found = grade(run, api, "-g", "scale", "--json").object()
    assert list(found["measures"]) == ["ScaleGrade"]
    assert (found["verdicts"], found["cost"]["spent"]) == (2, pytest.approx(0.006))
    assert {grader for _, grader in verdicts_beside(run, "anthropic", "m")} == {"rubric", "scale"}


def test_no_cache(run: Path, tmp_path: Path) -> None:
    """With --no-cache each grading asks anew, and no file is made."""
    with served(judging({})) as api:
        for _ in range(2):
            grade(run, api, "--no-cache")
        assert len(asks(api)) == 4
    assert not (tmp_path / ".graphkit").exists()


def test_file_of_replies(run: Path, tmp_path: Path) -> None:
    """--cache names the file; what another file holds isn't known there."""
    with served(judging({})) as api:
        for name in ("a", "a", "b"):
            grade(run, api, "--cache", name)
        assert len(asks(api)) == 4
    with ReplyCache(tmp_path / "a") as replies:
        assert (replies.stats().entries, replies.stats().hits, replies.stats().misses) == (2, 2, 0)


def test_no_key(run: Path) -> None:
    """Without a key the message says what to set, and that all else works without."""
    done = grade(run, None, code=2)
    assert "Set ANTHROPIC_API_KEY" in done.err
    assert "works without" in done.err
    assert not run.with_name("r.grades").exists()


def test_wrong_key(run: Path) -> None:
    """A key that the server refuses ends the grading at once, and leaves no file."""
    with served(in_turn(refusal(401, "authentication_error", "invalid x-api-key"))) as api:
        done = grade(run, api, code=2)
    assert "invalid x-api-key" in done.err
    assert not run.with_name("r.grades").exists()


# Replay ------------------------------------------------------------------------------------------------------------


def test_replay(run: Path) -> None:
    """Recorded verdicts are served without a key or a network, failures as they were, and give the same scores."""
    with served(judging({"users": "nonsense"})) as api:
        grade(run, api)
    before = scores_beside(run, "anthropic", "m")
    assert before["q2", "RubricGrade"].value is None
    grade(run, None, "--replay")
    assert {name: score.value for name, score in scores_beside(run, "anthropic", "m").items()} == {
        name: score.value for name, score in before.items()
    }
    assert verdicts_beside(run, "anthropic", "m")["q2", "rubric"].failure == "unreadable"


def test_replay_of_what_is_not_recorded(run: Path) -> None:
    """A changed answer has no recorded verdict: the nearest is shown with the different line, and nothing is kept."""
    with served(judging({})) as api:
        grade(run, api)
    before = run.with_name("r.grades").joinpath("anthropic.m.scores.jsonl").read_bytes()
    write_lines(run, [{**GIVEN[0], "answer": "Orders calls Mail [orders/api.py]."}, *GIVEN[1:]])
    done = grade(run, None, "--replay", code=2)
    assert "there is no recorded reply" in done.err
    assert "Orders calls Billing [orders/api.py]" in done.err
    assert "Orders calls Mail [orders/api.py]" in done.err
    assert run.with_name("r.grades").joinpath("anthropic.m.scores.jsonl").read_bytes() == before


# Failures ----------------------------------------------------------------------------------------------------------

OUT_OF_RANGE = json.dumps({"reasoning": "So.", "grade": "wrong", "failure": None, "confidence": 2})


@one_fast(
    ("reply", "label", "words", "asked"),
    [
        (message("I like it."), "unreadable", "invalid JSON", 2),
        (message(RIGHT.replace("fully_correct", "great")), "unreadable", "grade", 2),
        (message(RIGHT[:30], stop_reason="max_tokens"), "truncated", "", 2),
        (message("", stop_reason="refusal"), "refused", "refused", 2),
        (message(OUT_OF_RANGE), "out_of_range", "confidence", 2),
        (refusal(400, "invalid_request_error", "too long"), "no_reply", "too long", 1),
    ],
    "a server and two gradings for each failure",
    0,
    3,
)
def test_failures(reply: Reply, label: str, words: str, asked: int, run: Path) -> None:
    """An unusable verdict is asked for once more and then kept as a failure with its reason, never as a score.

    It isn't served again: once the model says what can be used, that is asked for and counts.
    """
    with served(judging({"users": reply})) as api:
        done = grade(run, api)
        assert f"no verdict on q2 by rubric: {label}" in done.err
        assert len(asks(api)) == 1 + asked
    verdict, score = (
        verdicts_beside(run, "anthropic", "m")["q2", "rubric"],
        scores_beside(run, "anthropic", "m")["q2", "RubricGrade"],
    )
    assert (verdict.failure, verdict.attempts) == (label, asked)
    assert words in str(verdict.reason)
    assert (score.value, score.reason) == (None, f"{label}: {verdict.reason}")
    assert scores_beside(run, "anthropic", "m")["q1", "RubricGrade"].value == 1.0
    with served(judging({})) as api:
        grade(run, api)
        assert len(asks(api)) == 1
        assert "users" in shown(asks(api)[0])
    assert scores_beside(run, "anthropic", "m")["q2", "RubricGrade"].value == 1.0
    assert verdicts_beside(run, "anthropic", "m")["q2", "rubric"].failure is None


def test_second_try_counts(run: Path) -> None:
    """ImportReport why its verdict can't be used, the model gives another: it counts, and both were paid, once.

    A truncated one is asked for anew with twice the room.
    """

    def script(api: Api, body: dict[str, Any]) -> Reply:
        if len(body["messages"]) > 1 or body["max_tokens"] > 4096:
            return message(RIGHT, 100, 20)
        return message("no", 100, 20) if "users" in shown(body) else message("{", 100, 20, stop_reason="max_tokens")

    with served(script) as api:
        for _ in range(2):
            grade(run, api, "--concurrency", 1)
        assert len(asks(api)) == 4
        assert [one["max_tokens"] for one in asks(api)] == [4096, 8192, 4096, 4096]
    verdict = verdicts_beside(run, "anthropic", "m")["q2", "rubric"]
    assert (verdict.failure, verdict.attempts) == (None, 2)
    assert verdict.cost == pytest.approx(0.006)


def test_second_try_that_got_no_reply(run: Path) -> None:
    """If the repetition got no reply, the next grading asks for that alone: the first reply is kept and paid."""

    def script(api: Api, body: dict[str, Any]) -> Reply:
        if len(body["messages"]) > 1:
            return refusal(400, "invalid_request_error", "not now")
        return message("no" if "users" in shown(body) else RIGHT)

    with served(script) as api:
        grade(run, api)
    assert verdicts_beside(run, "anthropic", "m")["q2", "rubric"].failure == "no_reply"
    with served(judging({})) as api:
        grade(run, api)
        assert [len(one["messages"]) for one in asks(api)] == [3]
    verdict = verdicts_beside(run, "anthropic", "m")["q2", "rubric"]
    assert (verdict.grade, verdict.failure) == ("fully_correct", None)


# What it costs -----------------------------------------------------------------------------------------------------


def test_dry_run(run: Path, tmp_path: Path) -> None:
    """Nothing is sent, without a key either; calls, tokens and cost are those of what would be, by hand.

    A prompt has a third of its bytes as tokens and 600 for the schema, a verdict about 700; a batch costs the half.
    """
    found = grade(run, None, "--dry-run", "--json").object()
    half = grade(run, None, "--dry-run", "--batch", "--json").object()
    assert not (tmp_path / ".graphkit").exists()
    assert not run.with_name("r.grades").exists()
    with served(judging({})) as api:
        grade(run, api, "--dry-run")
        assert api.requests == []
        grade(run, api)
        sent = len(api.requests)
        done = grade(run, api, "-g", "rubric", "-g", "scale", "--dry-run")
        assert len(api.requests) == sent
    with ReplyCache(tmp_path / ".graphkit" / "replies.sqlite") as replies:
        requests = [Request.from_json(json.loads(text)) for (text,) in replies.rows("SELECT request FROM replies")]
    sizes = []
    for request in requests:
        blocks = [*request.system, *(block for turn in request.turns for block in turn.blocks)]
        schema = json.dumps(request.schema, ensure_ascii=False)
        sizes.append(sum(len(block.text.encode()) for block in blocks) + len(schema.encode()))
    tokens = sum(math.ceil(size / 3) + 600 for size in sizes)
    assert (found["calls"], found["kept"], found["prompt_tokens"]) == (2, 0, tokens)
    assert found["cost"] == pytest.approx((tokens * 10 + 2 * 700 * 100) / 1e6)
    assert found["most"] == pytest.approx(((sum(sizes) + 2 * 600) * 10 + 2 * 4096 * 100) / 1e6)
    assert (half["cost"], half["most"]) == (pytest.approx(found["cost"] / 2), pytest.approx(found["most"] / 2))
    assert "2 calls (2 more are answered by kept replies)" in done.out


def test_dry_run_without_a_price(run: Path) -> None:
    """The cost of a model without a price isn't guessed."""
    done = grade(run, None, "--dry-run", "--model", "another")
    assert "their cost is unknown" in done.out


def test_dry_run_of_one_call(tmp_path: Path) -> None:
    """One call is reported as one."""
    (tmp_path / "prices.toml").write_text(PRICES)
    done = grade(many(tmp_path, 1), None, "-g", "rubric", "--dry-run")
    assert done.out.startswith("1 call, about ")


def test_budget(run: Path) -> None:
    """A verdict that could pass the limit isn't asked for: what is done is kept, the command ends with 1, and goes on.

    A verdict can cost 4096 * 100 / 1e6 = 0.41 and its prompt; the first costs 0.001 + 0.4. With 0.6 there is no second.
    """
    with served(in_turn(message(RIGHT, 100, 4000))) as api:
        done = grade(run, api, "--max-cost", 0.6, "--concurrency", 1, code=1)
        assert len(asks(api)) == 1
        assert "over_budget" in done.err
        assert "stopped at --max-cost 0.6: 1 verdict not asked for" in done.err
        scores = scores_beside(run, "anthropic", "m")
        assert scores["q1", "RubricGrade"].value == 1.0
        assert str(scores["q2", "RubricGrade"].reason).startswith("over_budget: not sent")
        # What is kept costs nothing: the same limit has room for the second now.
        grade(run, api, "--max-cost", 0.6, "--concurrency", 1)
        assert len(asks(api)) == 2
    assert scores_beside(run, "anthropic", "m")["q2", "RubricGrade"].value == 1.0


def test_budget_needs_a_price(run: Path) -> None:
    """A cost that can't be counted can't be limited, so nothing is sent."""
    with served(judging({})) as api:
        done = grade(run, api, "--max-cost", 1, "--model", "another", code=2)
        assert api.requests == []
    assert "the price of 'another' is unknown" in done.err


# Batches -----------------------------------------------------------------------------------------------------------


def test_batch(run: Path) -> None:
    """All is asked in one batch, at half the price; graded again, nothing is submitted and all was paid for earlier."""
    batches = BatchApi(lambda body: judging({"users": WRONG})(api, body))  # type: ignore[arg-type,return-value]
    with served(no_messages, batches) as api:
        found = grade(run, api, "--batch", "--json").object()
        again = grade(run, api, "--batch", "--json").object()
    assert [len(batch.requests) for batch in batches.batches.values()] == [2]
    assert found["measures"]["RubricGrade"]["mean"] == 0.5
    assert (found["cost"]["cost"], found["cost"]["spent"]) == (pytest.approx(0.003), pytest.approx(0.003))
    assert (found["cost"]["cached"], again["cost"]["cached"], again["cost"]["spent"]) == (0, 2, 0.0)
    assert not any(score.value == 0 for name, score in scores_beside(run, "anthropic", "m").items() if name[0] == "q1")


def test_batch_asks_once_more(run: Path) -> None:
    """An unusable verdict is asked for once more, with the reason, in a second batch; there is no third."""

    def result(body: dict[str, Any]) -> Reply:
        if "users" in shown(body):
            return message("never")
        return message(RIGHT if len(body["messages"]) > 1 else "no")

    batches = BatchApi(result)
    with served(no_messages, batches) as api:
        done = grade(run, api, "--batch")
        assert "no verdict on q2 by rubric: unreadable" in done.err
        assert [len(batch.requests) for batch in batches.batches.values()] == [2, 2]
        verdicts = verdicts_beside(run, "anthropic", "m")
        assert (verdicts["q1", "rubric"].grade, verdicts["q1", "rubric"].attempts) == ("fully_correct", 2)
        assert (verdicts["q2", "rubric"].failure, verdicts["q2", "rubric"].attempts) == ("unreadable", 2)
        # What couldn't be used is submitted again, and alone.
        grade(run, api, "--batch")
        assert [len(batch.requests) for batch in batches.batches.values()] == [2, 2, 1, 1]


def test_batch_without_a_result(run: Path) -> None:
    """An item that errored or expired is a failure of its verdict, with the reason, and the others count."""
    batches = BatchApi(lambda body: "expired" if "users" in shown(body) else message(RIGHT))
    with served(no_messages, batches) as api:
        done = grade(run, api, "--batch")
    assert "no verdict on q2 by rubric: no_reply" in done.err
    assert "expired" in str(scores_beside(run, "anthropic", "m")["q2", "RubricGrade"].reason)
    assert scores_beside(run, "anthropic", "m")["q1", "RubricGrade"].value == 1.0


def test_budget_of_a_batch(run: Path) -> None:
    """Only the affordable part of a batch is submitted: 0.3 is enough for one at half the price of 0.45."""
    batches = BatchApi(lambda body: message(RIGHT, 100, 20))
    with served(no_messages, batches) as api:
        done = grade(run, api, "--batch", "--max-cost", 0.3, code=1)
    assert [len(batch.requests) for batch in batches.batches.values()] == [1]
    assert "1 verdict not asked for" in done.err


class Deaf(BatchApi):
    """Batches that can be submitted and not asked after."""

    def answer(self, api: Api, path: str, body: dict[str, Any] | None) -> Reply | Response:
        """Refuse to tell of a batch while one is under way for ever."""
        if body is None and self.looks:
            return refusal(400, "invalid_request_error", "no looking")
        return super().answer(api, path, body)


def test_batch_that_can_not_be_read(run: Path) -> None:
    """If the server tells nothing of a batch the command ends in words, and the same command reads it later."""
    batches = Deaf(lambda body: message(RIGHT, 100, 20))
    with served(no_messages, batches) as api:
        done = grade(run, api, "--batch", code=2)
        assert "no looking" in done.err
        assert "stays under way" in done.err
        assert not run.with_name("r.grades").exists()
        batches.looks = 0
        batches.batches["msgbatch_1"].looks = 0
        grade(run, api, "--batch")
    assert len(batches.batches) == 1
    assert len(verdicts_beside(run, "anthropic", "m")) == 2


def process(run: Path, api: Api, *options: str) -> Forked:
    """Start a process that grades a run by the rubric."""
    words = ("grade", run, "-j", "anthropic", "-g", "rubric", "--no-store", *options)
    return forked.command(*words, cwd=run.parents[2], env=api.env)


def until(condition: Callable[[], bool], running: Forked) -> None:
    """Wait until something is so while a process runs."""
    deadline = time.monotonic() + 60
    while not condition():
        assert running.poll() is None, running.written()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ended(running: Forked, number: int) -> str:
    """Send a signal to a process, and return what it said until it ended."""
    running.send_signal(number)
    return running.communicate(timeout=60)[1]


@pytest.mark.slow("a batch of the server takes seconds, and is waited for twice")
def test_batch_is_resumed(tmp_path: Path) -> None:
    """A batch of 40 verdicts is submitted, the process killed while it waits; the same command reads it to its end.

    Killed again and again it is submitted once, and no verdict is asked for twice.
    """
    run, batches = many(tmp_path, 40), BatchApi(lambda body: message(RIGHT, 100, 20), looks=10**6)
    with served(no_messages, batches) as api:
        for _ in range(3):
            looks = len(api.requests)
            running = process(run, api, "--batch")
            until(lambda: any("msgbatch_1" in one["path"] for one in api.requests[looks:]), running)  # noqa: B023
            assert "Traceback" not in ended(running, signal.SIGKILL)
            assert running.returncode == -signal.SIGKILL
            assert not run.with_name("r.grades").exists()
        batches.batches["msgbatch_1"].looks = 0
        running = process(run, api, "--batch")
        reported = running.communicate(timeout=60)[1]
        assert running.returncode == 0, reported
    assert [len(batch.requests) for batch in batches.batches.values()] == [40]
    verdicts = verdicts_beside(run, "anthropic", JUDGE_MODEL)
    assert len(verdicts) == 40
    assert all(one.failure is None and not one.cached for one in verdicts.values())


# Interrupted -------------------------------------------------------------------------------------------------------


@pytest.mark.slow("a grading is interrupted")
def test_interrupted(tmp_path: Path) -> None:
    """Ctrl-C leaves only the file of replies, and names it: the same command asks for the others alone."""
    run, answered = many(tmp_path, 30), list[str]()

    def script(api: Api, body: dict[str, Any]) -> Reply:
        if len(answered) >= 10:
            api.released.wait(30)
        answered.append(shown(body))
        return message(RIGHT)

    replies = tmp_path / ".graphkit" / "replies.sqlite"
    with served(script) as api:
        running = process(run, api, "--concurrency", "1")
        until(lambda: len(api.requests) == 11, running)
        reported = ended(running, signal.SIGINT)
        assert running.returncode == 130, reported
        assert "stopped: the replies so far are kept in" in reported
        assert "Traceback" not in reported
    assert not run.with_name("r.grades").exists()
    with ReplyCache(replies) as cache:
        assert cache.stats().entries == 10
    with served(judging({})) as api:
        done = inside(
            *("grade", run, "-j", "anthropic", "-g", "rubric", "--no-store"), cwd=tmp_path, env=api.env, code=0
        )
        assert len(asks(api)) == 20
    assert "30/30" in done.out


# Who answered ------------------------------------------------------------------------------------------------------


def test_judge_of_the_same_family(run: Path) -> None:
    """If judge and answering model are of one family it is warned of, by option or by what `graphkit run` noted."""
    with served(judging({})) as api:
        done = grade(run, api, "--model", "claude-sonnet-5-5", "--answered-by", "claude-haiku-5-5")
        assert "warning: judge and answering model are of one family (Claude" in done.err
        assert verdicts_beside(run, "anthropic", "claude-sonnet-5-5")["q1", "rubric"].answered_by == "claude-haiku-5-5"
        assert "warning" not in grade(run, api, "--answered-by", "gpt-5").err
        run.with_suffix(".made-by").write_text("claude-opus-5-5\n")
        found = grade(run, api, "--model", "claude-sonnet-5-5", "--json").object()
        assert "claude-sonnet-5-5 judges claude-opus-5-5" in found["warning"]


def test_text_of_the_server_drives_no_terminal(run: Path) -> None:
    """A judge's text is data: its control characters reach neither terminal nor page unescaped."""
    with served(judging({"users": refusal(400, "invalid_request_error", "\x1b[2Jgone")})) as api:
        done = grade(run, api)
    assert "\x1b" not in done.err + done.out


# The graph ---------------------------------------------------------------------------------------------------------


def test_failures_in_the_graph(run: Path, tmp_path: Path, graph: Graph) -> None:
    """A verdict that couldn't be had is a failure in the graph too, with its reason, and no score there either."""
    manner = tmp_path / "manner"
    manner.mkdir()
    (manner / "prompt.txt").write_text("How is the tone?")
    schema = {"type": "object", "properties": {"tone": {"type": "number", "minimum": 0, "maximum": 1}}}
    (manner / "schema.json").write_text(json.dumps(schema))
    options = ["-j", "anthropic", "--rubric", manner, "--cache", tmp_path / "replies.sqlite"]
    with served(judging({"users": "nonsense"}, '{"tone": 0.5}')) as api:
        env = {**graph.env, **api.env}
        found = inside("grade", run, *options, "--json", cwd=tmp_path, env=env, code=0).object()
    assert found["failures"] == {"unreadable": 1}
    assert (found["measures"]["manner"]["mean"], found["measures"]["manner"]["scored"]) == (0.5, 1)
    rows = graph.store.read(
        "MATCH (:Answer)-[:JUDGED]->(v:Verdict) RETURN v.question AS q, v.failure AS f, v.grader AS g ORDER BY q"
    )
    assert [(row["q"], row["f"], row["g"]) for row in rows] == [("q1", None, "manner"), ("q2", "unreadable", "manner")]
    failures = inside("failures", "r", "--kind", "failed-verdicts", "--json", cwd=tmp_path, env=graph.env, code=0)
    assert [row["question"] for row in failures.objects()] == ["q2"]
