"""``graphkit grade --model PROVIDER:NAME`` against local servers of each protocol, whole ones and broken ones."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.judging.llm.api_client import ApiClient
from graphkit.plugins.judging.llm.cache import ReplyCache
from tests.helpers import forked
from tests.helpers.api import Api, Reply, Response, in_turn, served
from tests.helpers.chat import CHAT, MESSAGES, OWN, PROTOCOLS, Protocol, completion, refused
from tests.helpers.cli import Done, inside
from tests.helpers.forked import Forked
from tests.helpers.grading import RIGHT, WRONG, many, scores_beside, shown, to_grade, verdicts_beside
from tests.helpers.suites import one_fast
from tests.helpers.terminals import ProgressLines

each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda one: one.name)
JUDGES = {"messages": "anthropic", "chat": "openai", "own": "vllm"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two answers, one record that failed, and a question without a record."""
    return to_grade(tmp_path)


def grade(run: Path, protocol: Protocol, api: Api, *options: object, code: int = 0) -> Done:
    """Have a server's model grade a run by the rubric, with a file of replies in the folder of the dataset."""
    words = ("grade", run, *protocol.judge(api), "--no-store", "-g", "rubric", *options)
    return inside(*words, cwd=run.parents[2], env=protocol.env(api), code=code)


def judging(protocol: Protocol, second: Any = WRONG) -> Callable[[Api, dict[str, Any]], Reply | Response]:
    """Return a server that finds the first answer right, and replies by ``second`` to the one about users."""

    def script(api: Api, body: dict[str, Any]) -> Reply | Response:
        said = second if "users" in shown(body) else RIGHT
        return protocol.message(said, 100, 20) if isinstance(said, str) else said

    return script


@each_protocol
def test_graded_once(protocol: Protocol, run: Path) -> None:
    """Each of two answers is one request; graded again nothing is sent. The scores name provider and model."""
    with served(judging(protocol)) as api:
        found = grade(run, protocol, api, "--json").object()
        again = grade(run, protocol, api, "--json").object()
    assert [one["model"] for one in api.requests] == ["m", "m"]
    assert (found["judge"], found["measures"]["RubricGrade"]["mean"]) == (JUDGES[protocol.name], 0.5)
    # The prices of m are unknown, and so is what was spent.
    assert (found["cost"]["cost"], again["cost"]["cached"]) == (None, 2)
    verdict = verdicts_beside(run, JUDGES[protocol.name], "m")["q2", "rubric"]
    assert (verdict.grade, verdict.label, verdict.prompt_tokens, verdict.output_tokens) == (
        *("wrong", "hallucination"),
        *(100, 20),
    )
    assert str(scores_beside(run, JUDGES[protocol.name], "m")["q2", "RubricGrade"].version).startswith("m prompt ")


def faulty(protocol: Protocol, name: str) -> Reply | Response:
    """Return what a broken server sends."""
    whole = protocol.message(RIGHT)[1]
    faults: dict[str, Reply | Response] = {
        "invalid JSON": Response(200, b'{"choices": [', {"x-should-retry": "false"}),
        "500": Response(500, protocol.refusal(500, "api_error", "out of memory")[1], {"x-should-retry": "false"}),
        "another form": Response(200, {"choices": [], "usage": {}}),
        "too long": protocol.refusal(400, "invalid_request_error", "the prompt is too long"),
        "cut stream": Response(200, whole, cut=40),
    }
    return faults[name]


@one_fast(
    ("protocol", "fault", "words"),
    [
        *((one, "500", "answers 500: .*out of memory") for one in PROTOCOLS),
        *((one, "another form", "sent no") for one in PROTOCOLS),
        *((one, "too long", "the prompt is too long") for one in PROTOCOLS),
    ],
    "a server and two gradings for each fault",
    1,
    5,
)
def test_verdict_that_a_fault_prevents(protocol: Protocol, fault: str, words: str, run: Path) -> None:
    """A fault costs its own verdict, which has no score and a reason; the same command asks for that alone."""
    judge = JUDGES[protocol.name]
    with served(judging(protocol, faulty(protocol, fault))) as api:
        done = grade(run, protocol, api)
    assert "no verdict on q2 by rubric: no_reply" in done.err
    found = scores_beside(run, judge, "m")
    assert found["q1", "RubricGrade"].value == 1.0
    assert found["q2", "RubricGrade"].value is None
    assert re.search(words, str(found["q2", "RubricGrade"].reason))
    with served(judging(protocol)) as api:
        grade(run, protocol, api)
    assert [("users" in shown(one)) for one in api.requests] == [True]
    assert scores_beside(run, judge, "m")["q2", "RubricGrade"].value == 0.0


@each_protocol
@pytest.mark.parametrize("fault", ["cut stream", "invalid JSON", "slow"])
@pytest.mark.slow("eight attempts with their pauses")
def test_fault_that_stays(protocol: Protocol, fault: str, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that cuts, garbles or delays each reply to one request loses that one, after its attempts."""
    defaults = {"attempts": 3, "backoff": 0.01, **({"timeout": 0.5} if fault == "slow" else {})}
    first = ApiClient.__init__

    def quicker(self: ApiClient, **limits: Any) -> None:
        first(self, **{**limits, **defaults})

    monkeypatch.setattr(ApiClient, "__init__", quicker)

    def script(api: Api, body: dict[str, Any]) -> Reply | Response:
        if "users" not in shown(body):
            return protocol.message(RIGHT)
        if fault == "slow":
            api.released.wait(20)
            return protocol.message(RIGHT)
        return faulty(protocol, fault)

    with served(script) as api:
        done = grade(run, protocol, api)
    assert "no verdict on q2 by rubric: no_reply" in done.err
    assert "given up after 3 attempts" in done.err
    assert len(api.requests) == 4
    assert scores_beside(run, JUDGES[protocol.name], "m")["q1", "RubricGrade"].value == 1.0


@each_protocol
def test_wrong_key_and_model(protocol: Protocol, run: Path) -> None:
    """A key or a model that the server refuses ends the grading with what to set; what was replied before is kept."""
    for status, words in ((401, protocol.key), (404, "--model")):
        with served(in_turn(protocol.refusal(status, "some_error", "not this one"))) as api:
            done = grade(run, protocol, api, code=2)
        assert words in done.err
        assert "not this one" in done.err
        assert not run.with_name("r.grades").exists()
    with served(in_turn(protocol.message(RIGHT), protocol.refusal(401, "some_error", "revoked"))) as api:
        grade(run, protocol, api, "--concurrency", 1, code=2)
    with ReplyCache(run.parents[2] / ".graphkit" / "replies.sqlite") as replies:
        assert replies.stats().entries == 1


# Names of models -----------------------------------------------------------------------------------------------------


def test_two_providers_of_one_model(run: Path) -> None:
    """Replies of two providers of a model of one name are two, and each has its scores; a replay finds its own."""
    with served(judging(OWN, "no")) as api:
        grade(run, OWN, api)
        here = ("--model", "ollama:m", "--base-url", f"{api.url}/v1")
        asked = len(api.requests)
        inside("grade", run, *here, "--no-store", "-g", "rubric", cwd=run.parents[2], code=0)
        assert len(api.requests) == 2 * asked
    inside("grade", run, "--model", "ollama:m", "--replay", "--no-store", "-g", "rubric", cwd=run.parents[2], code=0)
    assert verdicts_beside(run, "vllm", "m").keys() == verdicts_beside(run, "ollama", "m").keys()


def test_name_with_colons(run: Path) -> None:
    """Only the provider is split off; with --judge, a name that begins as another provider's stays whole."""
    with served(judging(OWN)) as api:
        for words in (("--model", "ollama:mistral:7b"), ("-j", "ollama", "--model", "mistral:7b")):
            there = ("--base-url", f"{api.url}/v1", "--no-store", "--no-cache", "-g", "rubric")
            inside("grade", run, *words, *there, cwd=run.parents[2], code=0)
    assert {one["model"] for one in api.requests} == {"mistral:7b"}
    assert verdicts_beside(run, "ollama", "mistral:7b")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "qwen2.5-coder:1.5b"), "Name a model with its provider"),
        (("-j", "lexical", "--model", "openai:m"), "--model: the judge 'lexical' asks no model"),
        (("-j", "openai"), "--judge openai: no model is named"),
        (("--model", "openai:m"), "Set OPENAI_API_KEY"),
        (("--model", "openai:m", "--base-url", "https://a.example/v1"), "OPENAI_API_KEY isn't sent to a.example"),
        (("--model", "anthropic:m", "--base-url", "http://localhost:1"), "ANTHROPIC_BASE_URL"),
        (("--base-url", "http://localhost:1/v1"), "--base-url: the judge 'lexical' asks no model"),
        (("--model", "vllm:m", "--batch"), "as Anthropic's API can"),
        (("--model", "vllm:m", "--max-cost", "1"), "the price of 'm' is unknown"),
        (("--model", "vllm:m", "--base-url", "http://127.0.0.1:9/v1"), "nothing listens at http://127.0.0.1:9/v1"),
        (("--model", "opnai:m"), "Name a model with its provider"),
    ],
)
def test_what_can_not_be_asked(options: tuple[str, ...], words: str, run: Path) -> None:
    """Each mistake in naming a model is refused before anything is sent, with what to write."""
    done = inside("grade", run, *options, "--no-store", cwd=run.parents[2], code=2)
    assert words in done.err
    assert "Traceback" not in done.err


def test_prices_and_dry_run(run: Path, tmp_path: Path) -> None:
    """Without a key the calls are counted; with the user's price the cost is known, and --max-cost holds.

    Of a million tokens 10 and 100: a reply to 100 tokens with 20 costs 100 * 10 / 1e6 + 20 * 100 / 1e6 = 0.003.
    """
    (tmp_path / "prices.toml").write_text("[models.m]\nprompt = 10\noutput = 100\n")
    priced = ("--prices", "prices.toml", "--max-cost", "5", "--json")
    counted = inside(
        "grade", run, "--model", "openai:m", "--no-store", "-g", "rubric", "--dry-run", "--json", cwd=tmp_path
    )
    assert (counted.object()["calls"], counted.object()["cost"]) == (2, None)
    with served(judging(CHAT)) as api:
        found = grade(run, CHAT, api, *priced).object()
    assert found["cost"]["spent"] == pytest.approx(0.006)


@each_protocol
def test_a_server_without_usage(protocol: Protocol, run: Path, tmp_path: Path) -> None:
    """Its verdicts are kept, with unknown tokens and cost, which the terminal says once; kept replies know it, too.

    With --max-cost each reply counts as the most that it can cost: at 100 for a million tokens of output, and nothing
    for the prompt, 4096 tokens cost 0.4096. So 0.5 admits one of two.
    """
    (tmp_path / "prices.toml").write_text("[models.m]\nprompt = 0\noutput = 100\n")

    def script(api: Api, body: dict[str, Any]) -> Reply | Response:
        status, whole = judging(protocol)(api, body)  # type: ignore[misc]
        return status, {name: value for name, value in whole.items() if name != "usage"}

    with served(script) as api:
        done = grade(run, protocol, api)
        again = grade(run, protocol, api, "--json").object()
        limits = ("--prices", "prices.toml", "--max-cost", 0.5, "--no-cache")
        limited = grade(run, protocol, api, *limits, code=1)
    assert done.err.count("doesn't state its tokens") == 1
    assert "2 verdicts at an unknown cost" in done.out
    one = verdicts_beside(run, JUDGES[protocol.name], "m")["q1", "rubric"]
    assert (one.grade, one.prompt_tokens, one.output_tokens, one.cost) == ("fully_correct", None, None, None)
    assert (again["cost"]["cached"], again["cost"]["prompt_tokens"], again["cost"]["cost"]) == (2, None, None)
    assert len(api.requests) == 3
    assert "1 verdict not asked for" in limited.err


def test_form_is_noted_once(run: Path) -> None:
    """A server that refuses the schema is asked more plainly; the terminal says so once, and verdicts are whole."""

    def script(api: Api, body: dict[str, Any]) -> Reply:
        if body.get("response_format", {}).get("type") == "json_schema":
            return refused(400, "invalid_request_error", "response_format is not supported")
        return completion(RIGHT)

    with served(script) as api:
        done = grade(run, OWN, api)
    assert done.err.count("doesn't keep to json_schema") == 1
    assert len(verdicts_beside(run, "vllm", "m")) == 2


def test_asked_again(run: Path, tmp_path: Path) -> None:
    """`judge consistency` asks the same provider again, at the given address."""
    with served(judging(OWN)) as api:
        grade(run, OWN, api)
        asked = len(api.requests)
        there = ("--model", "vllm:m", "--base-url", f"{api.url}/v1")
        found = inside("judge", "consistency", run, *there, "--repeat", 2, "--json", cwd=tmp_path, code=0).object()
    assert len(api.requests) == 3 * asked  # two gradings more, without the kept replies
    assert found["judge"] == "vllm"


@pytest.mark.parametrize("command", ["consistency", "bias", "drift"])
def test_notes_of_asking_again(command: str, run: Path, tmp_path: Path) -> None:
    """What the server doesn't state, and a price that isn't known, are noted once, however often a run is graded."""
    with served(lambda api, body: completion(RIGHT, usage=None)) as api:
        grade(run, CHAT, api)
        asked = len(api.requests)
        done = inside("judge", command, run, "--base-url", f"{api.url}/v1", cwd=tmp_path, env=CHAT.env(api), code=0)
    assert len(api.requests) > asked
    assert done.err.count("doesn't state its tokens") == 1
    assert done.err.count("the price of 'm' is unknown, and so is what its replies cost. Give it by --prices") == 1


def test_condition_training(run: Path, tmp_path: Path) -> None:
    """`graphkit run --condition training` asks a model of any provider."""
    with served(lambda api, body: completion("Orders calls Billing.", 7, 3)) as api:
        there = ("--model", "llamacpp:m", "--base-url", f"{api.url}/v1")
        inside("run", run.parents[1], "--condition", "training", *there, "-o", "outs", cwd=tmp_path, code=0)
    lines = [json.loads(line) for line in next((tmp_path / "outs").glob("*.jsonl")).read_text().splitlines()]
    assert {one["answer"] for one in lines} == {"Orders calls Billing."}
    assert {one["model"] for one in api.requests} == {"m"}


def test_condition_training_without_usage(run: Path, tmp_path: Path) -> None:
    """Tokens that a server doesn't state aren't 0: answers have none, and --max-cost has nothing to hold."""
    with served(lambda api, body: completion("Orders calls Billing.", usage=None)) as api:
        there = ("run", run.parents[1], "--condition", "training", "--model", "vllm:m", "--base-url", f"{api.url}/v1")
        inside(*there, "-o", "outs", cwd=tmp_path, code=0)
        prices = ("--price-in", 1, "--price-out", 1)
        done = inside(*there, *prices, "--max-cost", 1, "-o", "limited", cwd=tmp_path, code=2)
    lines = [json.loads(line) for line in next((tmp_path / "outs").glob("*.jsonl")).read_text().splitlines()]
    assert {(one["answer"], one.get("prompt_tokens"), one.get("cost")) for one in lines} == {
        ("Orders calls Billing.", None, None)
    }
    assert "--max-cost can't be kept" in done.err


def test_note_on_an_unknown_price(run: Path, tmp_path: Path) -> None:
    """A service's model without a price is noted once, with how to give one; a server of one's own charges nothing."""
    (tmp_path / "prices.toml").write_text('[models."m"]\nprompt = 1.0\noutput = 5.0\n')
    with served(judging(CHAT)) as api:
        done = grade(run, CHAT, api)
        assert done.err.count("the price of 'm' is unknown, and so is what its replies cost. Give it by --prices") == 1
        assert "price" not in grade(run, CHAT, api, "--prices", "prices.toml").err
        assert "price" not in grade(run, OWN, api).err


# Slow judges ---------------------------------------------------------------------------------------------------------


def process(run: Path, protocol: Protocol, api: Api, *options: str) -> Forked:
    """Start a process that grades a run by the rubric."""
    words = ("grade", run, *protocol.judge(api), "-g", "rubric", "--no-store", *options)
    return forked.command(*words, cwd=run.parents[2], env=protocol.env(api))


@pytest.mark.slow("gradings are ended by signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("protocol", [MESSAGES, OWN], ids=lambda one: one.name)
def test_terminated(protocol: Protocol, number: int, tmp_path: Path) -> None:
    """A slow grading that is ended goes at once and keeps its replies: the same command asks for the others alone."""
    run = many(tmp_path, 12)

    def script(api: Api, body: dict[str, Any]) -> Reply:
        if len(api.requests) > 4:
            api.released.wait(30)
        return protocol.message(RIGHT)

    with served(script) as api:
        running = process(run, protocol, api, "--concurrency", "1")
        deadline = time.monotonic() + 60
        while len(api.requests) < 5:
            assert running.poll() is None, running.written()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        began = time.monotonic()
        running.send_signal(number)
        reported = running.communicate(timeout=60)[1]
        assert time.monotonic() - began < 20
        assert "Traceback" not in reported
    with ReplyCache(tmp_path / ".graphkit" / "replies.sqlite") as replies:
        assert replies.stats().entries == 4
    with served(lambda api, body: protocol.message(RIGHT)) as api:
        done = grade(run, protocol, api)
    assert len(api.requests) == 8
    assert "12/12" in done.out


def test_progress_of_a_slow_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal a line comes within seconds and again and again, with the verdicts and answers so far."""
    run = many(tmp_path, 3)
    lines = ProgressLines(monkeypatch)

    def script(api: Api, body: dict[str, Any]) -> Reply:
        if len(api.requests) > 1:
            lines.await_more(2)
        return completion(RIGHT)

    with served(script) as api:
        done = grade(run, OWN, api, "--concurrency", 1)
    assert done.err.count("grading r.jsonl ... 1 of 3 answers, 1 verdict\n") >= 2
    assert done.err.count("grading r.jsonl ... 2 of 3 answers, 2 verdicts\n") >= 2
