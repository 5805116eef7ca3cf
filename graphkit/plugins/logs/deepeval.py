"""Test cases of deepeval: a test run, the result of ``evaluate()``, and a data set that was saved with its outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from graphkit.plugins.logs.payloads import at, count_unread, objects_of, plain_key, question_id
from graphkit.plugins.logs.text_contexts import chunks_of
from graphkit.plugins.logs.tool_calls import Trail
from graphkit.readers.accounting import renamed
from graphkit.readers.json_values import identifier, number, object_of, text, whole
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, UnreadableLogError, Values

#: The keys of a test case that are read or hold gold and scores, in lower case and without signs.
_READ = ("name", "input", "actualoutput", "retrievalcontext", "toolscalled", "completiontime", "tokencost")
_TOKENS = ("inputtokencount", "outputtokencount", "metadata", "additionalmetadata")
_GOLD = ("expectedoutput", "context", "expectedtools", "metricsdata", "metrics", "success", "runduration")
_OF_EVALUATION = ("evaluationcost", "order", "conversational", "multimodal", "sourcefile", "comments", "tags", "flaky")
_BY_VERSION = (
    "index",
    "turns",
    "classifications",
    "trace",
    "imagesmapping",
    "expectations",
    "traceid",
    "id",
    "customcolumnkeyvalues",
)
_UNREAD = frozenset((*_GOLD, *_OF_EVALUATION, *_BY_VERSION))
_KNOWN = _UNREAD | {*_READ, *_TOKENS}

#: The keys by which a list of test cases is known, and where a file may hold a test run.
_LISTS, _CONVERSATIONS = ("testcases", "testresults"), "conversationaltestcases"
_RUNS = ("testrundata", "testrun")

_UNASKED = "conversational test cases without a turn of the user"

GOLDENS = "these are goldens of deepeval: gold without an actual output, rather than what a system answered"
AS_GOLD = "Make gold of them: graphkit init DATASET FILE --map gold_answer=expected_output --map relevant_texts=context"


class DeepevalReader(Reader):
    """Reads test cases, whose keys are in camel case or with underscores."""

    name = "deepeval"
    priority = 111
    beside = ("metricsData", "metrics_data")  # scores, which are counted once
    title = "deepeval: a test run, the result of evaluate(), or a saved data set with outputs"
    lacks = (
        "Test cases have no traversal but that of the tools that were called, and contexts as texts without ids.",
        "Values of metrics aren't read; the duration of a test is that of its metrics.",
        "A conversational test case is a session: each turn of the user is its question of that number or text.",
    )

    def recognises(self, value: Any) -> bool:
        return _cases(value) is not None or _is_case(_plain(value))

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        first, answered = "", False
        for where, value in values:
            first = first or where
            cases = _cases(value)
            if cases is None and not _is_case(_plain(value)):
                remedy = "Write the result of evaluate(): result.model_dump_json(), or name the test run's file."
                raise UnreadableLogError("this is no test case of deepeval", where=where, remedy=remedy)
            for place, case in enumerate(cases if cases is not None else [value]):
                of_case = where if cases is None else f"{where} case {place + 1}"
                for answer in _answers(of_case, case, options, unread):
                    answered = answered or answer.answer is not None or answer.retrieved is not None
                    yield answer
        if first and not answered:
            if unread[_UNASKED]:
                remedy = "Save the test cases after the simulation, with their turns."
                raise UnreadableLogError(
                    "its conversational test cases have no turn of the user", where=first, remedy=remedy
                )
            raise UnreadableLogError(GOLDENS, where=first, remedy=AS_GOLD)


def _plain(value: Any) -> dict[str, Any]:
    """Return an object with its keys in lower case and without signs."""
    return renamed(object_of(value), plain_key)


def _cases(value: Any) -> list[dict[str, Any]] | None:
    """Return the test cases of a test run or a result, also conversational ones; None if there is no list of them."""
    plain = _plain(value)
    found = []
    for held in (plain, *(_plain(plain.get(key)) for key in _RUNS)):
        for key in (*_LISTS, _CONVERSATIONS):
            if isinstance(held.get(key), list) and all(isinstance(one, dict) for one in held[key]):
                found += held[key]
    return found if any(_plain(one).keys() & {"metricsdata", "actualoutput", "turns"} for one in found) else None


def _is_case(plain: Mapping[str, Any]) -> bool:
    """Return whether an object has the input of a test case or a golden, and two of its other fields."""
    if not isinstance(plain.get("input"), str) or not plain.keys() & {"actualoutput", "expectedoutput"}:
        return False
    others = {"retrievalcontext", "context", "metricsdata", "expectedoutput", "toolscalled"} & plain.keys()
    return len(others) >= 2 and plain.keys() <= _KNOWN


def _answers(where: str, case: dict[str, Any], options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
    """Yield the answer of a test case, or one to each turn of the user in a conversational one."""
    plain = _plain(case)
    if isinstance(plain.get("input"), str):
        yield _answer(where, case, options, unread)
        return
    turns = list(map(_plain, objects_of(plain.get("turns"))))
    asked = [place for place, turn in enumerate(turns) if turn.get("role") == "user"]
    if not asked:
        unread[_UNASKED] += 1
    around = {key: value for key, value in case.items() if plain_key(key) not in ("turns", "tags")}
    for place, (begin, end) in enumerate(pairwise([*asked, len(turns)]), 1):
        said = turns[begin + 1 : end]
        texts = [one["content"] for one in said if isinstance(one.get("content"), str)]
        contexts = [one["retrievalcontext"] for one in said if isinstance(one.get("retrievalcontext"), list)]
        tools = [one["toolscalled"] for one in said if isinstance(one.get("toolscalled"), list)]
        given = {"input": turns[begin].get("content"), "actual_output": texts[-1] if texts else None}
        given["retrieval_context"] = [one for some in contexts for one in some] if contexts else None
        given["tools_called"] = [one for some in tools for one in some] if tools else None
        answer = _answer(f"{where} turn {place}", {**around, **given}, options, unread)
        answer.turn = place
        yield answer


def _answer(where: str, case: dict[str, Any], options: ReadOptions, unread: Counter[str]) -> LoggedAnswer:
    plain = _plain(case)
    if options.question_key is not None:
        name = identifier(at(case, options.question_key))
        if name is None:
            what = f"the test case has no question's id at {options.question_key!r}"
            raise UnreadableLogError(what, where=where, remedy="Correct --question-key.")
    else:
        name = question_id(plain.get("additionalmetadata"), plain.get("metadata")) or text(plain.get("name"))
    answer = LoggedAnswer(where, name, text(plain.get("input")))
    if plain.get("toolscalled") is not None:
        trail = Trail()
        for place, call in enumerate(objects_of(plain["toolscalled"])):
            given = _plain(call)
            trail.called(given.get("name"), given.get("inputparameters"), place)
            if given.get("output") is not None:
                trail.returned(given["output"], place)
        trail.into(answer, tools=True)
    if isinstance(plain.get("actualoutput"), str):
        answer.answer = plain["actualoutput"]
    if plain.get("retrievalcontext") is not None:
        chunks = chunks_of(plain["retrievalcontext"], answer.notes)
        if chunks is None:
            unread["retrieval_context"] += 1
        answer.retrieved = chunks if chunks is not None else answer.retrieved
    seconds = number(plain.get("completiontime"))
    answer.latency_ms = None if seconds is None else seconds * 1000
    answer.cost = number(plain.get("tokencost"))
    answer.prompt_tokens = whole(plain.get("inputtokencount"))
    answer.output_tokens = whole(plain.get("outputtokencount"))
    count_unread(case, (key for key in case if plain_key(key) in {*_READ, *_TOKENS, *_OF_EVALUATION}), unread)
    return answer
