"""Noninterference: what a principal may not read has no influence on a system that filters each hop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphkit.plugins.access.twins import compared
from graphkit.records.models import Answer
from tests.helpers.cli import Row, inside, write_lines

SYSTEMS = '''
import itertools, json

counter = itertools.count()


def edges(context):
    with (context.dataset / "edges.jsonl").open() as stream:
        return [json.loads(line) for line in stream]


def may_read(node):
    return not node.startswith("hr:")


def walked(question, every, follows):
    """Follow edges from the node that the question names, and return all steps."""
    node, steps = question.question, []
    while following := [one for one in every if one["source"] == node and follows(one)]:
        step = following[0]
        steps.append([step["source"], step["relation"], step["target"]])
        node = step["target"]
    return steps


def at_the_end(question, context):
    """Walk everywhere, and drop forbidden steps from what is shown."""
    steps = walked(question, edges(context), lambda one: True)
    shown = [one for one in steps if may_read(one[0]) and may_read(one[2])]
    return {"answer": "It leads to " + steps[-1][2] if may_read(steps[-1][2]) else "Nowhere.", "traversal": shown}


def each_hop(question, context):
    """Follow only edges between nodes that may be read."""
    steps = walked(question, edges(context), lambda one: may_read(one["target"]))
    return {"answer": f"It leads to {steps[-1][2]}" if steps else "Nowhere.", "traversal": steps}


def by_chance(question, context):
    return f"answer {next(counter)}"


def in_other_words(question, context):
    """Walk as each_hop does, and answer in words that vary."""
    return each_hop(question, context) | {"answer": f"answer {next(counter)}"}


kept = []


def keeps_the_first(question, context):
    """Read the graph once, whichever it is, and then never again."""
    kept.extend([] if kept else edges(context))
    return {"answer": str(len(kept)), "traversal": []}


def by_own_fields(question, context):
    """Read a field of its own of each edge that it follows, and of the artifact that it names."""
    weights = sum(one["weight"] for one in edges(context) if may_read(one["source"]) and may_read(one["target"]))
    with (context.dataset / "artifacts.jsonl").open() as stream:
        [text] = [one["text"] for one in map(json.loads, stream) if one["id"] == question.question]
    return f"{text} {weights}"


def file_beside(question, context):
    """Read a file that isn't part of the graph."""
    return each_hop(question, context) | {"answer": (context.dataset / "vectors.bin").read_text()}


def turns(question, context):
    """Walk at the first turn, and repeat that answer at the second; say at which commit of its stack api was read."""
    if context.history:
        [[asked, record]] = context.history
        return {"answer": f"{asked.id}: {record.answer}", "abstained": not context.dataset}
    return f"{at_the_end(question, context)['answer']} {context.commits}"


def without_context(question):
    return "It leads to api:z."


def blank(question, context):
    return {"answer": "  ", "traversal": []}
'''


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """Two questions: from web:a the first way leads through hr to api:z, a second one to api:y; web:b knows one way."""
    edges = [("web:a", "hr:m"), ("hr:m", "api:z"), ("web:a", "api:y"), ("web:b", "api:x")]
    records: list[Row] = [{"source": one, "relation": "CALLS", "target": two} for one, two in edges]
    write_lines(tmp_path / "data" / "edges.jsonl", records)
    write_lines(tmp_path / "data" / "questions.jsonl", [{"id": one, "question": f"web:{one}"} for one in "ab"])
    write_lines(tmp_path / "data" / "access.jsonl", [{"principal": "web-team", "allow": ["web:*", "api:*"]}])
    (tmp_path / "filters.py").write_text(SYSTEMS)
    return tmp_path


def test_a_filter_at_the_end_is_caught(world: Path) -> None:
    """It shows nothing forbidden, but over the allowed graph it leads to api:y instead of api:z."""
    options = ("--as", "web-team", "--twin", "--system", "late=filters:at_the_end")
    found = inside("run", "data", *options, cwd=world, code=1)
    first = "walk, place 1: nothing over the whole graph, web:a -CALLS-> api:y without what is forbidden"
    assert f"influence  late a: {first}" in found.out
    assert "late: 2 questions over both graphs, 1 the same, 1 influenced by what is forbidden, 0 by chance" in found.out
    assert "what is forbidden had an influence on 1 of 2 questions" in found.err
    assert not (world / "data" / "runs").exists()


def test_a_filter_of_each_hop_is_not_caught(world: Path) -> None:
    """It never learns of hr, so both graphs give the same walks and answers."""
    options = ("--as", "web-team", "--twin", "--system", "hop=filters:each_hop", "--json")
    found = inside("run", "data", *options, cwd=world, code=0).objects()
    assert [(one["question"], one["outcome"], one["difference"]) for one in found] == [
        ("a", "same", None),
        ("b", "same", None),
    ]


def test_fields_of_the_users_own_are_in_both_graphs(world: Path) -> None:
    """A system that reads them of what it may read answers alike; one that lacks a file over one graph failed there."""
    edges = [("web:a", "hr:m", 4), ("hr:m", "api:z", 2), ("web:b", "api:x", 1)]
    records: list[Row] = [{"source": one, "target": two, "relation": "CALLS", "weight": it} for one, two, it in edges]
    write_lines(world / "data" / "edges.jsonl", records)
    nodes: list[Row] = [{"id": one, "text": f"text of {one}"} for one in ("web:a", "web:b", "hr:m", "api:x", "api:z")]
    write_lines(world / "data" / "artifacts.jsonl", nodes)
    options = ("--as", "web-team", "--twin", "--system", "own=filters:by_own_fields")
    assert "2 the same, 0 influenced" in inside("run", "data", *options, cwd=world, code=0).out
    (world / "data" / "vectors.bin").write_text("v")
    options = ("--as", "web-team", "--twin", "--system", "file=filters:file_beside")
    found = inside("run", "data", *options, cwd=world, code=1)
    assert "file b: answer: v over the whole graph, failed (FileNotFoundError) without" in found.out


def test_a_failed_call_is_compared() -> None:
    """That a call failed over the whole graph alone tells of what is forbidden."""
    whole, part = (
        [Answer.model_validate({"run": "r", "question_id": "q", "tool_calls": [{"name": "read", "failed": one}]})] * 2
        for one in (True, False)
    )
    assert compared(whole, part) == (
        "influence",
        "results, place 1: read {}: failed  over the whole graph, read {}:  without what is forbidden",
    )


def test_a_conversation_has_the_turns_over_the_same_graph(world: Path) -> None:
    """The second turn repeats what the first one learnt over that graph; both get the commits of their stack."""
    asked: list[Row] = [
        {"id": one, "question": "web:a", "session": "s", "turn": turn, "stack": "now"}
        for turn, one in ((1, "a"), (2, "b"))
    ]
    write_lines(world / "data" / "questions.jsonl", asked)
    stack: list[Row] = [{"id": "now", "compatible": True, "commits": {"api": "1" * 40, "web": "2" * 40}}]
    write_lines(world / "data" / "compatibility.jsonl", stack)
    options = ("--as", "web-team", "--twin", "--system", "x=filters:turns", "--json")
    one, two = inside("run", "data", *options, cwd=world, code=1).objects()
    assert one["difference"].startswith("answer: It leads to api:z {'api': '1111")
    assert two["difference"].startswith("answer: a: It leads to api:z {'api': '1111")
    assert "a: It leads to api:y {'api'" in two["difference"]


def test_limits_hold_over_both_graphs(world: Path) -> None:
    """Two questions are asked twice over two graphs: eight calls, as --dry-run says; after seven it stops."""
    options = ("--as", "web-team", "--twin", "--system", "hop=filters:each_hop")
    counted = inside("run", "data", *options, "--dry-run", cwd=world, code=0).out
    assert "hop: 8 calls over both graphs" in counted
    repeated = inside("run", "data", *options, "--dry-run", "--repeat", "3", "--json", cwd=world, code=0).object()
    assert (repeated["calls"], repeated["runs"]["hop@2"]["calls"]) == (12, 4)
    inside("run", "data", *options, "--max-calls", "8", cwd=world, code=0)
    stopped = inside("run", "data", *options, "--max-calls", "7", cwd=world, code=1)
    assert "stopped by --max-calls 7 before each question was asked over both graphs" in " ".join(stopped.err.split())


def test_chance_is_told_from_influence(world: Path) -> None:
    """Answers that differ over the same graph say nothing about what is forbidden; a steady walk still does."""
    options = ("--as", "web-team", "--twin", "--system", "words=filters:in_other_words")
    found = inside("run", "data", *options, cwd=world, code=0)
    assert "0 influenced by what is forbidden, 2 by chance" in found.out


@pytest.mark.parametrize("system", ["keeps_the_first", "without_context"])
def test_a_system_that_reads_no_second_graph_proves_nothing(world: Path, system: str) -> None:
    """Its answers are the same, but it never looked at the graph without what is forbidden."""
    found = inside("run", "data", "--as", "web-team", "--twin", "--system", f"x=filters:{system}", cwd=world, code=1)
    assert "it didn't ask for context.dataset when its graph was the second one" in " ".join(found.out.split())
    assert "0 the same" in found.out
    assert "2 without anything to compare" in found.out


@pytest.mark.parametrize("system", ["by_chance", "blank"])
def test_what_only_varies_or_is_blank_rules_nothing_out(world: Path, system: str) -> None:
    """A system that adds a number to all it shows, or that says nothing, doesn't pass."""
    found = inside("run", "data", "--as", "web-team", "--twin", "--system", f"x=filters:{system}", cwd=world, code=1)
    assert "0 by chance, 2 without anything to compare" in found.out
    assert "an influence isn't ruled out" in found.err


@pytest.mark.parametrize(
    ("record", "difference"),
    [
        ({"citations": ["{}"]}, "citations, place 1: one over"),
        ({"evidence_files": ["web/{}"]}, "citations, place 1: web/one over"),
        ({"retrieved": [{"id": "web:a", "text": "{}"}]}, "texts, place 1: one over"),
        (
            {"tool_calls": [{"name": "ask", "arguments": {"of": "{}"}, "seen": []}]},
            'results, place 1: ask {"of":"one"}',
        ),
        ({"tool_calls": [{"name": "ask", "result": "{} hits", "seen": []}]}, "results, place 1: ask {}: one hits over"),
        ({"queries": [{"cypher": "RETURN 1", "rows": [["{}"]]}]}, 'queries, place 1: RETURN 1 {}: [["one"]] over'),
        ({"rankings": {"file": ["web:{}"]}}, "context, place 1: web:one over"),
        ({"retrieved": [{"id": "web:a", "commit": "{}"}]}, "versions, place 1: web:a at one over"),
        (
            {"traversal": [{"source": "web:a", "target": "web:b", "target_commit": "{}"}]},
            "versions, place 1: web:b at one over",
        ),
        ({"answer": "{}" + "x" * 300}, "answer: onexxx"),
        ({"answer": "x" * 300 + "{}"}, f"answer: …{'x' * 100}one over"),
    ],
)
def test_whatever_is_shown_is_compared(record: Row, difference: str) -> None:
    """Each part of a record can carry what the system learnt of the forbidden part."""

    def answers(word: str) -> list[Answer]:
        text = json.dumps({"run": "r", "question_id": "q", "traversal": [], **record}).replace("{}", word)
        text = text.replace('"ask", "result"', '"ask", "arguments": {}, "result"')
        return [Answer.model_validate_json(text)] * 2

    outcome, found = compared(answers("one"), answers("two"))
    assert outcome == "influence"
    assert str(found).startswith(difference)
    assert compared(answers("one"), answers("one"))[0] == "same"


#: A system whose third answer over the same graph differs from the others.
THIRD = """
asked = {}


def third(question, context):
    key = (question.id, context.dataset)
    asked[key] = asked.get(key, 0) + 1
    return "at last" if asked[key] == 3 else (context.dataset / "edges.jsonl").read_text()
"""


@pytest.mark.parametrize(
    ("more", "outcome", "code"),
    [((), "influence", 1), (("--repeat", "2"), "influence", 1), (("--repeat", "3"), "nothing", 1)],
)
def test_repetitions_of_a_system_are_compared_together(
    world: Path, more: tuple[str, ...], outcome: str, code: int
) -> None:
    """Two answers over each graph show only that both differ; the third one shows that it is chance."""
    module = f"third_{len(more)}_{code}"  # a module is imported once a process
    (world / f"{module}.py").write_text(THIRD)
    options = ("--as", "web-team", "--twin", "--system", f"slow={module}:third", "--json")
    found = inside("run", "data", *options, *more, cwd=world, code=code).objects()
    expected = [("slow", "a", outcome), ("slow", "b", outcome)]
    assert [(one["system"], one["question"], one["outcome"]) for one in found] == expected


def test_one_answer_over_each_graph_is_refused(world: Path) -> None:
    """It couldn't tell an influence from chance."""
    refused = inside(
        "run",
        "data",
        "--as",
        "web-team",
        "--twin",
        "--repeat",
        "1",
        "--system",
        "hop=filters:each_hop",
        cwd=world,
        code=2,
    )
    assert "can't tell an influence from chance" in refused.err
    assert "--repeat 2 or more" in refused.err


def test_two_graphs_that_are_the_same_are_named(world: Path) -> None:
    """Without a graph there is nothing to compare, and who may read all of it gets the same one twice."""
    options = ("--as", "web-team", "--twin", "--system", "hop=filters:each_hop")
    write_lines(world / "data" / "access.jsonl", [{"principal": "web-team", "allow": ["*"]}])
    assert "'web-team' may read the whole graph" in inside("run", "data", *options, cwd=world, code=0).err
    (world / "data" / "edges.jsonl").unlink()
    assert "the dataset has no knowledge graph" in inside("run", "data", *options, cwd=world, code=2).err


def test_somebody_has_to_ask(world: Path) -> None:
    """Without a principal, nothing is forbidden and nothing can be compared."""
    refused = inside("run", "data", "--twin", "--system", "hop=filters:each_hop", cwd=world, code=2)
    assert "no question has a principal" in refused.err


@pytest.mark.parametrize("options", [("-o", "kept"), ("--on", "processes=2"), ("--retry-failed",)])
def test_options_of_runs_are_refused(world: Path, options: tuple[str, ...]) -> None:
    """No run is kept and no worker asks, so an option about them isn't ignored without a word."""
    asked = ("--as", "web-team", "--twin", "--system", "hop=filters:each_hop")
    refused = inside("run", "data", *asked, *options, cwd=world, code=2)
    assert "--twin keeps no run, and asks in this process" in refused.err
    assert not (world / "kept").exists()


def test_a_failure_on_one_side_is_a_difference() -> None:
    """A system that fails without the forbidden part depends on it."""
    whole = Answer(run="r", question_id="q", answer="x")
    failed = Answer(run="r", question_id="q", error="no node", error_type="KeyError")
    outcome, difference = compared([whole, whole], [failed, failed])
    assert (outcome, difference) == (
        "influence",
        "answer: x over the whole graph, failed (KeyError) without what is forbidden",
    )


def test_words_by_chance_hide_no_walk() -> None:
    """Answers vary over the same graph, but each walk over the whole one begins at hr, and none over the part does."""
    whole, part = (
        [Answer(run="r", question_id="q", answer=words, traversal=[[one, "CALLS", "api:z"]]) for words in "xy"]  # type: ignore[arg-type]
        for one in ("hr:m", "web:a")
    )
    assert compared(whole, part) == (
        "influence",
        "walk, place 1: hr:m -CALLS-> api:z over the whole graph, web:a -CALLS-> api:z without what is forbidden",
    )
    assert compared(whole, whole)[0] == "chance"


@pytest.mark.parametrize(
    ("shown", "other", "where"),
    [
        ({"abstained": False}, {"abstained": True}, "decision: answered"),
        ({"confidence": 0.5}, {"confidence": 0.25}, "confidence: 0.5"),
        ({"seeds": ["hr:m"]}, {"seeds": []}, "seeds, place 1: hr:m"),
        ({"tool_calls": [{"name": "read", "seen": ["hr:m"]}]}, {"tool_calls": []}, "calls, place 1: hr:m"),
    ],
)
def test_each_part_of_a_record_shows_an_influence(shown: Row, other: Row, where: str) -> None:
    """The words are the same over both graphs; what else the record states isn't."""
    whole, part = (
        [Answer.model_validate({"run": "r", "question_id": "q", "answer": "x", **one})] * 2 for one in (shown, other)
    )
    outcome, difference = compared(whole, part)
    assert outcome == "influence"
    assert (difference or "").startswith(f"{where} over the whole graph")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("raise KeyError('graph')", "every answer over both graphs failed (KeyError)"),
        ("return {'retrieved': []}", "no answer over either graph shows anything"),
    ],
)
def test_what_always_fails_or_is_silent_passes_nothing(world: Path, body: str, why: str) -> None:
    """Neither shows that what is forbidden has no influence: both questions count against the system."""
    module = f"mute_{body.split()[0]}"  # a module is imported once a process
    (world / f"{module}.py").write_text(f"def answer(question, context):\n    {body}\n")
    found = inside("run", "data", "--as", "web-team", "--twin", "--system", f"mute={module}:answer", cwd=world, code=1)
    assert f"nothing    mute a: {why}" in found.out
    assert "0 by chance, 2 without anything to compare" in found.out
    assert "nothing can be compared on 2 of 2 questions" in found.err
