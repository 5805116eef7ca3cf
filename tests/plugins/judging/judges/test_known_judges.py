"""Judges by name: the entry points of the group ``graphkit.judges``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.plugins.judging.grading.judge_setup import JudgeOptions
from graphkit.plugins.judging.judges import known_judges
from graphkit.plugins.judging.judges.callable_judge import CallableJudge
from graphkit.plugins.judging.judges.known_judges import ANTHROPIC, backend_of, installed, open_judge
from graphkit.plugins.judging.judges.lexical import LexicalJudge
from graphkit.plugins.judging.llm.chat_completions import SERVICES

POINTS = (
    "strict = strict_judge:Strict\nlocal = strict_judge:LOCAL\nbroken = strict_judge:nothing\nsilent = builtins:dict\n"
    "number = math:pi\npair = operator:eq\n"
)
MODULE = """
from graphkit.plugins.judging.judges.known_judges import ModelBackend

class Strict:
    name, version = "strict", "2"
    async def judge(self, prompt, schema):
        ...

LOCAL = ModelBackend(lambda concurrency: None, "small-model")
"""


@pytest.fixture
def _plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    info = tmp_path / "strict_judge-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strict-judge\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{known_judges.GROUP}]\n{POINTS}")
    (tmp_path / "strict_judge.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    installed.cache_clear()
    yield
    installed.cache_clear()


def test_built_in_judges() -> None:
    """The built-in judges are entry points like any other; a function of the user's needs none."""
    assert set(installed()) == {"lexical", "anthropic", *SERVICES}
    assert isinstance(open_judge("lexical"), LexicalJudge)
    assert (backend_of("anthropic"), backend_of("lexical")) == (ANTHROPIC, None)
    assert isinstance(open_judge("operator:contains"), CallableJudge)
    with pytest.raises(InputError, match="no judge is called 'lexicla'") as refused:
        JudgeOptions("lexicla")
    assert "Did you mean lexical" in str(refused.value)


@pytest.mark.usefixtures("_plugin")
def test_judge_of_a_package() -> None:
    """An installed package adds a judge and a model by name; the options of a model are for models only."""
    assert (open_judge("strict").name, open_judge("strict").version) == ("strict", "2")
    assert JudgeOptions("local", effort="low").model_name == "small-model"
    with pytest.raises(InputError, match="--effort: the judge 'strict' asks no model"):
        JudgeOptions("strict", effort="low")


@pytest.mark.usefixtures("_plugin")
def test_broken_entry_points() -> None:
    """An entry point that leads nowhere, or to something else than a judge, is refused with its name."""
    with pytest.raises(InputError, match="there is no 'nothing'"):
        open_judge("broken")
    for name in ("silent", "number", "pair"):
        with pytest.raises(InputError, match=f"the entry point '{name}' .* makes no judge: it has no method"):
            open_judge(name)
