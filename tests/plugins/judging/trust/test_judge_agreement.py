"""The benchmark of a judge's agreement with people, on labels of RAGChecker's form that are made by hand."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.judge_agreement import main
from tests.helpers.api import Api, Reply, served
from tests.helpers.chat import completion

GOLD, MOST, SOME, NONE = "red green blue", "red green.", "red.", "grey."

#: Both answers of each pair with both people's labels, and how much better RAGChecker scores the second one.
PAIRS = (
    (NONE, MOST, (2, 1), 1.0),
    (NONE, MOST, (-1, -2), -1.0),
    (MOST, MOST, (1, 0), 0.5),
    (MOST, NONE, (0, 0), 0.0),
    (SOME, NONE, (-1, -1), -0.5),
)


def judging(api: Api, body: dict[str, Any]) -> Reply:
    """Grade MOST with 9, and any other answer with 1."""
    said = re.search(r"<s1-\w+>(.*?)</s1-", json.dumps(body))
    assert said is not None
    return completion(json.dumps({"reasoning": "words", "score": 9 if said[1] == MOST else 1}))


def test_agreement_with_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each rater has the credits worked by hand; asked again nothing is sent, and --clear leaves three pairs."""
    names = ("correctness_label", "completeness_label", "overall_label")
    people, scores = [], []
    for number, (first, second, labels, better) in enumerate(PAIRS):
        texts = {"model1": {"response": first}, "model2": {"response": second}, "query": "Which?", "gt_answer": GOLD}
        people += [{"instance_id": number, **texts, **dict.fromkeys(names, label)} for label in labels]
        values = {"model1": 0.0, "model2": better}
        scores.append({model: {"ragchecker": dict.fromkeys(names, value)} for model, value in values.items()})
    (tmp_path / "human_labeled_data.json").write_text(json.dumps(people))
    (tmp_path / "baseline_ragchecker.json").write_text(json.dumps(scores))

    def printed(*options: str) -> dict[str, list[str]]:
        words = [str(tmp_path), "--model", "vllm:m", "--base-url", f"{api.url}/v1", "--files", str(tmp_path / "files")]
        monkeypatch.setattr(sys, "argv", ["judge_agreement", *words, *options])
        main()
        table = capsys.readouterr().out.split("overall_label\n\n")[1].splitlines()[2:]
        rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table)
        return {rater: [cell.split(" [")[0] for cell in cells] for rater, *cells in rows}

    with served(judging) as api:
        whole = printed()
        sent = len(api.requests)
        clear = printed("--clear")
    # Credits by the pairs that have a label other than 0, the first, second, third and last; all but the third are
    # clear. The judge has 1, 0, a half and a half; TokenF1 prefers "red" to "grey" and has 1, 0, a half and 1.
    assert (whole["vllm:m"][:3], whole["vllm:m"][4]) == (["0.50", "0.50", "-0.17"], "2")
    assert (whole["TokenF1"][:3], whole["TokenF1"][4]) == (["0.62", "0.67", ""], "1")
    assert (whole["RAGChecker's score"][:3], whole["RAGChecker's score"][4]) == (["1.00", "1.00", "0.33"], "1")
    # The second label of the third pair names no answer, which counts a half: 3.5 of 4.
    assert (whole["one person by the other"][0], whole["one person by the other"][4]) == ("0.88", "1, 2")
    assert clear["vllm:m"][:3] == ["0.50", "0.50", "-0.17"]
    # Pairs of the same texts have the same prompts, which are asked once: three texts in all.
    assert (sent, len(api.requests)) == (3, 3)
