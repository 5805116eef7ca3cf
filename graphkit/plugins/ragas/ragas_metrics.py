"""Runs RAGAS's metrics on graphkit's records, and returns their values as scores.

Metrics use models through graphkit's client with its cache, budget and local server, so the versions of RAGAS's own
clients don't matter.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import os
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Real
from typing import Any

from graphkit.errors import InputError, did_you_mean
from graphkit.plugins.judging.grading.judge_setup import JudgeOptions, opened_model
from graphkit.plugins.judging.judges.known_judges import backend_of
from graphkit.plugins.judging.judges.verdict_request import complaint
from graphkit.plugins.judging.llm.requests import Block, Model, ModelError, Reply, Request, Turn, Usage
from graphkit.plugins.ragas.ragas_samples import COLUMNS, NAN, RAGAS, RunSamples, Sample, measure_name
from graphkit.records.scores import LARGEST, Score
from graphkit.records.unanswered import failed

#: The versions that were tested together; the extra ``ragas`` installs them.
VERSIONS = (
    "ragas==0.4.3",
    "langchain-community>=0.3.31,<=0.4.1",
    "langchain-core>=1.7,<2",
    "langchain-openai>=1.7,<2",
    "instructor>=1.17,<2",
    "openai>=3.3,<4",
    "rapidfuzz>=3.14,<4",
)

#: Metrics of the older kind, without a model and a successor in ``ragas.metrics.collections``.
_FORMER = (
    *("IDBasedContextPrecision", "IDBasedContextRecall"),
    *("NonLLMContextPrecisionWithReference", "NonLLMContextRecall"),
)

#: The limit of tokens in a reply. A truncated reply is requested again with twice the limit.
MAX_TOKENS = 4096

#: The number of attempts to get a valid reply.
_TRIES = 2

#: The replies that the running metric received.
_used: ContextVar[list[Reply]] = ContextVar("used")


@dataclass(frozen=True)
class Metric:
    """A metric of RAGAS, of either kind: its name, its required columns, its function, and the model that it asks."""

    name: str
    needs: tuple[str, ...]
    score: Callable[[Sample], Awaitable[Any]]
    model: str | None = None


def library() -> Any:
    """Return the library.

    Raises
    ------
    InputError
        RAGAS or a suitable version of its dependencies isn't installed.
    """
    # Without this, the library sends usage statistics over the network.
    os.environ.setdefault("RAGAS_DO_NOT_TRACK", "true")
    try:
        with _quiet():
            import ragas
            import ragas.metrics.collections
    except Exception as error:  # unsuitable versions may raise any error
        raise InputError(
            f"RAGAS can't be imported: {error}",
            remedy="Install versions that work together by pip install 'graphkit-eval[ragas]' (in a separate "
            f"environment, since they block newer versions of other packages): {', '.join(VERSIONS)}.",
        ) from None
    return ragas


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the library's deprecation warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def metrics_of(
    names: Sequence[str], model: Model | None = None, model_name: str | None = None, service: str | None = None
) -> list[Metric]:
    """Return metrics by the names of their classes, such as ``Faithfulness`` or ``IDBasedContextRecall``.

    ``service`` is that of the model; None for the Anthropic API.

    Raises
    ------
    InputError
        A name is unknown, or a metric needs something that graphkit lacks: embeddings, a rubric, tool calls, or a model
        if none is given.
    """
    ragas = library()
    known = [name for name in ragas.metrics.collections.__all__ if name not in ("BaseMetric", "DistanceMeasure")]
    found = []
    for name in names:
        if name in _FORMER:
            with _quiet():
                found.append(of(getattr(ragas.metrics, name)()))
        elif name in known:
            kind = getattr(ragas.metrics.collections, name)
            wanted = _required(kind)
            lacking = [one for one in wanted if one != "llm"]
            if lacking:
                raise InputError(
                    f"RAGAS's {name} needs {' and '.join(lacking)}, which graphkit lacks",
                    remedy="Run it with RAGAS on the output of `graphkit ragas export`, and read its results by "
                    "`graphkit ragas scores`.",
                )
            if "llm" in wanted and (model is None or model_name is None):
                raise InputError(f"RAGAS's {name} asks a model", remedy="Name one.")
            asked = {"llm": asking(model, model_name, service)} if "llm" in wanted and model and model_name else {}
            try:
                metric = kind(**asked)
            except (ValueError, ImportError) as error:
                raise InputError(f"RAGAS's {name} can't be created: {error}") from None
            of_service = model_name if service is None else f"{service}:{model_name}"
            found.append(of(metric, of_service if asked else None))
        else:
            every = (*known, *_FORMER)
            remedy = f"{did_you_mean(name, every)}There are: {', '.join(every)}."
            raise InputError(f"RAGAS {ragas.__version__} has no metric {name!r}", remedy=remedy)
    return found


def asks_a_model(names: Sequence[str]) -> bool:
    """Return whether a metric with one of these names asks a model."""
    collections = library().metrics.collections
    return any("llm" in _required(getattr(collections, name)) for name in names if name in collections.__all__)


def _required(call: Any) -> list[str]:
    """Return the names of a call's required parameters."""
    return [
        one.name
        for one in inspect.signature(call).parameters.values()
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]


def of(metric: Any, model: str | None = None) -> Metric:
    """Return a metric object of RAGAS, which you may have set up yourself, as graphkit runs it.

    Raises
    ------
    InputError
        It needs columns that a run lacks, such as tool calls.
    """
    former = hasattr(metric, "single_turn_ascore")
    if former:
        columns = metric.required_columns.get("SINGLE_TURN", set())
        needs = sorted(column for column in columns if not column.endswith(":optional"))
    else:
        needs = _required(metric.ascore)
    foreign = [column for column in needs if column not in COLUMNS]
    if foreign:
        raise InputError(f"RAGAS's {metric.name} needs {' and '.join(foreign)}, which the record of a run lacks")

    async def score(sample: Sample) -> Any:
        columns = sample.columns()
        if former:
            from ragas import SingleTurnSample

            return await metric.single_turn_ascore(SingleTurnSample(**columns))
        takes = inspect.signature(metric.ascore).parameters
        return (await metric.ascore(**{name: columns[name] for name in COLUMNS if name in takes})).value

    return Metric(metric.name, tuple(needs), score, model)


def asking(model: Model, name: str, service: str | None = None) -> Any:
    """Return a model in the form that RAGAS's metrics use; ``service`` as in :func:`metrics_of`."""
    from pydantic import BaseModel, ValidationError
    from ragas.llms.base import InstructorBaseRagasLLM

    class Asking(InstructorBaseRagasLLM):  # type: ignore[misc]
        def generate(self, prompt: str, response_model: type[BaseModel]) -> BaseModel:
            return asyncio.run(self.agenerate(prompt, response_model))

        async def agenerate(self, prompt: str, response_model: type[BaseModel]) -> BaseModel:
            turns: tuple[Turn, ...] = (Turn("user", (Block(prompt),)),)
            room = MAX_TOKENS
            for tries_left in reversed(range(_TRIES)):
                schema = response_model.model_json_schema()
                reply = await model.ask(Request(name, (), turns, schema, room, service=service))
                _used.get([]).append(reply)
                try:
                    return response_model.model_validate_json(reply.text)
                except ValidationError as error:
                    wrong = complaint(error, reply.text)
                    if not tries_left:
                        raise ModelError(f"the reply doesn't fit: {wrong}", "unreadable") from None
                if reply.stop_reason == "max_tokens":
                    room *= 2
                elif reply.text.strip():
                    again = f"That can't be used: {wrong}. Reply with JSON of the schema alone."
                    turns = (turns[0], Turn("assistant", (Block(reply.text),)), Turn("user", (Block(again),)))
            raise AssertionError  # the last try returns or raises

    return Asking()


async def scores_by_model(
    run: RunSamples, names: Sequence[str], judge: JudgeOptions, notify: Callable[[str], None] = lambda _: None
) -> list[Score]:
    """Return the scores of metrics by their names, which ask the model of a judge if they need one.

    Parameters
    ----------
    judge
        The model with its file of replies, prices and limits; it isn't opened for metrics that ask none.
    notify
        Called with each note about the model.

    Raises
    ------
    InputError
        RAGAS isn't there, a metric can't be run, or the model can't be asked.
    """
    if not asks_a_model(names):
        return await scores_of(run, metrics_of(names), judge.concurrency)
    async with opened_model(judge, notify=notify, user="this metric of RAGAS") as opened:

        def cost(reply: Reply) -> float | None:
            return 0.0 if reply.cached else opened.prices.cost(judge.model_name, reply.usage)

        backend = backend_of(judge.judge)
        service = None if backend is None else backend.service
        metrics = metrics_of(names, opened.model, judge.model_name, service)
        return await scores_of(run, metrics, judge.concurrency, cost)


async def scores_of(
    run: RunSamples,
    metrics: Sequence[Metric],
    concurrency: int = 4,
    cost: Callable[[Reply], float | None] = lambda _: None,
) -> list[Score]:
    """Return a score for each answer and each metric, with a reason if it has no value.

    Parameters
    ----------
    cost
        Returns the cost of a reply, if known.
    """
    version = library().__version__
    places = asyncio.Semaphore(concurrency)

    async def one(sample: Sample, metric: Metric) -> Score:
        async with places:
            return await _score(run.run, sample, metric, version, cost)

    scores = await asyncio.gather(*(one(sample, metric) for sample in run.samples for metric in metrics))
    for question, error in run.failed.items():
        scores += [_blank(run.run, question, metric, version, failed(error)) for metric in metrics]
    return scores


async def _score(
    run: str, sample: Sample, metric: Metric, version: str, cost: Callable[[Reply], float | None]
) -> Score:
    used: list[Reply] = []
    token = _used.set(used)
    label = value = None
    try:
        columns = sample.columns()
        lacking = [name for name in metric.needs if columns[name] is None]
        if lacking:
            reason: str | None = f"the answer has no {' and no '.join(lacking)}"
        else:
            with _quiet():
                value, reason = _value(await metric.score(sample))
    except ModelError as error:
        reason, label = f"the model's reply is unusable for RAGAS: {error}", error.label
    except Exception as error:  # any error of the library leaves one answer unscored, and the others go on
        reason = f"RAGAS failed: {type(error).__name__}: {error}"
    finally:
        _used.reset(token)
    blank = _blank(run, sample.question_id or "", metric, version, reason)
    return blank.model_copy(update={"value": value, "label": label, **_spent(used, cost)})


def _value(given: Any) -> tuple[float | None, str | None]:
    if not isinstance(given, Real):  # numpy's numbers are
        return None, f"RAGAS returned no number: {str(given)[:100]}"
    value = float(given)
    if math.isnan(value):
        return None, NAN
    return (value, None) if abs(value) <= LARGEST else (None, f"RAGAS returned {value}")


def _blank(run: str, question: str, metric: Metric, version: str, reason: str | None) -> Score:
    return Score(
        run=run,
        question=question,
        measure=measure_name(metric.name),
        value=None,
        reason=reason,
        grader=RAGAS,
        version=version if metric.model is None else f"{version} {metric.model}",
    )


def _spent(replies: Sequence[Reply], cost: Callable[[Reply], float | None]) -> Mapping[str, Any]:
    if not replies:
        return {}
    counts = [reply.usage for reply in replies if reply.usage is not None]
    usage = sum(counts, Usage()) if len(counts) == len(replies) else None
    costs = [cost(reply) for reply in replies]
    known = [one for one in costs if one is not None]
    return {
        "prompt_tokens": None if usage is None else usage.prompt_tokens,
        "output_tokens": None if usage is None else usage.output_tokens,
        "cost": math.fsum(known) if len(known) == len(costs) else None,
    }
