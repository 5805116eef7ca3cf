"""Where repositories come from: stated ones win over those that ids tell, in every output and on both engines."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from graphkit.database.store import Store
from graphkit.files.dataset import Dataset
from graphkit.records.ids import RepositoryRules
from tests.helpers.cli import Graph, inside
from tests.helpers.datasets import read_jsonl, write_jsonl

#: The graph states the repositories; the ids begin with modules.
GRAPH = {
    "nodes": [
        {"id": "flask.app:Flask.run", "repo": "flask"},
        {"id": "flask.app:Flask.wsgi_app", "repo": "flask"},
        {"id": "flask.ctx:RequestContext.push", "repo": "flask"},
        {"id": "werkzeug.serving:run_simple", "repo": "werkzeug"},
    ],
    "links": [
        {"source": "flask.app:Flask.run", "target": "werkzeug.serving:run_simple", "relation": "CALLS"},
        {"source": "werkzeug.serving:run_simple", "target": "flask.app:Flask.wsgi_app", "relation": "CALLS"},
        {"source": "flask.app:Flask.wsgi_app", "target": "flask.ctx:RequestContext.push", "relation": "CALLS"},
    ],
}
PATH = " -CALLS-> ".join(["flask.app:Flask.run", "werkzeug.serving:run_simple", "flask.app:Flask.wsgi_app"])
INNER = "flask.app:Flask.wsgi_app -CALLS-> flask.ctx:RequestContext.push"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a graph, its questions, and a run that walks the second edge of the first question alone."""
    (tmp_path / "graph.json").write_text(json.dumps({"directed": True, "multigraph": True, **GRAPH}))
    (tmp_path / "questions.csv").write_text(f"id,question,path\nq1,How?,{PATH}\nq2,Where?,{INNER}\n")
    walked = ["werkzeug.serving:run_simple", "CALLS", "flask.app:Flask.wsgi_app"]
    records: list[dict[str, Any]] = [
        {"run": "r", "question_id": "q1", "traversal": [walked]},
        {"run": "r", "question_id": "q2", "traversal": []},
    ]
    write_jsonl(tmp_path / "run.jsonl", records)
    return tmp_path


def test_ids_tell_repositories() -> None:
    """Nine tenths of the ids must look like repo:path, with few different repositories, if nothing states one."""

    def told(*ids: str, names: tuple[str, ...] = ()) -> list[str | None]:
        found = RepositoryRules.inferred(set(ids), {}, names)
        return [found.of(one) for one in ids]

    nine = [f"web:src/{number}.ts" for number in range(9)]
    assert told(*nine, "README") == ["web"] * 9 + [None]
    # 8 of 10 are fewer than nine tenths.
    assert told(*nine[:8], "README", "LICENSE") == [None] * 10
    # Eleven repositories of eleven ids are more than ten, and than a tenth of the ids.
    assert told(*(f"r{number}:a.py" for number in range(11))) == [None] * 11
    # What follows a title's colon is no path: it begins with a space.
    assert told("Harbour 1: A Story of Tides", "Lake 1: Notes") == [None, None]
    # A date with a time, a kind, an address, and a name in C++.
    assert told("2026-01-02T10:20", "2026-01-03T10:20") == [None, None]
    assert told("person:ann", "person:bo") == [None, None]
    assert told("https://example.org/a.html", "std::vector") == [None, None]
    # A path may contain a space, a symbol may not.
    assert told("docs:My notes/a b.md", "docs:c d.md#Part one") == ["docs", "docs"]
    # Sources of documents play the part of repositories where a chunk is named.
    assert told("wiki:Ann Lee#2", "imdb:Aida Bay#0") == ["wiki", "imdb"]
    # Symbols of modules and of files: a repository with a dot in its name holds files.
    assert told("web.login:submit", "api.auth:check", "flask.app:Flask.run", "db.users:table") == [None] * 4
    assert told("src/login.ts:submit", "src/auth.py:check(int a)") == [None, None]
    assert told("socket.io:lib/a.js", "next.js:README.md", "d3.js:index.js") == ["socket.io", "next.js", "d3.js"]
    assert told("a:x", "b:y", "c:z") == ["a", "b", "c"]
    # One that a commit names is a repository, whatever the others look like.
    assert told("web:a.ts", "Lake 1: Notes", names=("web",)) == ["web", None]


def test_stated_repositories() -> None:
    """A stated repository wins; ids tell the others if they agree with nine tenths of the stated ones."""
    agreeing = {f"web:{number}.ts": "web" for number in range(9)} | {"legacy:a.ts": "web"}
    found = RepositoryRules.inferred(set(agreeing), agreeing)
    # 9 of 10 agree, so an id that states nothing tells its own, even of a repository that nobody stated.
    assert (found.of("legacy:a.ts"), found.of("legacy:b.ts"), found.of("evil:x.py")) == ("web", "legacy", "evil")
    modules = {"flask.app:run": "flask", "flask.ctx:push": "flask"}
    found = RepositoryRules.inferred(set(modules), modules)
    assert [found.of(one) for one in ("flask.ctx:push", "flask.ctx:pop", "flask:x.py")] == ["flask", None, "flask"]


def test_the_settings_decide(folder: Path) -> None:
    """``dataset.json`` settles it: by the part before a colon, by no id, or by the group of a pattern."""
    inside("init", "d", "questions.csv", cwd=folder, code=0)
    told = {}
    for setting in ("id", "none", r"(?P<repo>\w+)\."):
        (folder / "d/dataset.json").write_text(json.dumps({"repositories": setting}))
        told[setting] = Dataset(folder / "d").places().repo("flask.app:Flask.run")
    assert list(told.values()) == ["flask.app", None, "flask"]
    for wrong, said in (("[", "not a regular expression"), ("(.*)", "no group repo"), (["web"], "must be a text")):
        (folder / "d/dataset.json").write_text(json.dumps({"repositories": wrong}))
        done = inside("check", "d", cwd=folder, code=2)
        assert said in done.err
        assert "dataset.json" in done.err


def test_every_output_names_stated_repositories(folder: Path, any_graph: Graph) -> None:
    """``init``, scores from files and from the graph, failures, the page and the nodes of the graph agree."""
    done = inside("init", "d", "questions.csv", "--graph", "graph.json", cwd=folder, code=0)
    assert "repositories: flask (3), werkzeug (1)" in done.out
    assert "note: 4 ids of 4 begin with something else than their repository" in done.out
    shutil.copy(folder / "run.jsonl", folder / "d/run.jsonl")
    (folder / "d/runs").mkdir()
    shutil.move(folder / "d/run.jsonl", folder / "d/runs/r.jsonl")
    wanted = ("-m", "BoundaryRecall", "-m", "CrossRepoRecall", "--json")
    by_files = inside("evaluate", "d", "--no-store", *wanted, cwd=folder, code=0).object()
    by_graph = inside("evaluate", "d", "--engine", "cypher", *wanted, cwd=folder, env=any_graph.env, code=0).object()
    for result in (by_files, by_graph):
        measures = result["measures"]
        # q1 crosses flask -> werkzeug and back, and one of the two was walked; q2 stays within flask.
        assert measures["BoundaryRecall"]["mean"] == 0.5
        # q1 enters both repositories; q2 logs neither chunks nor an edge that would tell.
        assert (measures["CrossRepoRecall"]["mean"], measures["CrossRepoRecall"]["scored"]) == (1, 1)
    asked = ("--kind", "boundaries-missed", "--json")
    for run, env in (("r", any_graph.env), ("d/runs/r.jsonl", None)):
        (row,) = inside("failures", run, *asked, cwd=folder, env=env, code=0).objects()
        assert [row[name] for name in ("from_repo", "to_repo", "missed", "required")] == ["flask", "werkzeug", 1, 1]
    rows = any_graph.store.read("MATCH (a:Artifact) RETURN a.id AS id, a.repo AS repo ORDER BY id")
    assert [row["repo"] for row in rows] == ["flask", "flask", "flask", "werkzeug"]
    turns = any_graph.store.read("MATCH (g:GoldPath) RETURN g.source_repos AS s, g.target_repos AS t ORDER BY s")
    assert [(row["s"], row["t"]) for row in turns] == [
        (["flask"], ["flask"]),
        (["flask", "werkzeug"], ["werkzeug", "flask"]),
    ]
    inside("report", "d", "-o", "page.html", cwd=folder, code=0)
    page = (folder / "page.html").read_text()
    assert "flask.ctx → " not in page
    assert "flask → werkzeug" in page


def test_a_changed_setting_loads_the_runs_again(folder: Path, graph: Graph) -> None:
    """The graph holds where nodes lie: a dataset that settles it otherwise, and its runs, are loaded again."""
    inside("init", "e", "questions.csv", "--graph", "graph.json", cwd=folder, code=0)
    (folder / "e/runs").mkdir()
    shutil.copy(folder / "run.jsonl", folder / "e/runs/r2.jsonl")
    records = [
        {**one, "run": "r2", "question_id": f"e{one['question_id']}"} for one in read_jsonl(folder / "run.jsonl")
    ]
    write_jsonl(folder / "e/runs/r2.jsonl", records)
    questions = [{**one, "id": f"e{one['id']}"} for one in read_jsonl(folder / "e/questions.jsonl")]
    write_jsonl(folder / "e/questions.jsonl", questions)
    inside("evaluate", "e", cwd=folder, env=graph.env, code=0)
    assert _entered(graph.store) == [["flask", "werkzeug"]]
    write_jsonl(folder / "e/artifacts.jsonl", [{"id": one["id"]} for one in read_jsonl(folder / "e/artifacts.jsonl")])
    (folder / "e/dataset.json").write_text('{"repositories": "id"}')
    inside("evaluate", "e", cwd=folder, env=graph.env, code=0)
    assert _entered(graph.store) == [["flask.app", "werkzeug.serving"]]


def test_module_paths_are_no_repositories(tmp_path: Path) -> None:
    """``init`` makes no repository of a module, names ``--repo-from``, and no measure of repositories is scored."""
    names = ["web.login:submit", "api.auth:check", "db.users:table", "web.cart:add", "api.cart:put", "db.carts:table"]
    nodes = "".join(f'<node id="{name}"/>' for name in names)
    edges = "".join(f'<edge source="{one}" target="{two}"/>' for one, two in zip(names, names[1:], strict=False))
    (tmp_path / "g.graphml").write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        f'<graph edgedefault="directed">{nodes}{edges}</graph></graphml>'
    )
    (tmp_path / "q.csv").write_text("id,question,path\n1,How?,web.login:submit -> api.auth:check\n")
    done = inside("init", "d", "q.csv", "--graph", "g.graphml", "--relation", "CALLS", cwd=tmp_path, code=0)
    assert "repositories:" not in done.out
    assert "note: 6 ids of 6 contain a colon" in done.out
    assert "--repo-from" in done.out


def _entered(store: Store) -> list[object]:
    rows = store.read("MATCH (:Answer {run: 'r2'})-[:WALKED]->(p:RetrievedPath) RETURN p.repositories AS r")
    return [row["r"] for row in rows]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("id", {"flask.app": 2, "flask.ctx": 1, "werkzeug.serving": 1}),
        ("none", {}),
        (r"(?P<repo>\w+)\.", {"flask": 3, "werkzeug": 1}),
        ("package", {"one": 3, "two": 1}),
        ("table.csv", {"one": 4}),
    ],
)
def test_where_repositories_come_from(given: str, found: dict[str, int], folder: Path) -> None:
    """``--repo-from`` takes the form of ids, a pattern, an attribute of nodes, or a table."""
    nodes = [{"id": one["id"], "package": "one" if one["repo"] == "flask" else "two"} for one in GRAPH["nodes"]]
    (folder / "graph.json").write_text(json.dumps({"directed": True, "multigraph": True, **GRAPH, "nodes": nodes}))
    rows = "".join(f"{one['id']},one\n" for one in nodes)
    (folder / "table.csv").write_text(f"id,repo\n{rows}")
    done = inside(
        "init", "d", "questions.csv", "--graph", "graph.json", "--repo-from", given, "--json", cwd=folder, code=0
    )
    assert done.object()["repositories"] == found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("pakage", "no node has the attribute 'pakage'"),
        ("(?P<repo>", "not a regular expression"),
        ("none.csv", "none.csv"),
        ("other.csv", "the table holds no id of the graph"),
    ],
)
def test_sources_that_cannot_be_used(given: str, said: str, folder: Path) -> None:
    """A source that gives no repository is refused, and nothing is written."""
    (folder / "other.csv").write_text("id,repo\nunknown:x,one\n")
    done = inside("init", "d", "questions.csv", "--graph", "graph.json", "--repo-from", given, cwd=folder, code=2)
    assert said in done.err
    assert not (folder / "d").exists()
    alone = inside("init", "d", "questions.csv", "--repo-from", "package", cwd=folder, code=2)
    assert "without a graph, no node states a repository" in alone.err


def test_repo_stated_by_graph(cases: Path, tmp_path: Path) -> None:
    """The case of module paths as its README says: three repositories, and one wording for a walk that joined later."""
    for file in (cases / "repo-stated-by-graph").iterdir():
        shutil.copy(file, tmp_path)
    done = inside("init", "d", "questions.csv", "--graph", "graph.json", "--json", cwd=tmp_path, code=0)
    assert done.object()["repositories"] == {"flask": 3, "jinja": 1, "werkzeug": 2}
    out = inside("evaluate", "run.jsonl", "--dataset", "d", "--no-store", "--json", cwd=tmp_path, code=0).object()
    # Boundaries: q1 walked 1 of 2, q2 0 of 1, q3 0 of 1.
    assert out["measures"]["BoundaryRecall"]["mean"] == pytest.approx(0.5 / 3)
    assert out["measures"].get("Integration", {"scored": 0})["scored"] == 0
    asked = ("failures", "run.jsonl", "--kind", "missed-boundaries", "--dataset", "d", "--json")
    rows = inside(*asked, cwd=tmp_path, code=0).objects()
    crossed = [(one["question"], one["from_repo"], one["to_repo"]) for one in rows if "from_repo" in one]
    assert crossed == [("q1", "flask", "werkzeug"), ("q2", "flask", "werkzeug"), ("q3", "flask", "jinja")]
    why = inside("why", "run.jsonl", "q1", "--dataset", "d", cwd=tmp_path, code=0).out
    assert "the traversal joined the gold path at step 2; 1 required gold edge is not traversed" in why
    assert "instead" not in why


def test_titles_are_ids(texts: Path, tmp_path: Path) -> None:
    """A colon in a title makes no repository, so that no measure of repositories turns the verdict."""
    shutil.copytree(texts / "titles", tmp_path / "titles", copy_function=shutil.copyfile)
    chosen = ("-m", "Recall@5", "-m", "CrossRepoPrecision", "--no-store")
    out = inside("evaluate", "runs/good.jsonl", "runs/bad.jsonl", *chosen, "--json", cwd=tmp_path / "titles", code=0)
    good, bad = out.objects()[:2]
    # Each question has two relevant ids, of which bad retrieves one.
    assert (good["measures"]["Recall@5"]["mean"], bad["measures"]["Recall@5"]["mean"]) == (1, 0.5)
    assert all(one["measures"].get("CrossRepoPrecision", {"scored": 0})["scored"] == 0 for one in (good, bad))
    verdict = inside("compare", "runs/bad.jsonl", "runs/good.jsonl", cwd=tmp_path / "titles", code=0).out
    assert "good beats bad: nDCG@10" in verdict


def test_the_own_example_raises_no_doubt(tmp_path: Path) -> None:
    """The example that `init` writes has five repositories for five ids: a small set isn't doubtful for that."""
    made = inside("init", "d", cwd=tmp_path, code=0)
    assert "repositories: api (1), billing (1), mail (1), schema (1), web (1)" in made.out
    assert "note:" not in made.out + made.err
