"""``graphkit run --condition training``: the model alone, asked through a server of our own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.api import Api, Reply, message, refusal, served
from tests.helpers.cli import write_lines
from tests.helpers.systems import TEN, records, run


def test_conditions_on_the_same_questions(folder: Path) -> None:
    """The baseline asks the model each question of the treatment's sample; tokens and cost are summed."""
    write_lines(folder / "data" / "questions.jsonl", TEN)
    (folder / "prompt.txt").write_text("Briefly: {question}")
    options = ("--condition", "training", "--condition", "pack=systems:plain", "--sample", 5, "--model", "some-model")
    prices = ("--price-in", 1, "--price-out", 5)
    with served(lambda api, body: message("from training", 1000, 200)) as api:
        done = run(folder, *options, *prices, "--prompt", "prompt.txt", "--json", env=api.env)
    found = records(folder, "training")
    assert list(found) == list(records(folder, "pack"))
    # 1000 tokens at 1 and 200 at 5 a million: 0.002 a question, 0.01 for five, 0.02 for ten.
    assert {record["cost"] for record in found.values()} == {0.002}
    training, pack = done.objects()
    assert training["efficiency"]["prompt_tokens"]["total"] == 5000
    assert training["efficiency"]["model_calls"]["total"] == 5
    assert training["cost"] == pytest.approx({"so_far": 0.01, "projected": 0.01, "projected_dataset": 0.02})
    assert pack["cost"]["so_far"] is None
    assert len(api.requests) == 5
    assert {request["model"] for request in api.requests} == {"some-model"}
    texts = {request["messages"][0]["content"] for request in api.requests}
    assert texts == {f"Briefly: Number {name[1:]}?" for name in found}
    assert all("temperature" not in request for request in api.requests)


def test_baseline_waits_where_it_is_reported_to(folder: Path) -> None:
    """Two refusals for the rate and then an answer is an answer."""

    def reply(api: Api, body: dict[str, Any]) -> Reply:
        early = len(api.requests) <= 2
        return refusal(429, "rate_limit_error", "slow down") if early else message("at last")

    with served(reply) as api:
        run(folder, "--condition", "training", "--concurrency", 1, env=api.env)
    assert [record["answer"] for record in records(folder, "training").values()] == ["at last", "at last"]
    assert len(api.requests) == 4


@pytest.mark.slow("the client tries a failing server again, after pauses")
def test_baseline_errors_are_records(folder: Path) -> None:
    """A refusal, no text and a time-out are records with error and type; tokens count where the model took them."""

    def reply(api: Api, body: dict[str, Any]) -> Reply:
        text = body["messages"][0]["content"]
        if "Number 0?" in text:
            return refusal(400, "invalid_request_error", "not like this")
        if "Number 1?" in text:
            return message("", 70, 0)
        if "Number 2?" in text:
            api.released.wait(60)
        return message("fine", 10, 2)

    write_lines(folder / "data" / "questions.jsonl", TEN[:4])
    with served(reply) as api:
        done = run(folder, "--condition", "training", "--timeout", 5, "--json", env=api.env)
    found = records(folder, "training")
    assert [found[name].get("error_type") for name in ("t0", "t1", "t2", "t3")] == [
        "BadRequestError",
        "NoAnswerError",
        "TimeoutError",
        None,
    ]
    assert "not like this" in found["t0"]["error"]
    summary = done.object()
    assert (summary["answered"], summary["failed"]) == (1, 3)
    # 70 of the answer without text, 10 of the other.
    assert summary["efficiency"]["prompt_tokens"]["total"] == 80


def test_baseline_without_credentials(folder: Path) -> None:
    """Without a key the baseline is refused before a question is asked."""
    env = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    done = run(folder, "--condition", "training", env=env, code=2)
    assert "Set ANTHROPIC_API_KEY." in done.err
    assert not (folder / "data" / "runs" / "training.jsonl").exists()
