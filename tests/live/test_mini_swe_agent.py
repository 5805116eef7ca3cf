"""mini-SWE-agent: its three dialects, run live, score as the record by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.live.small_graph import library
from tests.plugins.logs.recordings import BY_HAND, QUESTION, imported, record_of, scores, shop

pytestmark = pytest.mark.filterwarnings("default")

#: It searches, reads two files, and hands in; a file that isn't there fails.
COMMANDS = (
    "grep -rn checkout src",
    "cat src/cart.py",
    "cat src/none.py",
    "cd src && sed -n '1,20p' orders.py",
    "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo reserve",
)


def model(kind: str) -> Any:
    """Return the model that gives the commands in a dialect."""
    models = library("minisweagent.models.test_models")
    calls = [{"command": command, "tool_call_id": f"c{number}"} for number, command in enumerate(COMMANDS)]
    if kind == "texts":
        texts = [(f"I look.\n\n```mswea_bash_command\n{one}\n```", [{"command": one}]) for one in COMMANDS]
        return models.DeterministicModel(outputs=[models.make_output(*text) for text in texts])
    if kind == "responses":
        outputs = [models.make_response_api_output("I look.", [call]) for call in calls]
        return models.DeterministicResponseAPIToolcallModel(outputs=outputs)
    outputs = []
    for call in calls:
        function = {"name": "bash", "arguments": json.dumps({"command": call["command"]})}
        asked = {"id": call["tool_call_id"], "type": "function", "function": function}
        outputs.append(models.make_toolcall_output("I look.", [asked], [call]))
    return models.DeterministicToolcallModel(outputs=outputs)


@pytest.mark.parametrize("kind", ["tools", "texts", "responses"])
@pytest.mark.parametrize("template", ["{{task}}", "Please solve: {{task}}\n\nYou have a shell."])
def test_a_run_scores_as_the_record_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, template: str
) -> None:
    """Read were cart and orders, between which lies one of two gold edges: recall 1/2, precision 1/1."""
    monkeypatch.setenv("MSWEA_GLOBAL_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("MSWEA_SILENT_STARTUP", "1")
    agents, environments = library("minisweagent.agents.default"), library("minisweagent.environments.local")
    code = tmp_path / "code" / "src"
    code.mkdir(parents=True)
    (code / "cart.py").write_text("from orders import place\n\ndef checkout(items): place(items)\n", "utf-8")
    (code / "orders.py").write_text("from stock import reserve\n", "utf-8")
    log = tmp_path / "mini.traj.json"
    agent = agents.DefaultAgent(
        model(kind),
        environments.LocalEnvironment(cwd=str(code.parent)),
        system_template="You answer questions on a repository.",
        instance_template=template,
        cost_limit=50.0,
        output_path=log,
    )
    assert agent.run(QUESTION)["exit_status"] == "Submitted"
    data = shop(tmp_path)
    imported(data, log, "mini-swe-agent")
    assert scores(data) == scores(data, BY_HAND) == {"EdgeRecall": 0.5, "EdgePrecision": 1.0}
    record = record_of(data)
    assert (record["question_id"], record["answer"].strip(), record["model_calls"]) == ("q1", "reserve", 5)
    assert [call.get("failed", False) for call in record["tool_calls"]] == [False] * 5
    assert [call["seen"] for call in record["tool_calls"]][2] == []
