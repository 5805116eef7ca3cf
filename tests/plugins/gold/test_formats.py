"""All formats of public gold: hostile rows, their descriptions, and formats of other packages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.plugins.gold.conversion import gold_questions
from graphkit.plugins.gold.formats import gold_format, gold_formats
from graphkit.records import plugins
from tests.helpers.gold_rows import one


@pytest.mark.parametrize("form", gold_formats()[0], ids=lambda form: form.name)
@pytest.mark.parametrize("value", [None, 1, True, "", "x", [], [1], [[]], {}, {"a": 1}], ids=repr)
def test_hostile_rows(form: Any, value: Any, tmp_path: Path) -> None:
    """Any values in a row give a question or a problem, never a traceback."""
    names = (
        "id _id qid ID instance_id question problem_statement repo base_commit patch answer answers sparql proof meta"
    )
    names += " evidences evidence_triple supporting_facts paragraphs question_decomposition graph_query gold_context"
    names += " answer_subgraph seed_entities answer_node type level source domains function init_ctx add_ctx"
    base = {
        "id": "1",
        "qid": 1,
        "instance_id": "1",
        "question": "?",
        "problem_statement": "?",
        "repo": "r",
        "base_commit": "c",
    }
    rows = [base | {name: value} for name in names.split()]
    rows += [dict.fromkeys(names.split(), value), base | {"graph_query": {"nodes": value, "edges": value}}]
    for row in rows:
        path = tmp_path / "rows.jsonl"
        path.write_text(json.dumps(row) + "\n")
        problems = Problems()
        questions = list(gold_questions(form, [path], problems))
        assert len(questions) + len({problem.where for problem in problems.skipped}) == 1


@pytest.mark.parametrize("form", gold_formats()[0], ids=lambda form: form.name)
def test_each_format_says_what_it_lacks(form: Any) -> None:
    """Each format has a name, a title, and sentences about what it lacks."""
    assert form.lacks
    assert all(sentence.endswith(".") for sentence in form.lacks)
    assert type(gold_format(form.name)) is type(form)


OWN = '''
from graphkit.plugins.gold.formats import GoldFormat


class Riddles(GoldFormat):
    """Reads ``riddle``."""

    name = "riddles"
    title = "Riddles"
    lacks = ("There are no paths.",)

    def question(self, row):
        return {"id": row.name("id"), "question": row.text("riddle")}
'''


def test_other_packages_add_formats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package adds a format by an entry point; broken ones are reported and hide no other format."""
    (tmp_path / "own_gold.py").write_text(OWN)
    info = tmp_path / "own_gold-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-gold\nVersion: 1.0\n")
    points = (
        "riddles = own_gold:Riddles",
        "gone = own_gold:Gone",
        "other = own_gold:Riddles",
        "cwq = own_gold:Riddles",
    )
    (info / "entry_points.txt").write_text("\n".join(["[graphkit.gold]", *points]) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins.all_installed.cache_clear()
    try:
        question, _ = one("riddles", tmp_path, {"id": 1, "riddle": "What has roots as nobody sees?"})
        assert question.question == "What has roots as nobody sees?"
        formats, errors = gold_formats()
        assert {"riddles", "cwq", "swe-bench"} <= {form.name for form in formats}
        assert "own_gold" not in type(gold_format("cwq")).__module__
        broken, misnamed = sorted(map(str, errors))
        assert broken.startswith("the entry point 'gone' of own-gold (own_gold:Gone): there is no 'Gone'")
        assert "the format lacks its name" in misnamed
        assert "of own-gold" in misnamed
        with pytest.raises(InputError, match="there is no 'Gone'"):
            gold_format("gone")
    finally:
        plugins.all_installed.cache_clear()
