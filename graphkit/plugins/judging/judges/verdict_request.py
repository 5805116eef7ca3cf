"""Asks a judge for a verdict: once, and once more with the reason if the verdict can't be used."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from graphkit.plugins.judging.judges.contract import (
    Finding,
    Grader,
    Judge,
    Opinion,
    Reading,
    UnusableVerdictError,
    model_of,
)
from graphkit.plugins.judging.judges.forms import unscored
from graphkit.plugins.judging.judges.materials import Materials
from graphkit.plugins.judging.judges.prompts import TRUNCATED, Prompt, parts_of, text_of
from graphkit.plugins.judging.llm.bodies import json_fault
from graphkit.plugins.judging.llm.requests import ModelError, Usage
from graphkit.plugins.judging.verdicts import Verdict
from graphkit.records.json_once import RepeatedKeyError, strict_json
from graphkit.records.words import shortened

#: How many times a judge is asked for one verdict.
TRIES = 2

#: Pydantic's error types for a number outside its bounds.
_OUT_OF_RANGE = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number"})

#: Limits of the complaint that a judge is sent, and that a verdict keeps.
_MOST_PROBLEMS = 5
_LONGEST_REASON = 1000


@dataclass(frozen=True, slots=True)
class Judged:
    """The findings of one grader about one answer, and the verdict; None if no judge was asked.

    ``requests`` are the digests of the requests whose replies made it a failure. If there was no second reply, the
    first isn't among them: the next grading continues from there.
    """

    findings: tuple[Finding, ...]
    verdict: Verdict | None = None
    requests: tuple[str, ...] = ()


def prompt_of(grader: Grader, materials: Materials) -> Prompt:
    """Return the prompt of a grader about an answer."""
    parts = parts_of(materials, grader.shows, grader.examples)
    return Prompt(
        grader.name,
        prompt_hash(grader),
        text_of(grader.system),
        parts,
        _instruction(grader),
        materials,
        trial=materials.trial,
    )


def _instruction(grader: Grader) -> str:
    return grader.instruction if grader.instruction is not None else text_of(grader.name)


@lru_cache(maxsize=256)
def prompt_hash(grader: Grader) -> str:
    """Return the SHA-256 of a grader's words, the parts that it shows, and its form, whatever the answer."""
    asked = [text_of(grader.system), _instruction(grader), grader.shows, schema_of(grader), *grader.examples]
    words = json.dumps(asked, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=256)
def schema_of(grader: Grader) -> Mapping[str, Any]:
    """Return the JSON Schema of a grader's verdict."""
    return grader.verdict.model_json_schema()


async def ask(grader: Grader, materials: Materials, judge: Judge) -> Judged:
    """Ask a judge about an answer, and check its verdict; one that can't be used gives no value.

    No judge is asked if the grader lacks something or needs none. A ``ModelError`` is kept as a failure.
    """
    if (lack := grader.lacks(materials)) is not None:
        return Judged(unscored(grader.measures, lack))
    judged = await _judged(grader, materials, judge)
    known, verdict = grader.computed(materials), judged.verdict
    scored = {one.measure for one in judged.findings if one.value is not None}
    computed = {one.measure: one for one in known.findings if one.measure not in scored}
    others = (one for one in judged.findings if one.measure not in computed)
    if verdict is not None and verdict.failure is not None and known.content is not None:
        verdict = verdict.model_copy(update={"verdict": dict(known.content)})
    return replace(judged, findings=(*others, *computed.values()), verdict=verdict)


async def _judged(grader: Grader, materials: Materials, judge: Judge) -> Judged:
    if (reading := grader.unasked(materials)) is not None:
        if reading.content is None:
            return Judged(tuple(reading.findings))
        unasked = _verdict(grader, materials, judge, prompt_of(grader, materials), [], dict(reading.content), reading)
        return Judged(tuple(reading.findings), unasked.model_copy(update={"model": model_of(judge)}))
    prompt = prompt_of(grader, materials)
    opinions: list[Opinion] = []
    failure, reason, extra_attempts = "unreadable", "", 0
    blamed: list[str] = []
    while len(opinions) < TRIES:
        try:
            opinion = await judge.judge(prompt, schema_of(grader))
        except ModelError as error:
            # The message of a server or an exception may have any length, and hold characters that no file can.
            reason = shortened(str(error).encode(errors="replace").decode(), _LONGEST_REASON)
            failure, extra_attempts = error.label, error.attempts
            blamed.clear()
            break
        opinions.append(opinion)
        try:
            content, reading = read(grader, materials, opinion)
        except _FailureError as error:
            failure, reason = error.label, shortened(error.what, _LONGEST_REASON)
            blamed += [opinion.request] if opinion.request is not None else []
            prompt = replace(prompt, unusable=(*prompt.unusable, (opinion.text, reason)))
            continue
        verdict = _verdict(grader, materials, judge, prompt, opinions, content, reading)
        return Judged(tuple(reading.findings), verdict)
    verdict = _verdict(grader, materials, judge, prompt, opinions, None, Reading(()))
    update = {"failure": failure, "reason": reason, "attempts": verdict.attempts + extra_attempts}
    update |= {"cost": None} if extra_attempts and not opinions else {}  # the request may have been charged
    verdict = verdict.model_copy(update=update)
    return Judged(unscored(grader.measures, f"{failure}: {reason}"), verdict, tuple(blamed))


class _FailureError(Exception):
    def __init__(self, label: str, what: str) -> None:
        super().__init__(what)
        self.label = label
        self.what = what


def read(grader: Grader, materials: Materials, opinion: Opinion) -> tuple[dict[str, Any], Reading]:
    """Return a verdict as JSON, and its reading; raise a _FailureError if the verdict can't be used."""
    if opinion.stop_reason in ("max_tokens", "model_context_window_exceeded"):
        raise _FailureError("truncated", TRUNCATED)
    if opinion.stop_reason == "refusal":
        raise _FailureError("refused", "the judge refused to give a verdict")
    fenced = _FENCED.fullmatch(opinion.text.strip())
    text = fenced[1] if fenced else opinion.text
    try:
        verdict = grader.verdict.model_validate_json(text)
        strict_json(text)
    except ValidationError as error:
        label = "out_of_range" if all(one["type"] in _OUT_OF_RANGE for one in error.errors()) else "unreadable"
        raise _FailureError(label, complaint(error, text)) from None
    except RepeatedKeyError as error:
        raise _FailureError("unreadable", str(error)) from None
    try:
        reading = grader.read(verdict, materials)
    except UnusableVerdictError as error:
        raise _FailureError("out_of_range", str(error)) from None
    content = verdict.model_dump(mode="json") if reading.content is None else dict(reading.content)
    return content, reading


def _json_fault(text: str) -> str:
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"invalid JSON: {json_fault(error)}"
    return "invalid JSON: it holds half a character, or a number that isn't finite"


def complaint(error: ValidationError, text: str) -> str:
    """Return how a reply breaks its form, without quoting it."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    if details[0]["type"] == "json_invalid":
        return _json_fault(text)
    found = [f"{shortened('.'.join(map(str, one['loc']))) or 'the verdict'}: {one['msg']}" for one in details]
    more = f" (and {len(found) - _MOST_PROBLEMS} more)" if len(found) > _MOST_PROBLEMS else ""
    return "; ".join(found[:_MOST_PROBLEMS]) + more


def _verdict(
    grader: Grader,
    materials: Materials,
    judge: Judge,
    prompt: Prompt,
    opinions: list[Opinion],
    content: dict[str, Any] | None,
    reading: Reading,
) -> Verdict:
    """Return the record of a verdict, with the usage and cost of all tries."""
    last = opinions[-1] if opinions else None
    used = [one.usage for one in opinions if one.usage is not None]
    usage = sum(used, Usage()) if used and len(used) == len(opinions) else None
    costs = [one.cost for one in opinions]
    whole = reading.findings[0] if len(reading.findings) == 1 else Finding("", None)
    known = [cost for cost in costs if cost is not None]
    return Verdict(
        run=materials.run,
        question=materials.question_id,
        grader=grader.name,
        judge=judge.name,
        model=last.model if last else None,
        prompt_hash=prompt.digest,
        verdict=content,
        grade=whole.grade,
        label=whole.label,
        explanation=whole.explanation,
        confidence=whole.confidence,
        claims=reading.claims,
        gold_claims=reading.gold_claims,
        citations=reading.citations,
        left_out=materials.left_out,
        notes=reading.notes,
        fall=reading.fall,
        stop_reason=last.stop_reason if last else None,
        attempts=sum(one.attempts for one in opinions),
        prompt_tokens=usage.prompt_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        cost=math.fsum(known) if len(known) == len(costs) else None,  # nothing, if nobody was asked
        cached=bool(opinions) and all(one.cached for one in opinions),
    )


_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)
