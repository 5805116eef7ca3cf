"""Agents that read with a shell: the recall of what they opened, or unscored, and never a silent 0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.imports.importer import ImportedLog, import_log
from graphkit.plugins.logs.conversations import ENDS_WITH_CALL
from graphkit.plugins.logs.tool_calls import FAILED, SHELL
from graphkit.records.doubts import OPENED_FILES, UNKNOWN_NAMES, UNKNOWN_WALK
from graphkit.scoring.results import Evaluation
from tests.helpers import cli

#: The form calls the login, which looks the user up: two edges in three files of two repositories.
STEPS = [
    {"source": "web:src/login.ts#submit", "relation": "CALLS", "target": "api:api/auth.py#login"},
    {"source": "api:api/auth.py#login", "relation": "CALLS", "target": "api:api/users.py#find_user"},
]
QUESTION = {"id": "q1", "question": "Who finds the user?", "gold_answer": "find_user", "paths": [{"steps": STEPS}]}
#: The knowledge graph has an edge between two of the files, too: following that is not what gold asks for.
EDGES = [*STEPS, {"source": "api:api/auth.py", "relation": "IMPORTS", "target": "api:api/users.py"}]

LOGIN, AUTH, USERS = "export function submit() {}", "def login(): ...", "def find_user(): ..."


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """One question, three edges."""
    folder = tmp_path / "data"
    (folder / "runs").mkdir(parents=True)
    (folder / "questions.jsonl").write_text(json.dumps(QUESTION) + "\n")
    (folder / "edges.jsonl").write_text("".join(f"{json.dumps(edge)}\n" for edge in EDGES))
    return folder


def atif(*commands: tuple[str, str]) -> dict[str, Any]:
    """A trajectory of ATIF whose agent has a bash tool."""
    steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": QUESTION["question"]}]
    for number, (command, output) in enumerate(commands):
        call = {"tool_call_id": f"c{number}", "function_name": "bash", "arguments": {"command": command}}
        results = {"results": [{"source_call_id": f"c{number}", "content": output}]}
        steps.append({"source": "agent", "message": "I look.", "tool_calls": [call], "observation": results})
    steps.append({"source": "agent", "message": "find_user does."})
    return {"schema_version": "ATIF-v1.7", "session_id": "q1", "agent": {"name": "a"}, "steps": steps}


def messages(*commands: tuple[str, str], **last: Any) -> list[dict[str, Any]]:
    """Messages as OpenAI has them, whose model has a bash tool."""
    found: list[dict[str, Any]] = [{"role": "user", "content": QUESTION["question"]}]
    for number, (command, output) in enumerate(commands):
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        found += [
            {"role": "assistant", "content": "I look.", "tool_calls": [{"id": f"c{number}", "function": function}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": output},
        ]
    return [*found, {"role": "assistant", "content": "find_user does.", **last}]


def inspect(*commands: tuple[str, str]) -> dict[str, Any]:
    """A log of Inspect whose sample has a bash tool; its model puts out what it said last."""
    said = messages(*commands)
    sample = {"id": "q1", "epoch": 1, "input": QUESTION["question"], "messages": said}
    sample["output"] = {"completion": said[-1]["content"]}
    evaluation = {"task": "walks", "model": "m"}
    return {"version": 2, "status": "success", "eval": evaluation, "samples": [sample]}


def mini_swe_agent(*commands: tuple[str, str]) -> dict[str, Any]:
    """A trajectory of mini-swe-agent: its last command hands in, and what it printed is the last message."""
    wrapped = ((command, f"<returncode>0</returncode>\n<output>\n{output}\n</output>") for command, output in commands)
    said = messages(*wrapped)[:-1]
    function = {"name": "bash", "arguments": json.dumps({"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"})}
    said.append({"role": "assistant", "content": "I am done.", "tool_calls": [{"id": "end", "function": function}]})
    ended = {"exit_status": "Submitted", "submission": "find_user\n"}
    said.append({"role": "exit", "content": "find_user\n", "extra": ended})
    return {"info": ended, "messages": said, "trajectory_format": "mini-swe-agent-1.1"}


def made(dataset: Path, value: Any) -> ImportedLog:
    """The run that is made of a log, written into the dataset."""
    log = dataset / "log.json"
    log.write_text(json.dumps(value))
    return import_log(log, dataset=dataset, out=dataset / "runs" / "r.jsonl", question="q1", replace=True)


def record(dataset: Path) -> dict[str, Any]:
    """Its only record."""
    found: dict[str, Any] = json.loads((dataset / "runs" / "r.jsonl").read_text())
    return found


def evaluated(dataset: Path) -> Evaluation:
    """Its scores."""
    return graphkit.evaluate(dataset / "runs" / "r.jsonl", dataset)


ALL_FILES = [
    ("cd /testbed && sed -n '1,40p' web/src/login.ts | head -20", LOGIN),
    ("cat /testbed/api/auth.py && ls", f"{AUTH}\napi"),
    ("cd /testbed && nl -ba api/users.py 2>/dev/null", f"1 {USERS}"),
]
WITH_A_SEARCH = [
    ("rg -n login", "src/login.ts:1:login()\napi/auth.py:1:def login()"),
    ("cat api/no.py || true", "cat: api/no.py: No such file or directory"),
    ("find . -name 'users*' | head", "./api/users.py"),
]
UNKNOWN = [
    ("cat api/*.py", f"{AUTH}\n{USERS}"),
    ("python -c 'print(open(\"src/login.ts\").read())'", LOGIN),
]
OF_COMMITS = [
    ("cat src/login.ts api/auth.py", f"{LOGIN}\n{AUTH}"),
    ("git show HEAD:api/users.py", USERS),
]


@pytest.mark.parametrize(
    ("log", "recall", "answer", "doubts"),
    [
        (atif(*ALL_FILES), 1.0, "find_user does.", [OPENED_FILES]),
        # login.ts and auth.py matched, users.py was only listed: the first of two edges.
        ({"messages": messages(*WITH_A_SEARCH)}, 0.5, "find_user does.", [FAILED, OPENED_FILES]),
        (inspect(*UNKNOWN), None, "find_user does.", [SHELL, UNKNOWN_WALK]),
        (mini_swe_agent(*OF_COMMITS), 1.0, "find_user\n", [OPENED_FILES]),
    ],
    ids=["atif", "messages", "inspect", "mini-swe-agent"],
)
def test_four_shell_agents(dataset: Path, log: Any, recall: float | None, answer: str, doubts: list[str]) -> None:
    """Gold names symbols and the agents printed files: no edge is scored 0, and the files are compared.

    Which edges an agent followed isn't known of any of them: the walk is null, and EdgeRecall unscored.
    """
    run = made(dataset, log)
    one = record(dataset)
    assert "traversal" not in one
    assert (one["answer"], one["doubts"]) == (answer, doubts)
    assert all(f"doubtful in 1 answer: {doubt}" in run.summary for doubt in doubts)
    result = evaluated(dataset)
    assert result.measures["EdgeRecall"].mean is None
    if recall is None:
        assert "evidence_files" not in one
        assert "EdgeRecall(files=True)" not in result.measures
    else:
        assert result.measures["EdgeRecall(files=True)"].mean == recall
    # Each doubt of the import, once a run.
    assert [warning for warning in result.warnings if "doubtful" in warning] == [
        f"doubtful in 1 answer: {doubt}" for doubt in doubts
    ]


def test_doubts_are_reported_and_written(dataset: Path) -> None:
    """On the terminal and as JSON, once for the run, with the number of its records."""
    made(dataset, atif(*ALL_FILES))
    run = dataset / "runs" / "r.jsonl"
    other = {"run": "r", "question_id": "q2", "doubts": [OPENED_FILES]}
    with (dataset / "questions.jsonl").open("a") as file:
        file.write(json.dumps({**QUESTION, "id": "q2", "question": "?"}) + "\n")
    with run.open("a") as file:
        file.write(json.dumps(other) + "\n")
    report = dataset / "scores.md"
    reported = cli.inside("evaluate", run, "--no-store", "-o", report, "--json", cwd=dataset, code=0)
    assert json.loads(reported.out)["warnings"] == [f"doubtful in 2 answers: {OPENED_FILES}"]
    assert reported.err.count(OPENED_FILES) == 1
    assert f"warning: doubtful in 2 answers: {OPENED_FILES}" in report.read_text()


def test_doubts_of_a_record_are_bounded(dataset: Path) -> None:
    """A log may hold any number of doubts, of any length and in several lines: 20 are reported, the others counted."""
    doubts = [f"doubt {number}\n{'x' * 900}" for number in range(30)]
    (dataset / "runs" / "r.jsonl").write_text(json.dumps({"run": "r", "question_id": "q1", "doubts": doubts}))
    warnings = evaluated(dataset).warnings
    assert len(warnings) == 21
    assert "doubtful in 10 answers: other doubts" in warnings
    assert all(len(warning) < 400 and "\n" not in warning for warning in warnings)


def test_a_walk_of_files_where_gold_names_files(dataset: Path) -> None:
    """Gold and the knowledge graph name files here: what was printed is a walk like any other, without a doubt."""
    step = EDGES[2]
    (dataset / "questions.jsonl").write_text(json.dumps({**QUESTION, "paths": [{"steps": [step]}]}))
    made(dataset, {"messages": messages(("cat api/auth.py", AUTH), ("cat api/users.py", USERS))})
    assert "doubts" not in record(dataset)
    result = evaluated(dataset)
    assert result.measures["EdgeRecall"].mean == 1.0
    assert "EdgeRecall(files=True)" not in result.measures


def test_other_files_are_compared_as_files_too(dataset: Path) -> None:
    """All that it opened is known, and none of it is gold: 0 of the files, so that a mean holds the questions missed.

    An agent that certainly opened nothing scores 0 by each.
    """
    edge = {"source": "api:api/auth.py", "relation": "IMPORTS", "target": "web:src/other.ts"}
    with (dataset / "edges.jsonl").open("a") as file:
        file.write(json.dumps(edge) + "\n")
    made(dataset, {"messages": messages(("cat src/other.ts", "x"))})
    assert "traversal" not in record(dataset)
    result = evaluated(dataset)
    assert (result.measures["EdgeRecall"].mean, result.measures["EdgeRecall(files=True)"].mean) == (None, 0.0)
    made(dataset, {"messages": messages(("ls src", "other.ts"))})
    assert (record(dataset)["traversal"], record(dataset)["evidence_files"]) == ([], [])
    result = graphkit.evaluate(dataset / "runs" / "r.jsonl", dataset, measures=["EdgeRecall", "EdgeRecall(files=True)"])
    assert [one.mean for one in result.measures.values()] == [0.0, 0.0]


def test_names_that_the_dataset_does_not_know_are_no_walk_of_nothing(dataset: Path) -> None:
    """They may be the names of another checkout: the walk isn't known."""
    made(dataset, {"messages": messages(("cat lib/x.c", "x"))})
    assert "traversal" not in record(dataset)
    assert record(dataset)["doubts"] == [UNKNOWN_NAMES]


def test_tools_beside_a_shell(dataset: Path) -> None:
    """Symbols that were opened are walked; a search whose result is plain text isn't a walk of nothing."""
    for number, (name, arguments, walked) in enumerate(
        [
            ("view", [{"path": "src/login.ts", "symbol": "submit"}, {"path": "api/auth.py", "symbol": "login"}], 1),
            ("code_search", [{"query": "login"}], None),
        ]
    ):
        said: list[dict[str, Any]] = [{"role": "user", "content": "?"}]
        for place, one in enumerate(arguments):
            key = f"c{number}{place}"
            said.append(
                {"role": "assistant", "tool_calls": [{"id": key, "function": {"name": name, "arguments": one}}]}
            )
            said.append({"role": "tool", "tool_call_id": key, "content": "text"})
        made(dataset, {"messages": said})
        walk = record(dataset).get("traversal")
        assert (None if walk is None else len(walk)) == walked


def test_a_shell_that_stays_where_it_is_led(dataset: Path) -> None:
    """Behind a `cd` into a folder below, a later plain name means one of two files: neither is taken."""
    run = made(dataset, {"messages": messages(("cd api", ""), ("cat auth.py", AUTH))})
    assert "traversal" not in record(dataset)
    assert "evidence_files" not in record(dataset)
    assert run.figures["notes"] == {SHELL: 1, UNKNOWN_WALK: 1}


def test_what_a_shell_prints_is_no_search_result(dataset: Path) -> None:
    """A file of JSON with names in it was opened, and retrieved nothing."""
    made(dataset, {"messages": messages(("cat package.json", '{"name": "web", "files": ["src/login.ts"]}'))})
    assert "retrieved" not in record(dataset)


@pytest.mark.parametrize(
    ("last", "answer"),
    [
        ({"function": {"name": "bash", "arguments": '{"command": "ls"}'}}, None),
        ({"function": {"name": "submit", "arguments": '{"answer": "find_user"}'}}, "find_user"),
        ({"function": {"name": "finish", "arguments": "{}"}}, "find_user does."),
    ],
)
@pytest.mark.parametrize("write", [messages, atif, inspect])
def test_the_answer_is_what_was_handed_in(dataset: Path, write: Any, last: Any, answer: str | None) -> None:
    """In each format: not the last thought, where a call follows it and nothing is handed in."""
    log = write(("cat src/login.ts", LOGIN))
    if write is atif:
        function = last["function"]
        given = {"function_name": function["name"], "arguments": json.loads(function["arguments"])}
        log["steps"][-1]["tool_calls"] = [{"tool_call_id": "end", **given}]
    else:
        said = log if write is messages else log["samples"][0]["messages"]
        said[-1]["tool_calls"] = [{"id": "end", **last}]
    made(dataset, {"messages": log} if write is messages else log)
    assert record(dataset).get("answer") == answer
    assert (ENDS_WITH_CALL in record(dataset)["doubts"]) == (answer is None)


def test_an_agent_whose_reads_all_failed_walked_nothing_and_it_is_reported(real_logs: Path) -> None:
    """The real logs of mini-swe-agent: no file was there, so nothing was opened, and the answer is what it handed in.

    That is known, and a 0 that the doubt explains.
    """
    for question, answer in (("n1", "create_vector_index"), ("n3", "_value_sanitize")):
        log = real_logs / "agents" / f"mini_swe_agent_{question}.traj.json.gz"
        (one,) = import_log(log, dataset=real_logs, question=question).records
        assert (one["traversal"], one["answer"].strip(), one["doubts"]) == ([], answer, [FAILED])
