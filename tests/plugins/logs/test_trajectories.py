"""Trajectories of mini-SWE-agent and SWE-agent: logs that they wrote, and small ones."""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.logs.conversations import ENDS_WITH_CALL
from graphkit.plugins.logs.tool_calls import FAILED, SHELL
from graphkit.plugins.logs.trajectories import ATTEMPTS, NO_PATCH
from graphkit.readers.known_formats import reader_of
from graphkit.readers.logged import LoggedAnswer, ReadOptions
from tests.helpers.suites import one_fast
from tests.plugins.logs.recordings import BY_HAND, QUESTION, RECORDED, imported, record_of, scores, shop
from tests.plugins.logs.shared_logs import names, read, survives

MINI = [f"mini_swe_agent_{kind}.traj.json" for kind in ("tools", "text", "responses")]
SWE = ["swe_agent_tools.traj", "swe_agent_windows.traj"]


def recorded(name: str) -> Any:
    """Return what a file of recordings holds."""
    return json.loads((RECORDED / name).read_text("utf-8"))


def one(name: str, value: Any, unread: Counter[str] | None = None) -> LoggedAnswer:
    """Return the only answer that a reader reads of a value."""
    (answer,) = read(name, [value], unread=unread)
    return answer


@pytest.mark.parametrize("log", [*MINI, *SWE])
def test_a_real_trajectory_scores_as_the_record_by_hand(tmp_path: Path, log: str) -> None:
    """Read were cart and orders, between which lies one of two gold edges: recall 1/2, precision 1/1."""
    data = shop(tmp_path)
    imported(data, RECORDED / log, "mini-swe-agent" if log in MINI else "swe-agent")
    assert scores(data) == scores(data, BY_HAND) == {"EdgeRecall": 0.5, "EdgePrecision": 1.0}
    assert record_of(data)["question_id"] == "q1"


@pytest.mark.parametrize("log", MINI)
def test_what_mini_swe_agent_logs(log: str) -> None:
    """Four commands for 4 dollars, the submission, the model, and the task; neither times nor tokens."""
    unread: Counter[str] = Counter()
    answer = one("mini-swe-agent", recorded(log), unread)
    assert (answer.question_text, answer.answer) == (QUESTION, "reserve, in src/stock.py\n")
    # A command runs in a shell of its own: the second one's `cd` says nothing of the others.
    cart, orders = "/testbed/src/cart.py", "/testbed/src/orders.py"
    assert answer.opened == [cart, cart, orders]
    assert [(call.name, call.seen) for call in answer.tool_calls or ()] == [
        ("bash", [cart]),
        ("bash", [cart]),
        ("bash", [orders]),
        ("bash", []),
    ]
    assert (answer.cost, answer.model_calls, str(answer.model)[:13]) == (4.0, 4, "deterministic")
    assert (answer.latency_ms, answer.prompt_tokens, answer.output_tokens) == (None, None, None)
    assert (answer.retrieved, answer.traversal, answer.notes, unread) == (None, None, [], Counter())


def test_a_run_of_mini_swe_agent_that_met_a_limit() -> None:
    """Its answer isn't known, its walk is, and how it ended is noted; a cost of 0 is no cost."""
    value = recorded(MINI[0])
    ended = {"exit_status": "LimitsExceeded", "submission": ""}
    value["messages"][-3:] = [{"role": "exit", "content": "LimitsExceeded", "extra": ended}]
    value["info"] |= {**ended, "model_stats": {"instance_cost": 0.0, "api_calls": 2}}
    answer = one("mini-swe-agent", value)
    assert (answer.answer, answer.cost, answer.model_calls) == (None, None, 2)
    assert answer.notes == [SHELL, ENDS_WITH_CALL, "the agent ended with 'LimitsExceeded'"]


def test_messages_of_mini_swe_agent_1() -> None:
    """Commands and outputs are texts; a reply without one command is answered by a complaint, not by an output."""
    said = [
        ("system", "You fix."),
        ("user", "Please solve: Who calls f? Now."),
        ("assistant", "Two:\n```bash\nls\n```\n```bash\ncat a.py\n```"),
        ("user", "Give one command."),
        ("assistant", "One:\n```bash\ncat a.py\n```"),
        ("user", "<returncode>0</returncode>\n<output>\ndef f(): ...\n</output>"),
        ("assistant", "```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff\n```"),
        ("user", "the patch"),
    ]
    config = {"agent": {"instance_template": "Please solve: {{task}} Now."}, "environment": {"cwd": "relative"}}
    value = {
        "instance_id": "i1",
        "info": {"exit_status": "Submitted", "submission": "the patch", "config": config},
        "messages": [{"role": role, "content": content} for role, content in said],
        "trajectory_format": "mini-swe-agent-1",
    }
    answer = one("mini-swe-agent", value)
    assert (answer.question, answer.question_text, answer.answer) == ("i1", "Who calls f?", "the patch")
    assert (answer.opened, len(answer.tool_calls or ()), answer.model_calls, answer.notes) == (["a.py"], 2, 3, [])


def test_tokens_of_the_replies_of_mini_swe_agent_are_summed() -> None:
    """The replies of an interface lie in `extra.response`: 10 + 20 and 1 + 2."""
    value = recorded(MINI[0])
    replies = [one for one in value["messages"] if one["role"] == "assistant"]
    for number, reply in enumerate(replies[:2], 1):
        usage = {"prompt_tokens": 10 * number, "completion_tokens": number}
        reply["extra"]["response"] = {"model": "m", "usage": usage}
    answer = one("mini-swe-agent", value)
    assert (answer.prompt_tokens, answer.output_tokens) == (30, 3)


@pytest.mark.parametrize(("log", "found"), [(SWE[0], None), (SWE[1], ["/testbed/src/cart.py"])])
def test_what_swe_agent_logs(log: str, found: list[str] | None) -> None:
    """Id and text of the task are in its configuration; a search of its own lists files, one of a shell prints lines.

    The test model counts no calls, tokens and cost, and nothing was patched: all of these aren't known.
    """
    unread: Counter[str] = Counter()
    answer = one("swe-agent", recorded(log), unread)
    assert (answer.question, answer.question_text) == ("q1", QUESTION)
    assert answer.opened is not None
    assert answer.opened[-2:] == ["/testbed/src/cart.py", "/testbed/src/orders.py"]
    assert (answer.folders, names(answer)) == (["/testbed"], found)
    assert (answer.answer, answer.cost, answer.model_calls, answer.prompt_tokens) == (None, None, None, None)
    assert (answer.notes, answer.unknown_calls, unread) == ([NO_PATCH], 0, Counter())


def step(action: str, observation: str, folder: str | None = None, **more: Any) -> dict[str, Any]:
    """A step of SWE-agent."""
    state = {} if folder is None else {"state": {"working_dir": folder}}
    return {"action": action, "observation": observation, "thought": "I look.", **state, **more}


def test_the_window_of_swe_agent_shows_files() -> None:
    """The file is in the window's first line; a refused edit shows none, and a failed search is no search for nothing.

    `cd src` moved the shell: the folder of each step is that in which the former one ended.
    """
    steps = [
        step("cd src", "", "/r/src"),
        step("cat b.py", "def f(): ...", "/r/src"),
        step("edit 1:1\nx\nend_of_edit", "[File: a.py (9 lines total)]\n1:x", "/r/src"),
        step("edit 2:2\n(\nend_of_edit", "Your proposed edit has introduced new syntax error(s).", "/r/src"),
        step('search_dir "f"', 'No matches found for "f" in /r', "/r/src"),
        step('find_file "x"', "Directory x not found", "/r/src"),
        step("exit_forfeit", "", "/r/src"),
    ]
    stats = {"instance_cost": 0.5, "tokens_sent": 10, "tokens_received": 2, "api_calls": 7}
    info = {"exit_status": "exit_forfeit", "submission": "diff", "model_stats": stats}
    answer = one("swe-agent", {"trajectory": steps, "info": info, "attempts": [{}, {}]})
    assert answer.opened == ["/r/src/b.py", "/r/src/a.py"]
    assert answer.retrieved == []
    assert [call.seen for call in answer.tool_calls or ()] == [
        [],
        ["/r/src/b.py"],
        ["/r/src/a.py"],
        [],
        [],
        None,
        [],
    ]
    assert (answer.cost, answer.prompt_tokens, answer.output_tokens, answer.model_calls) == (0.5, 10, 2, 7)
    assert answer.answer == "diff"
    assert "the agent ended with 'exit_forfeit'" in answer.notes
    assert ATTEMPTS in answer.notes


@pytest.mark.slow("a log of very many actions")
def test_a_history_of_other_actions_is_not_searched_for_each_step() -> None:
    """20 000 steps beside as many other actions: 400 million comparisons would take over half a minute."""
    count = 20_000
    steps = [step(f"true {number}", "") for number in range(count)]
    history = [{"role": "assistant", "message_type": "action", "action": f"false {one}"} for one in range(count)]
    began = time.process_time()
    answer = one("swe-agent", {"trajectory": steps, "history": history, "info": {}})
    assert len(answer.tool_calls or ()) == count
    assert time.process_time() - began < 20


def test_demonstrations_are_not_what_the_agent_did() -> None:
    """They stand in the history before the task, and aren't steps."""
    history = [
        {"role": "user", "content": "A demonstration", "is_demo": True},
        {"role": "user", "content": "Who?", "agent": "main"},
    ]
    answer = one("swe-agent", {"trajectory": [step("cat a.py", "x")], "history": history, "info": {}})
    assert (answer.question_text, answer.opened) == ("Who?", ["a.py"])


def test_the_real_runs_of_mini_swe_agent(real_logs: Path) -> None:
    """None of the files was there, so each command failed: nothing was opened, and that is certain."""
    for question in ("n1", "n3"):
        log = real_logs / "agents" / f"mini_swe_agent_{question}.traj.json.gz"
        answer = one("mini-swe-agent", json.loads(gzip.decompress(log.read_bytes())))
        assert (answer.opened, answer.unknown_calls, answer.notes) == ([], 0, [FAILED])
        assert (answer.model_calls, answer.cost) == (4, 4.0)


@one_fast(
    ("name", "log"),
    [("mini-swe-agent", MINI[0]), ("mini-swe-agent", MINI[2]), ("swe-agent", SWE[1])],
    "values of every kind at every place",
    0,
)
def test_hostile_trajectories_are_survived(name: str, log: str) -> None:
    """Whatever stands in the place of a value, the reader reads on or refuses in its own words."""
    value = recorded(log)
    if "replay_config" in value:
        value["replay_config"] = '{"problem_statement": {"id": "q1"}}'
        value["history"], value["trajectory"] = value["history"][:4], value["trajectory"][:3]
    else:
        value["info"]["config"].pop("model")
        value["messages"] = value["messages"][:4]
    assert survives(name, value) > 100


def test_without_a_reply_nothing_is_known() -> None:
    """Such a document is recognised by its form, and shows no agent that walked nothing."""
    reader = reader_of("mini-swe-agent")
    value = {"trajectory_format": "mini-swe-agent-1.1", "messages": [], "info": {}, "question_id": "q"}
    assert reader.recognises(value)
    (answer,) = reader.read([("log:1", value)], ReadOptions(), Counter())
    assert (answer.answer, answer.tool_calls, answer.opened) == (None, None, None)
