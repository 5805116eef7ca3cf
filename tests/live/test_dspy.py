"""Trajectories and histories of dspy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.live.agent_walk import CALLS, check, open_node, search
from tests.live.small_graph import ANSWER, QUESTION, library

pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("logged", ["prediction", "history"])
def test_a_run_of_react(logged: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The prediction and the history of the model tell of the same calls."""
    monkeypatch.setenv("DSPY_CACHEDIR", str(tmp_path / "cache"))
    dspy = library("dspy")
    from dspy.utils import DummyLM

    asked: list[dict[str, Any]] = [
        {"next_thought": "I look.", "next_tool_name": name, "next_tool_args": json.dumps(given)}
        for name, given in (*CALLS, ("finish", {}))
    ]
    model = DummyLM([*asked, {"reasoning": "It says so.", "answer": ANSWER}])
    with dspy.context(lm=model):
        prediction = dspy.ReAct("question -> answer", tools=[search, open_node])(question=QUESTION)
    value = {"prediction": prediction.toDict()} if logged == "prediction" else {"history": model.history}
    record = check(tmp_path, "dspy", {"question_id": "q", **json.loads(json.dumps(value, default=str))})
    assert record.get("model_calls") == (6 if logged == "history" else None)
