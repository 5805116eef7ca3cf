"""The scores of an evaluation that Inspect runs, with a model that repeats what it is told."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.exports.score_logs import import_scores
from tests.live.small_graph import library

pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("form", ["eval", "json"])
def test_scores_of_inspect(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both forms of the log say the same: q1 matches "y", q2 doesn't match "w", and NaN is unscored."""
    library("inspect_ai")
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    import inspect_ai
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import Score, match, mean, scorer
    from inspect_ai.solver import generate

    @scorer(metrics=[mean()])  # type: ignore[untyped-decorator, unused-ignore]
    def tone() -> Any:
        async def score(state: Any, target: Any) -> Any:
            if state.sample_id == "q1":
                return Score(value=float("nan"), explanation="nothing to hear")
            return Score(value={"kind": 0.5, "loud": 1}, explanation="It is fine.")

        return score

    def said(text: str) -> Any:
        output = ModelOutput.from_content("mockllm/model", text)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else it would fetch a tokenizer
        return output

    samples = [Sample(id="q1", input="Who calls z?", target="y"), Sample(id="q2", input="What?", target="w")]
    task = inspect_ai.Task(dataset=samples, solver=generate(), scorer=[match(), tone()])
    model = get_model("mockllm/model", custom_outputs=[said("y"), said("nothing")])
    [log] = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), log_format=form, max_connections=1)
    assert log.status == "success"
    gc.collect()  # its open streams warn now, and not at the end of all tests
    [path] = tmp_path.glob(f"*.{form}")
    found = {(one.question, one.measure): one for one in import_scores([path], "r").scores}
    assert (found["q1", "match"].number, found["q1", "match"].grade) == (1, "correct")
    assert (found["q2", "match"].number, found["q2", "match"].explanation) == (0, "nothing")
    assert (found["q1", "tone"].number, found["q1", "tone"].reason) == (None, "the scorer gave no number (NaN)")
    assert [found["q2", f"tone.{part}"].number for part in ("kind", "loud")] == [0.5, 1]
    assert found["q1", "tone.kind"].number is None
    assert found["q1", "match"].version
