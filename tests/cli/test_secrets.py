"""A server that repeats the API key, and everything that graphkit prints and writes after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.api import Api, Reply, message, refusal, served
from tests.helpers.cli import inside, tiny
from tests.helpers.grading import to_grade

KEY = "sk-ant-0123456789-abcdefghij"
SYSTEM = f"""
def answer(question):
    if question.id == "q1":
        raise ValueError("the key {KEY} is refused")
    return "it answered: {KEY}"
"""


def refusing(api: Api, body: dict[str, Any]) -> Reply:
    """Repeat the key in an error."""
    return refusal(400, "invalid_request_error", f"x-api-key {KEY} may not do this")


def repeating(api: Api, body: dict[str, Any]) -> Reply:
    """Repeat the key in a reply, of which nothing else is right."""
    return message(f"your key is {KEY}", model=f"m {KEY}")


def written(folder: Path) -> list[str]:
    """Return the files of a folder, at any depth, that hold the key."""
    return [str(path) for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


@pytest.mark.slow("every command that asks a model runs")
@pytest.mark.parametrize("script", [refusing, repeating])
def test_a_key_that_a_server_repeats_is_nowhere(tmp_path: Path, script: Any) -> None:
    """Terminal, JSON, verdicts, scores, replies, page, tables and the graph: the mark stands where the key was."""
    run = to_grade(tmp_path)
    said = ""
    with served(script) as api:
        env = {**api.env, "ANTHROPIC_API_KEY": KEY}

        def done(*arguments: object) -> None:
            nonlocal said
            ended = inside(*arguments, "--data", tmp_path / "db", cwd=tmp_path, env=env)
            assert ended.code in (0, 1, 2), ended.err
            said += ended.out + ended.err

        done("load", run.parents[1])
        grading = ["grade", run, "-j", "anthropic", "--model", "m", "-g", "rubric", "--max-cost", "none"]
        done(*[one for one in grading if one not in ("--max-cost", "none")])
        done(*[one for one in grading if one not in ("--max-cost", "none")], "--json")
        scores = next(run.parent.rglob("*.scores.jsonl"))
        done("evaluate", run, "--scores", scores, "-o", tmp_path / "scores.csv")
        done("evaluate", run, "--scores", scores, "--json")
        done("report", run, "--scores", scores, "-o", tmp_path / "page.html")
        done("query", "-e", "MATCH (n) RETURN properties(n) AS found", "--json")
        done("db", "stop")
    assert KEY not in said
    assert "[secret]" in said or script is repeating
    assert written(tmp_path) == []
    assert "[secret]" in next(run.parent.rglob("*.verdicts.jsonl")).read_text()


def test_a_key_that_a_system_repeats_is_nowhere(tmp_path: Path) -> None:
    """A key is masked in a system's errors and answers."""
    tiny(tmp_path / "shop")
    (tmp_path / "leaking.py").write_text(SYSTEM)
    asked = ("run", "shop", "--system", "mine=leaking:answer", "--out", "runs")
    done = inside(*asked, cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
    (tmp_path / "leaking.py").unlink()
    assert KEY not in done.out + done.err
    records = (tmp_path / "runs" / "mine.jsonl").read_text()
    assert "the key [secret] is refused" in records
    assert "it answered: [secret]" in records
    assert [one for one in written(tmp_path) if not one.endswith(".pyc")] == []
