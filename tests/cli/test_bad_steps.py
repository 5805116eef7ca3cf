"""A gold step that the knowledge graph doesn't hold has one diagnosis, wherever it is named."""

from __future__ import annotations

import json
from pathlib import Path

from graphkit.plugins.agents.workspace import Workspace
from tests.helpers.cli import inside, write_lines
from tests.helpers.pages import Page

EDGES = "source,relation,target\nweb:a.ts#f,CALLS,api:b.py#g\napi:b.py#g,READS,db:t.sql\n"

#: The path of each question, and what is wrong with its step.
STEPS = {
    "turned": ("api:b.py#g -CALLS-> web:a.ts#f", "the knowledge graph holds it the other way round"),
    "related": ("web:a.ts#f -READS-> api:b.py#g", "the knowledge graph holds it with another relation, CALLS"),
    "both": (
        "db:t.sql -CALLS-> api:b.py#g",
        "the knowledge graph holds it the other way round and with another relation, READS",
    ),
    "named": (
        "web:a.ts#f -CALLS-> api:bb.py#g",
        "the artifact api:bb.py#g is not in the knowledge graph; the nearest name is api:b.py#g",
    ),
    "strange": (
        "web:a.ts#f -CALLS-> nowhere",
        "the artifact nowhere is not in the knowledge graph",
    ),
    "apart": ("web:a.ts#f -CALLS-> db:t.sql", "the knowledge graph has no such edge"),
}


def test_one_sentence_everywhere(tmp_path: Path) -> None:
    """`init`, `check`, `why`, the page and the tools of agents say the same of each bad step."""
    run = tmp_path / "mine" / "runs" / "r.jsonl"
    rows = "".join(f"{name},What of {name}?,{path}\n" for name, (path, _) in STEPS.items())
    (tmp_path / "q.csv").write_text(f"id,question,path\n{rows}fine,What?,web:a.ts#f -CALLS-> api:b.py#g\n")
    (tmp_path / "g.csv").write_text(EDGES)
    made = inside("init", "mine", "q.csv", "--graph", "g.csv", cwd=tmp_path, code=0)
    assert "it holds 1 of 7 gold steps" in made.out
    write_lines(run, [{"run": "r", "question_id": name, "traversal": []} for name in (*STEPS, "fine")])
    found = inside("check", "mine", "--json", cwd=tmp_path, code=1).object()["findings"]
    checked = {one["question"]: one["what"] for one in found if one["kind"] == "stale-gold"}
    inside("report", run, "-o", "page.html", cwd=tmp_path, code=0)
    page = Page((tmp_path / "page.html").read_text("utf-8"))
    # What a block holds is JSON, the script apart.
    shown = json.dumps(
        [page.json(one["id"]) for one, _ in page.scripts if "json" in (one.get("type") or "") and one["id"]]
    )
    workspace = Workspace(tmp_path.resolve(), None)
    for name, (path, what) in STEPS.items():
        sentence = f"{path}: {what}"
        assert f"note: {sentence}; the question won't be scored" in made.err
        assert checked[name] == sentence
        assert sentence in inside("why", run, name, cwd=tmp_path, code=0).out
        assert json.loads(workspace.why(str(run), name))["error"].endswith(sentence)
        assert sentence in shown
    assert checked.keys() == STEPS.keys()


def test_many_bad_steps(tmp_path: Path) -> None:
    """`init` names ten bad steps, counts the others, and says which command lists them all."""
    rows = "".join(f"What?,web:a.ts#f -CALLS-> x{number}\n" for number in range(13))
    (tmp_path / "q.csv").write_text(f"question,path\n{rows}")
    (tmp_path / "g.csv").write_text(EDGES)
    made = inside("init", "mine", "q.csv", "--graph", "g.csv", cwd=tmp_path, code=0)
    assert made.err.count("is not in the knowledge graph; the question") == 10
    assert "3 more gold steps aren't in the knowledge graph; `graphkit check` lists them" in made.err
