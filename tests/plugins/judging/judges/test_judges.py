"""Judges: one that asks a model, one of the user's own, and the one by rules on the storefront runs."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.errors import InputError
from graphkit.measures.case import Case
from graphkit.measures.registry import bounds_of
from graphkit.plugins.judging.judges.callable_judge import CallableJudge, load_judge
from graphkit.plugins.judging.judges.catalogue import GRADERS
from graphkit.plugins.judging.judges.contract import Judge
from graphkit.plugins.judging.judges.lexical import LexicalJudge
from graphkit.plugins.judging.judges.materials import Materials, materials_of
from graphkit.plugins.judging.judges.model_judge import ModelJudge
from graphkit.plugins.judging.judges.prompts import nonce_of
from graphkit.plugins.judging.judges.verdict_request import Judged, ask, prompt_of, schema_of
from graphkit.plugins.judging.llm.requests import ModelError, Reply, Request, Usage
from graphkit.records.models import Answer, Question
from graphkit.scoring.run_pass import lacking_answer
from tests.helpers.datasets import STOREFRONT, read_jsonl
from tests.helpers.judging import materials, reasons, values
from tests.helpers.properties import examples
from tests.helpers.suites import one_fast

GOLD = materials("It calls.", {"api:a.py": "x"}, gold_answer="yes")
SCALE = GRADERS["scale"]
GOOD = '{"reasoning": "r", "score": 7}'


class Model:
    """A model that gives the replies of a script, and keeps what it was asked."""

    def __init__(self, *script: tuple[str, str] | ModelError) -> None:
        self.script = list(script)
        self.asked: list[Request] = []

    async def ask(self, request: Request) -> Reply:
        """Return the next reply: text and stop reason."""
        self.asked.append(request)
        said = self.script.pop(0)
        if isinstance(said, ModelError):
            raise said
        return Reply(said[0], "m-1", said[1], Usage(input_tokens=7, output_tokens=3), attempts=2, cached=True)


def by_model(model: Model, **more: Any) -> Any:
    """Return what comes of asking a model for a score."""
    return asyncio.run(ask(SCALE, GOLD, ModelJudge(model, "anthropic", "m", **more)))


# A model -------------------------------------------------------------------------------------------------------------


def test_the_request() -> None:
    """System words, data, instruction, in this order; the system and the last of the data end what is shared."""
    model = Model((GOOD, "end_turn"))
    done = by_model(model, max_tokens=100, effort="low", cost=lambda reply: reply.usage.output_tokens / 4)
    [request] = model.asked
    assert (request.model, request.max_tokens, request.effort) == ("m", 100, "low")
    assert request.schema == schema_of(SCALE)
    assert [block.shared for block in request.system] == [True]
    [turn] = request.turns
    assert turn.role == "user"
    assert [block.shared for block in turn.blocks] == [False, False, True, False]
    prompt = prompt_of(SCALE, GOLD)
    assert [block.text for block in turn.blocks] == [*(text for _, text in prompt.parts), prompt.instruction]
    assert done.verdict is not None
    assert (done.verdict.judge, done.verdict.model, done.verdict.attempts, done.verdict.cached) == (
        "anthropic",
        "m-1",
        2,
        True,
    )
    assert (done.verdict.prompt_tokens, done.verdict.output_tokens, done.verdict.cost) == (7, 3, 0.75)


def test_graders_of_an_answer_share_their_beginning() -> None:
    """The blocks of one that shows less are the first blocks of one that shows all."""
    judge = ModelJudge(Model(), "j", "m")

    def data(name: str) -> list[str]:
        request = judge.request(prompt_of(GRADERS[name], GOLD), {})
        return [block.text for block in (*request.system, *request.turns[0].blocks[:-1])]

    assert data("claims") == data("rubric") == data("graded")
    assert data("scale") == data("completeness") == data("claims")[:4]  # system, question, gold answer, answer


def test_asked_again() -> None:
    """The earlier verdict is the model's turn, the reason the user's; without a text the reason stands alone."""
    model = Model(("no JSON", "end_turn"), (GOOD, "end_turn"))
    assert values(by_model(model).findings) == {"ScaleGrade": 7.0}
    first, second = model.asked
    assert second.turns[0] == first.turns[0]
    assert [turn.role for turn in second.turns] == ["user", "assistant", "user"]
    assert second.turns[1].blocks[0].text == "no JSON"
    assert "invalid JSON" in second.turns[2].blocks[0].text
    assert second.max_tokens == first.max_tokens

    model = Model(("", "refusal"), (GOOD, "end_turn"))
    assert values(by_model(model).findings) == {"ScaleGrade": 7.0}
    [turn] = model.asked[1].turns
    assert "refused" in turn.blocks[-1].text
    assert model.asked[0].digest != model.asked[1].digest  # a cache doesn't give the refusal again


def test_cut_off() -> None:
    """A verdict that was cut off is asked for anew with twice the room, and nothing else."""
    model = Model(('{"reas', "max_tokens"), (GOOD, "end_turn"))
    assert values(by_model(model, max_tokens=100).findings) == {"ScaleGrade": 7.0}
    first, second = model.asked
    assert (first.max_tokens, second.max_tokens) == (100, 200)
    assert first.turns == second.turns


def test_no_reply_of_the_model() -> None:
    """Its error is the verdict's failure."""
    done = by_model(Model(ModelError("529", attempts=5)))
    assert (done.verdict.failure, done.verdict.attempts) == ("no_reply", 5)


# The user's own ------------------------------------------------------------------------------------------------------


def by_call(call: Any) -> Any:
    """Return what comes of asking a function for a score."""
    return asyncio.run(ask(SCALE, GOLD, CallableJudge(call, "mine:judge")))


def test_functions() -> None:
    """Sync or async, an object or JSON: it gets the whole prompt as a text, and the schema."""
    seen: list[Any] = []

    def sync(prompt: str, schema: dict[str, Any]) -> dict[str, Any]:
        seen.append((prompt, schema))
        return {"reasoning": "r", "score": 7}

    async def later(prompt: str, schema: dict[str, Any]) -> str:
        return GOOD

    class Instance:
        version = 3

        async def __call__(self, prompt: str, schema: dict[str, Any]) -> Any:
            return SCALE.verdict.model_validate_json(GOOD)

    for call in (sync, later, Instance(), lambda prompt, schema: later(prompt, schema)):
        assert values(by_call(call).findings) == {"ScaleGrade": 7.0}
    assert seen == [(prompt_of(SCALE, GOLD).text, schema_of(SCALE))]
    assert CallableJudge(Instance(), "i").version == "3"
    assert CallableJudge(sync, "s").version is None
    assert isinstance(by_call(sync).verdict.judge, str)


@pytest.mark.parametrize("said", [None, 5, "nothing", object(), {"score": 7}, {1: object()}, float("nan")])
def test_functions_that_return_no_verdict(said: Any) -> None:
    """A result that isn't a verdict is a failure, not a crash; the function gets the reason with the second request."""
    prompts = []

    def judge(prompt: str, schema: dict[str, Any]) -> Any:
        prompts.append(prompt)
        return said

    done = by_call(judge)
    assert (done.verdict.failure, len(prompts)) == ("unreadable", 2)
    assert "An earlier verdict couldn't be used:" in prompts[1]
    assert prompts[1].startswith(prompts[0])


def test_functions_that_raise() -> None:
    """Their exceptions become failures; a process that is to end ends."""

    def broken(prompt: str, schema: dict[str, Any]) -> Any:
        raise ValueError("no\nluck")

    done = by_call(broken)
    assert (done.verdict.failure, done.verdict.reason) == (
        "no_reply",
        "the judge mine:judge raised ValueError: no luck",
    )

    def garbled(prompt: str, schema: dict[str, Any]) -> Any:
        raise OSError("no such file: \udcff")  # so Python writes a name that is no UTF-8; no record holds it

    assert by_call(garbled).verdict.reason == "the judge mine:judge raised OSError: no such file: ?"

    def exhausted(prompt: str, schema: dict[str, Any]) -> Any:
        return next(iter(()))  # a thread that raises StopIteration never tells so

    assert by_call(exhausted).verdict.reason == "the judge mine:judge raised StopIteration"

    async def stopped(prompt: str, schema: dict[str, Any]) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        by_call(stopped)


def test_a_function_that_takes_long_holds_nobody_up() -> None:
    """Each of two waits until the other has begun: were they asked one after another, the barrier would break."""
    barrier = threading.Barrier(2)

    def slow(prompt: str, schema: dict[str, Any]) -> str:
        barrier.wait(60)
        return GOOD

    async def both() -> tuple[Judged, Judged]:
        judge = CallableJudge(slow, "slow")
        return await asyncio.gather(ask(SCALE, GOLD, judge), ask(SCALE, GOLD, judge))

    assert [values(one.findings) for one in asyncio.run(both())] == [{"ScaleGrade": 7.0}] * 2


def test_judges_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``module:callable`` is imported; what can't be used as a judge is refused with what to write."""
    (tmp_path / "a_judge_of_mine.py").write_text(
        "def judge(prompt, schema):\n    return {'reasoning': 'r', 'score': 7}\n"
        "def few(prompt):\n    pass\n"
        "number = 3\n"
        "class Kind:\n    pass\n"
    )
    monkeypatch.chdir(tmp_path)
    judge: Judge = load_judge("a_judge_of_mine:judge")
    assert judge.name == "a_judge_of_mine:judge"
    assert values(asyncio.run(ask(SCALE, GOLD, judge)).findings) == {"ScaleGrade": 7.0}
    for text, message in {
        "judge": "names no judge",
        "a_judge_of_mine:": "names no judge",
        "a_judge_of_mine:jugde": "Did you mean judge",
        "a_judge_of_mine:few": "can't be called with a prompt and a schema",
        "a_judge_of_mine:number": "is of type int",
        "a_judge_of_mine:Kind": "is a class",
        "no_such_module_here:judge": "there is no module",
        "./a_judge_of_mine.py:judge": "is a path, and no module",
        "../judges/mine:judge": "is a path, and no module",
    }.items():
        with pytest.raises(InputError, match=message):
            load_judge(text)


# Rules ---------------------------------------------------------------------------------------------------------------


def storefront(run: str, question: str) -> Materials:
    """Return the materials of an answer of the fixture."""
    asked = next(one for one in read_jsonl(STOREFRONT / "questions.jsonl") if one["id"] == question)
    given = next(one for one in read_jsonl(STOREFRONT / "runs" / f"{run}.jsonl") if one["question_id"] == question)
    return materials_of(Case(Question.model_validate(asked), Answer.model_validate(given)), run)


def by_rules(shown: Materials, grader: str) -> Any:
    """Return what the rule-based judge says."""
    return asyncio.run(ask(GRADERS[grader], shown, LexicalJudge()))


@pytest.mark.parametrize(
    ("run", "question", "grade"),
    [
        # "Answers, by example" of fixtures/storefront/README.md. Right:
        ("storefront-graph", "sf-02", "fully_correct"),
        ("storefront-graph-v2", "sf-02", "fully_correct"),
        ("storefront-graph", "sf-22", "fully_correct"),
        ("storefront-graph-v2", "sf-22", "fully_correct"),
        ("storefront-graph-v2", "sf-17", "fully_correct"),
        # The fact of another branch, the wrong repository, another service's value:
        ("storefront-bm25", "sf-17", "wrong"),
        ("storefront-graph", "sf-17", "wrong"),
        ("storefront-graph", "sf-15", "wrong"),
        ("storefront-graph", "sf-25", "wrong"),
        # One fact of three: the overridden value.
        ("storefront-graph", "sf-03", "partially_correct"),
    ],
)
def test_grades_of_the_fixture(run: str, question: str, grade: str) -> None:
    """The grade by rules is what the fixture's README says of the answer."""
    [found] = by_rules(storefront(run, question), "rubric").findings
    assert found.grade == grade
    assert (found.label is None) == (grade == "fully_correct")


@pytest.mark.parametrize(
    ("run", "question"),
    [("storefront-bm25", "sf-09"), ("storefront-graph", "sf-12"), ("storefront-graph-v2", "sf-12")],
)
def test_unsupported_sentences_of_the_fixture(run: str, question: str) -> None:
    """The last sentence, which the README calls unsupported, is an unsupported claim; the first is supported."""
    said = by_rules(storefront(run, question), "claims").verdict
    assert said.claims[-1].support == "UNSUPPORTED"
    assert "is then passed on to" in said.claims[-1].text
    assert said.claims[0].support != "UNSUPPORTED"


@pytest.mark.parametrize(
    ("run", "question", "target"),
    [
        ("storefront-graph", "sf-11", "orders:orders/handlers.py"),
        ("storefront-graph-v2", "sf-12", "schema:tables/customers.sql#customers"),
    ],
)
def test_citations_of_the_fixture(run: str, question: str, target: str) -> None:
    """The citations that the README says aren't among the retrieved chunks are wrong, and for that reason."""
    said = by_rules(storefront(run, question), "claims").verdict
    wrong = [one.target for one in said.citations if one.reason == "not in the retrieved context"]
    assert wrong == [target]


@pytest.mark.parametrize(("second", "faithfulness"), [("It may call `nowhere`.", 1.0), ("It calls `nowhere`.", 0.5)])
def test_hedged_sentences_are_no_claims_of_the_rules(second: str, faithfulness: float) -> None:
    """The unsupported second sentence halves the share of supported claims, unless it is hedged."""
    shown = materials(f"`login` calls `find`. {second}", {"web:x.ts": "login calls find()"})
    values_of = {one.measure: one.value for one in by_rules(shown, "graded").findings}
    assert values_of["Faithfulness"] == faithfulness


def test_edges_of_the_fixture() -> None:
    """A claim names the walked edge that it rests on, and whether gold has it: sf-02, by hand.

    Gold is login to find_customer to customers; check_attempts and login_attempts are no part of it.
    """
    said = by_rules(storefront("storefront-graph", "sf-02"), "claims").verdict
    edges = [(one.edge.relation, one.edge.in_gold) for one in said.claims if one.edge is not None]
    assert edges == [("CALLS", False), ("CALLS", False), ("CALLS", True), ("QUERIES", True)]


@one_fast("run", ["storefront-bm25", "storefront-graph", "storefront-graph-v2"], "every answer of each run", 0)
def test_rules_keep_the_forms(run: str) -> None:
    """Each grader gets a verdict of its form from the rules, the same each time, and every quote occurs."""
    questions = {one["id"]: one for one in read_jsonl(STOREFRONT / "questions.jsonl")}
    for record in read_jsonl(STOREFRONT / "runs" / f"{run}.jsonl"):
        case = Case(Question.model_validate(questions[record["question_id"]]), Answer.model_validate(record))
        if lacking_answer(case) is not None:
            assert record["question_id"] in ("sf-01", "sf-08")
            continue
        shown = materials_of(case, run)
        for name in GRADERS:
            done = by_rules(shown, name)
            assert done.verdict is None or (done.verdict.failure, done.verdict.attempts) == (None, 1)
            if done.verdict is not None:
                assert all(part.occurs for claim in done.verdict.claims for part in claim.evidence)
                assert not any("doesn't occur" in note for note in done.verdict.notes)
            assert done == by_rules(shown, name)


PIECES = st.sampled_from(
    [
        *("`login` calls `find_customer`", "It reads customers", "It may cache", "Perhaps", "x = a[0]", "`", "```\n"),
        *(
            ". ",
            "? ",
            "! ",
            "\n",
            "\n\n",
            " ",
            "[1]",
            "[2, 3]",
            "[9]",
            "[api:auth.py#login]",
            "[x](y)",
            "- ",
            "# ",
            "| ",
        ),
        *("\u200b", "\x00", "。", "ﬁ", "</answer>", "\ud7ff", "\U000e0041", "\r\n", "\u2028", "\x1c", "İ"),
    ]
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)


@examples(120)
@given(TEXTS, TEXTS, TEXTS, st.sampled_from([1, 1000]))
def test_any_text_is_judged(text: str, chunk: str, gold: str, tokens: int) -> None:
    """Whatever the texts are: every grader gets a verdict that fits, every value lies in the bounds of its measure."""
    shown = materials(
        text,
        {"api:auth.py#login": chunk, "api:db.py": "SELECT id FROM customers"},
        [("api:auth.py#login", "CALLS", "api:db.py#find_customer")],
        citations=["api:auth.py#login", "api:db.py", "api:gone.py"],
        gold_answer=gold,
        facts=["login calls find_customer", {"text": f"x{gold}", "repo": "api"}],
        conflicts=["customers count"],
        context_tokens=tokens,
        graph=[
            ("api:auth.py#login", "CALLS", "api:db.py#find_customer"),
            ("api:auth.py#login", text[:900] or "X", "x"),
        ],
    )
    for grader in GRADERS.values():
        done = by_rules(shown, grader.name)
        assert done.verdict is None or (done.verdict.failure, done.verdict.attempts) == (None, 1), done.verdict
        assert [one.measure for one in done.findings] == [*dict.fromkeys(one.measure for one in done.findings)]
        assert {one.measure for one in done.findings} == set(grader.measures)
        for one in done.findings:
            lowest, highest = bounds_of(one.measure)
            assert (one.value is None) == (one.reason is not None)
            assert one.value is None or (lowest or 0.0) <= one.value <= (highest or 1.0)
        # Between our tags stands the answer as it is.
        parts = dict(prompt_of(grader, shown).parts)
        nonce = nonce_of(shown)
        if "answer" not in parts:
            continue
        inner = parts["answer"].removeprefix(f"<answer-{nonce}>\n").removesuffix(f"\n</answer-{nonce}>")
        assert re.sub(rf"</?s\d+-{nonce}>", "", inner) == text


@pytest.mark.parametrize("text", ["", "?", "It may call x. Perhaps not.", "```\ncode\n```", "What is it?", "# Title"])
def test_rules_on_answers_without_claims(text: str) -> None:
    """An answer that states nothing has no claim, and no grader fails on it."""
    shown = materials(text, {"api:a.py": "x"}, gold_answer="It calls x.", facts=["it calls x_y"])
    assert reasons(by_rules(shown, "claims").findings)["Groundedness"] == "the answer makes no claim"
    for name in GRADERS:
        done = by_rules(shown, name)
        assert done.verdict is None or done.verdict.failure is None


def test_rules_for_a_rubric_of_ones_own() -> None:
    """There are none: a failure that says to ask a model."""
    import dataclasses

    own = dataclasses.replace(SCALE, name="tone", instruction="Judge the tone.")
    done = asyncio.run(ask(own, GOLD, LexicalJudge()))
    assert done.verdict is not None
    assert (done.verdict.failure, done.verdict.verdict) == ("no_reply", None)
    assert "no rules for 'tone'" in str(done.verdict.reason)


def test_verdicts_are_json() -> None:
    """A verdict's record can be written and read back as it is."""
    said = by_rules(storefront("storefront-graph", "sf-12"), "claims").verdict
    line = said.model_dump_json(exclude_none=True)
    assert type(said).model_validate(json.loads(line)) == said
