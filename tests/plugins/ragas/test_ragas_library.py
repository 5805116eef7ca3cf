"""RAGAS's own metrics on graphkit's records: the real library, in the environment of its own that it needs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.plugins.judging.llm.requests import Model, Reply, Request, Usage
from graphkit.plugins.ragas import ragas_metrics
from graphkit.plugins.ragas.ragas_metrics import metrics_of, of, scores_of
from graphkit.plugins.ragas.ragas_samples import COLUMNS, NAN, RunSamples, Sample
from graphkit.records.scores import Score
from tests.helpers.api import Api, message, served
from tests.helpers.chat import completion
from tests.helpers.cli import inside, tiny, write_lines
from tests.helpers.engines import ENVIRONMENT
from tests.plugins.ragas.test_ragas import ANSWERS, GOLD, QUESTIONS

#: Gold is x and z, retrieved are x and y.
SAMPLE = Sample(
    run="r",
    question_id="q1",
    user_input="Who calls z?",
    response="x calls z. y calls z.",
    reference="x calls z.",
    retrieved_contexts=("def x(): z()", "a wholly different text"),
    reference_contexts=("def x(): z()", "class Zebra: pass  # stripes"),
    retrieved_context_ids=("x", "y"),
    reference_context_ids=("x", "z"),
)
BARE = Sample(run="r", question_id="q2", user_input="Why?", retrieved_context_ids=())

STATEMENTS = '{"statements": ["x calls z.", "y calls z."]}'
VERDICTS = (
    '{"statements": [{"statement": "x calls z.", "reason": "it does", "verdict": 1},'
    ' {"statement": "y calls z.", "reason": "not there", "verdict": 0}]}'
)


@pytest.fixture(autouse=True)
def ragas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The library; skips where it isn't installed, and fails under GRAPHKIT_REQUIRE_RAGAS=1."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # it keeps a number of its user there
    try:
        return ragas_metrics.library()
    except InputError as error:
        if ENVIRONMENT.get("GRAPHKIT_REQUIRE_RAGAS") == "1":
            pytest.fail(f"GRAPHKIT_REQUIRE_RAGAS=1, but {error}", pytrace=False)
        pytest.skip(f"no RAGAS: {error.what}")


class Asked:
    """A model of the Anthropic API by its own client, once each request."""

    async def ask(self, request: Request) -> Reply:
        """Send the request as it is."""
        import anthropic

        messages: list[Any] = [
            {"role": turn.role, "content": [{"type": "text", "text": block.text} for block in turn.blocks]}
            for turn in request.turns
        ]
        async with anthropic.AsyncAnthropic(max_retries=0) as client:
            said = await client.messages.create(model=request.model, max_tokens=request.max_tokens, messages=messages)
        text = "".join(block.text for block in said.content if block.type == "text")
        usage = Usage(said.usage.input_tokens, said.usage.output_tokens)
        return Reply(text, said.model, said.stop_reason, usage)


def run_of(*samples: Sample) -> RunSamples:
    """Return a run with these rows and a failure."""
    return RunSamples("r", samples, {"q9": "time-out"}, ())


def scored(names: Iterable[str], model: Model | None = None, *samples: Sample) -> dict[tuple[str, str], Score]:
    """Return the scores by question and metric."""
    metrics = metrics_of(list(names), model, "claude-haiku-5-5")
    found = asyncio.run(scores_of(run_of(*(samples or (SAMPLE, BARE))), metrics))
    return {(score.question, score.measure.removeprefix("ragas.")): score for score in found}


def test_metrics_without_a_model() -> None:
    """Metrics of both kinds give what their definitions say, and an answer that lacks a column isn't scored.

    IDs: of {x, z} the run has x: recall 1/2; of {x, y} gold has x: precision 1/2. Texts: the first of two contexts
    is one of the two references: recall 1/2, and precision at its rank 1 (RAGAS divides by 1 + 1e-10).
    """
    names = ["ExactMatch", "StringPresence", "IDBasedContextRecall", "IDBasedContextPrecision"]
    names += ["NonLLMContextRecall", "NonLLMContextPrecisionWithReference"]
    found = scored(names)
    values = {metric: score.value for (question, metric), score in found.items() if question == "q1"}
    assert values == {
        "exact_match": 0.0,
        "string_present": 1.0,
        "id_based_context_recall": 0.5,
        "id_based_context_precision": 0.5,
        "non_llm_context_recall": 0.5,
        "non_llm_context_precision_with_reference": pytest.approx(1, abs=1e-9),
    }
    assert {score.given_by for score in found.values()} == {"ragas 0.4.3"}
    assert found["q2", "exact_match"].reason == "the answer has no reference and no response"
    assert {score.reason for (question, _), score in found.items() if question == "q9"} == {"failed: time-out"}
    assert len(found) == 3 * len(names)


def test_nan_is_unscored_and_zero_is_zero() -> None:
    """Without retrieved items RAGAS gives no precision (NaN) and a recall of 0: one is unscored, the other 0."""
    empty = BARE.model_copy(update={"reference_context_ids": ("x",)})
    found = scored(["IDBasedContextPrecision", "IDBasedContextRecall"], None, empty)
    assert found["q2", "id_based_context_precision"].value is None
    assert found["q2", "id_based_context_precision"].reason == NAN
    assert found["q2", "id_based_context_recall"].value == 0


def test_an_error_of_the_library_is_a_reason() -> None:
    """If a metric raises, that answer has the error as its reason, and the others have their scores."""
    empty = SAMPLE.model_copy(update={"question_id": "q2", "reference_contexts": ()})
    found = scored(["NonLLMContextRecall"], None, SAMPLE, empty)
    # No reference at all is 0 / 0, which RAGAS makes NaN, and no retrieved context is max() of nothing.
    none = SAMPLE.model_copy(update={"question_id": "q3", "retrieved_contexts": ()})
    found |= scored(["NonLLMContextRecall"], None, none)
    assert found["q1", "non_llm_context_recall"].value == 0.5
    assert found["q2", "non_llm_context_recall"].value is None
    assert str(found["q3", "non_llm_context_recall"].reason).startswith("RAGAS failed: ValueError: ")


def test_a_metric_that_asks_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faithfulness by the real client at a local server: of two statements one is supported, so 1/2, with its tokens.

    Two requests of 10 and 2 tokens each.
    """

    def reply(api: Api, body: dict[str, Any]) -> Any:
        return message(STATEMENTS if len(api.requests) == 1 else VERDICTS)

    with served(reply) as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        found = scored(["Faithfulness"], Asked(), SAMPLE)
    score = found["q1", "faithfulness"]
    assert (score.value, score.prompt_tokens, score.output_tokens) == (0.5, 20, 4)
    assert score.given_by == "ragas 0.4.3 claude-haiku-5-5"
    assert len(api.requests) == 2
    assert "def x(): z()" in str(api.requests[1]["messages"])


class Scripted:
    """A model that replies by a list, whatever it is asked."""

    def __init__(self, *texts: str, stop: str = "end_turn") -> None:
        self.texts = list(texts)
        self.stop = stop
        self.requests: list[Request] = []

    async def ask(self, request: Request) -> Reply:
        """Return the next reply."""
        self.requests.append(request)
        return Reply(self.texts.pop(0), request.model, self.stop, Usage(10, 2))


def test_a_reply_that_does_not_fit_is_asked_for_again() -> None:
    """An unsuitable reply is asked for once more with the reason, and counts; then the answer isn't scored."""
    model = Scripted("well ...", STATEMENTS, VERDICTS)
    score = scored(["Faithfulness"], model, SAMPLE)["q1", "faithfulness"]
    assert (score.value, score.prompt_tokens) == (0.5, 30)
    assert [turn.role for turn in model.requests[1].turns] == ["user", "assistant", "user"]
    score = scored(["Faithfulness"], Scripted("well ...", "well ..."), SAMPLE)["q1", "faithfulness"]
    assert (score.value, score.label, score.prompt_tokens) == (None, "unreadable", 20)
    cut = Scripted('{"statem', STATEMENTS, VERDICTS, stop="max_tokens")
    assert scored(["Faithfulness"], cut, SAMPLE)["q1", "faithfulness"].value == 0.5
    assert cut.requests[1].max_tokens == 2 * cut.requests[0].max_tokens


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Faithful", "Did you mean Faithfulness"),
        ("SemanticSimilarity", "needs embeddings"),
        ("ToolCallF1", "needs reference_tool_calls"),
        ("Faithfulness", "asks a model"),
        ("AnswerCorrectness", "asks a model"),
    ],
)
def test_metrics_that_cannot_be_run(name: str, message: str) -> None:
    """A metric that isn't there, or needs what a run hasn't, is refused with what it is."""
    with pytest.raises(InputError, match=message):
        metrics_of([name])


def test_a_metric_of_ones_own_making() -> None:
    """A metric object that was set up by hand is taken as it is."""
    from ragas.metrics.collections import DistanceMeasure, NonLLMStringSimilarity

    metric = of(NonLLMStringSimilarity(name="jaro", distance_measure=DistanceMeasure.JARO))
    [score, _] = asyncio.run(scores_of(run_of(SAMPLE), [metric]))
    assert score.measure == "ragas.jaro"
    assert score.number is not None
    assert 0.5 < score.number < 1


@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
def test_ragas_reads_what_is_exported(ragas: Any, tmp_path: Path, ending: str) -> None:
    """RAGAS's own data set holds the columns as they were written."""
    import ast
    import csv

    run = tiny(tmp_path / "data", QUESTIONS, ANSWERS)
    texts, out = write_lines(tmp_path / "gold.jsonl", GOLD), tmp_path / f"out{ending}"
    inside("ragas", "export", run, "-o", out, "--texts", texts, cwd=tmp_path, code=0)
    if ending == ".jsonl":
        [sample] = ragas.EvaluationDataset.from_jsonl(out)
        assert sample.response == "'=x"
    else:
        with out.open(newline="", encoding="utf-8") as stream:
            rows: list[dict[str, Any]] = [
                {name: ast.literal_eval(cell) if cell[:1] == "[" else cell for name, cell in row.items()}
                for row in csv.DictReader(stream)
            ]
        [sample] = ragas.EvaluationDataset.from_list(rows)
    assert sample.user_input == "Who calls z?"
    assert sample.retrieved_contexts == ["def x", 'say "y",\n\u2028x']
    assert sample.reference_context_ids == ["x", "z"]
    assert set(COLUMNS) <= set(sample.to_dict())


@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
def test_conversations_that_ragas_writes(ragas: Any, tmp_path: Path, ending: str) -> None:
    """A data set of MultiTurnSample, as the library writes it, becomes a session, whose turns the library reads again.

    The second answer equals its reference, so ExactMatch is 1; the first question has none.
    """
    from ragas.messages import AIMessage, HumanMessage

    said = (HumanMessage, "Who calls z?"), (AIMessage, "x."), (HumanMessage, "And y?"), (AIMessage, "No.")
    talk = [kind(content=text) for kind, text in said]
    sample = ragas.MultiTurnSample(user_input=talk, reference="No.")
    data, back = ragas.EvaluationDataset(samples=[sample]), tmp_path / f"back{ending}"
    getattr(data, f"to_{ending[1:]}")(tmp_path / f"rows{ending}")
    inside("ragas", "import", f"rows{ending}", "-o", "data", "--run", "r", cwd=tmp_path, code=0)
    run = tmp_path / "data/runs/r.jsonl"
    done = inside("ragas", "evaluate", run, "-m", "ExactMatch", "--json", cwd=tmp_path, code=0)
    assert (done.object()["mean"], done.object()["scored"], done.object()["total"]) == (1.0, 1, 2)
    inside("ragas", "export", run, "-o", back, cwd=tmp_path, code=0)
    if ending == ".jsonl":
        found = ragas.EvaluationDataset.from_jsonl(back)
        assert [(one.user_input, one.response, one.reference) for one in found] == [
            ("Who calls z?", "x.", None),
            ("And y?", "No.", "No."),
        ]


def test_evaluated_on_the_command_line(tmp_path: Path) -> None:
    """The command runs metrics on a run and keeps their scores beside it; nothing of RAGAS's own statistics is sent."""
    run = tiny(tmp_path / "data", QUESTIONS, ANSWERS)
    metrics = ("-m", "IDBasedContextRecall", "-m", "ExactMatch")
    done = inside("ragas", "evaluate", run, *metrics, "--json", cwd=tmp_path, code=0)
    # Of x and z the run retrieved x; the failed question isn't scored.
    assert [(row["measure"], row["mean"], row["scored"], row["total"]) for row in done.objects()] == [
        ("ragas.id_based_context_recall", 0.5, 1, 2),
        ("ragas.exact_match", 0.0, 1, 2),
    ]
    found = read_scores([run.parent / "r.grades/ragas.scores.jsonl"], Problems())
    assert len(found) == 4
    assert "failed: time-out" in done.err
    assert os.environ["RAGAS_DO_NOT_TRACK"] == "true"


def test_a_metric_that_asks_a_model_on_the_command_line(tmp_path: Path) -> None:
    """Faithfulness by the command: 1 of 2 statements is 0.5, paid once, for the second time its replies are kept.

    Two requests of 10 and 2 tokens; nothing beyond the budget is asked.
    """
    run = tiny(tmp_path / "data", QUESTIONS, ANSWERS)

    def reply(_: Api, body: dict[str, Any]) -> Any:
        return message(VERDICTS if "verdict" in str(body["messages"]) else STATEMENTS)

    command = ("ragas", "evaluate", run, "-m", "Faithfulness")
    home = {"GRAPHKIT_HOME": str(tmp_path / "home")}
    with served(reply) as api:
        poor = inside(*command, "--max-cost", "0", "--json", cwd=tmp_path, env={**api.env, **home}, code=0)
        assert (poor.object()["mean"], len(api.requests)) == (None, 0)
        for _ in range(2):
            done = inside(*command, "--json", cwd=tmp_path, env={**api.env, **home}, code=0)
            assert (done.object()["mean"], done.object()["scored"]) == (0.5, 1)
        assert len(api.requests) == 2
    assert "no credentials" in inside(*command, cwd=tmp_path, env=home, code=2).err
    scores = read_scores([run.parent / "r.grades/ragas.scores.jsonl"], Problems())
    [score] = [score for score in scores if score.value is not None]
    assert (score.prompt_tokens, score.output_tokens, score.cost) == (20, 4, 0)


def test_a_model_of_another_maker(tmp_path: Path) -> None:
    """A server that speaks chat completions is asked at --base-url, by the same cache; scores name provider and model.

    Prices are the user's: of a million tokens 1 each, two replies of 10 and 2 tokens cost 24e-6. A server that states
    no tokens leaves them, and the cost, unknown.
    """
    run = tiny(tmp_path / "data", QUESTIONS, ANSWERS)
    (tmp_path / "prices.toml").write_text("[models.m]\nprompt = 1\noutput = 1\n")
    stated = True

    def reply(_: Api, body: dict[str, Any]) -> Any:
        said = VERDICTS if "verdict" in str(body["messages"]) else STATEMENTS
        return completion(said) if stated else completion(said, usage=None)

    def evaluated(api: Api, home: str) -> tuple[Score, str]:
        command = ("ragas", "evaluate", run, "-m", "Faithfulness", "--model", "vllm:m", "--base-url", f"{api.url}/v1")
        there = {"GRAPHKIT_HOME": str(tmp_path / home)}
        done = inside(*command, "--prices", "prices.toml", cwd=tmp_path, env=there, code=0)
        scores = read_scores([run.parent / "r.grades/ragas.scores.jsonl"], Problems())
        return next(score for score in scores if score.value is not None), done.err

    with served(reply) as api:
        score, _ = evaluated(api, "home")
        assert (score.value, score.prompt_tokens, score.output_tokens) == (0.5, 20, 4)
        assert score.cost == pytest.approx(24e-6)
        assert str(score.version).endswith(" vllm:m")
        assert evaluated(api, "home")[0].cost == 0
        assert len(api.requests) == 2
        stated = False
        silent, said = evaluated(api, "other")
    assert (silent.value, silent.prompt_tokens, silent.cost) == (0.5, None, None)
    assert said.count("doesn't state its tokens") == 1
    refused = ("ragas", "evaluate", run, "-m", "ExactMatch", "--base-url", "http://127.0.0.1:9/v1")
    assert "none of these metrics asks a model" in inside(*refused, "--model", "vllm:m", cwd=tmp_path, code=2).err
    refused = ("ragas", "evaluate", run, "-m", "Faithfulness", "--base-url", "http://127.0.0.1:9/v1")
    assert "takes no address" in inside(*refused, cwd=tmp_path, code=2).err
