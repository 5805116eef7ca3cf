"""Loads of bad input leave the graph as it was, and odd names are kept as they are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.files.mistakes import GAIN, MISTAKES, Q1, Q2, SHAS, Lines, commit, gain
from tests.helpers.cli import ANSWERS, NOTHING_LEFT, QUESTIONS, Graph, Row, inside, tiny, without_intervals, write_lines
from tests.helpers.cli import inside as graphkit


def spoiled_dataset(folder: Path) -> list[str]:
    """Write a dataset with one mistake of each kind that loading meets; return where they are, with their records."""
    q3, q4 = {**Q2, "id": "q3"}, {**Q2, "id": "q4", "difficulty": "impossible"}
    tiny(
        folder,
        (Q1, "{", gain("NaN"), q3, {**q3, "question": "again"}, q4),
        commits=(commit(0), commit(1, 2), commit(2, 1), commit(3), commit(3, 0)),
        compatibility=({"id": "s", "commits": {"a": SHAS[0]}}, {"id": "t", "commits": "a"}),
        artifacts=({"id": "a:m.py#x"}, {"id": "a:m.py#x", "kind": "function"}),
        edges=(
            {"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#y"},
            {"source": "a:m.py#x", "target": "a:m.py#y"},
        ),
    )
    return [
        "questions.jsonl:2: not valid JSON",
        f"questions.jsonl:3: record 'q2': {GAIN}",
        "questions.jsonl:5: record 'q3': the id is already taken",
        "questions.jsonl:6: record 'q4': difficulty",
        f"commits.jsonl:2: record '{SHAS[1]}': the parents form a cycle",
        f"commits.jsonl:5: record 'a@{SHAS[3]}': the record is a repeat of",
        "compatibility.jsonl:2: record 't': commits",
        "artifacts.jsonl:2: record 'a:m.py#x': the record is a repeat of",
        "edges.jsonl:2: the field 'relation' is missing",
    ]


def test_refused_load_leaves_nothing(any_graph: Graph, tmp_path: Path) -> None:
    """After any mistake in a dataset both databases hold nothing of it, not even the reservation of a load."""
    for number, (name, mistake) in enumerate(MISTAKES.items()):
        if not mistake.place.startswith("runs/"):
            folder = tmp_path / str(number)
            mistake.write(folder)
            done = inside("load", folder, cwd=tmp_path, env=any_graph.env, code=2)
            assert f"{folder / mistake.place}: " in done.err, name
            assert mistake.reported in done.err, name
            assert any_graph.content() == [], name
    assert inside("db", "status", "--json", cwd=tmp_path, env=any_graph.env, code=0).object()["unfinished"] == []


def longest() -> tuple[list[Row], list[Row], dict[str, Lines]]:
    """Return a dataset whose names are as long as they may be, of characters that take four bytes each."""
    name = {one: (one + 1000 * "\U0001f600")[:1000] for one in "qrabcdgrs"}
    node = {one: f"{one}:{998 * chr(0x1F600)}" for one in "ab"}
    commits = {name["a"]: name["c"], name["b"]: name["d"]}
    step = {"source": node["a"], "relation": name["r"], "target": node["b"]}
    question = {
        "id": name["q"],
        "question": 100_000 * "long text ",
        "paths": [{"id": name["g"], "group": name["g"], "steps": [step]}],
        "relevant": {node["a"]: 1},
        "expected_files": [name["a"]],
        "commits": commits,
        "stack": name["s"],
    }
    chunk = {"id": node["a"], "repo": name["a"], "path": name["b"], "commit": name["c"], "text": 100_000 * "long text "}
    answer = {
        "run": name["r"],
        "question_id": name["q"],
        "retrieved": [chunk],
        "traversal": [{**step, "source_commit": name["c"], "target_commit": name["d"]}],
        "answer": 100_000 * "long text ",
    }
    zones = ("2026-01-02T03:04:05+18:00", "0001-01-01T00:00:00-18:00", "9999-12-31T23:59:59+18:00")
    files: dict[str, Lines] = {
        "commits": tuple(
            {"repo": name["a"], "sha": sha, "parents": [name["d"]], "committed_at": at}
            for sha, at in zip((name["c"], "1", "2"), zones, strict=True)
        ),
        "compatibility": (
            {"id": name["s"], "commits": commits, "environment": "prod", "at": zones[0]},
            {"id": "t", "commits": commits},
        ),
        "artifacts": tuple({"id": id_, "repo": name["a"], "commit": name["c"]} for id_ in node.values()),
        "edges": (step,),
    }
    return [question], [answer], files


def test_longest_names_and_farthest_times_are_kept(any_graph: Graph, tmp_path: Path) -> None:
    """Both databases hold names of 1000 characters, alone and in pairs, times at the limits, and long texts."""
    questions, answers, files = longest()
    run = tiny(tmp_path / "data", questions, answers, **files)
    for engine in ("python", "cypher"):
        options = ("--engine", engine, "-m", "EdgeRecall", "-m", "Coherence", "-m", "Recall@5")
        done = inside("evaluate", "--json", *options, run, cwd=tmp_path, env=any_graph.env, code=0)
        measured = done.object()["measures"]
        assert {name: one["mean"] for name, one in measured.items()} == {
            "EdgeRecall": 1.0,
            "Coherence": 1.0,
            "Recall@5": 1.0,
        }
    assert any_graph.store.read("MATCH (l:Load) RETURN l.name") == []
    assert any_graph.store.read("MATCH (:Chunk)-[:AT]->(c:Commit) RETURN count(*) AS n") == [{"n": 1}]


#: Parts of names that have a meaning somewhere on their way: for a terminal, a file, JSON, a key or a query.
ODD = (
    "\0",
    "\x1f",
    "\x1b[31m",
    "\r\n",
    "\x85",
    "\u202e",
    "\ufeff",
    "\u2028",
    "\ufffe",
    "e\u0301",
    "/../",
    "\\",
    "'\"`",
    "%s",
    "@",
)


def test_odd_names_are_kept(any_graph: Graph, tmp_path: Path) -> None:
    """Both databases hold names with odd characters as they are, and tell apart what only looks alike."""
    names = [*(f"a:{odd}b" for odd in ODD), "a:\u00e9b"]
    questions = [
        {"id": name, "question": "?", "paths": [[[name, "R", "a:z"]]], "relevant": [name], "commits": {name: name}}
        for name in names
    ]
    run = tiny(
        tmp_path / "odd",
        questions,
        [
            {"run": "r\n/", "question_id": name, "retrieved": [name], "traversal": [[name, "R", "a:z"]]}
            for name in names
        ],
        commits=[{"repo": name, "sha": name} for name in names],
        compatibility=[{"id": name, "commits": {name: name}} for name in names],
    )
    for engine in ("python", "cypher"):
        done = inside(
            "evaluate", "--engine", engine, "-m", "EdgeRecall", "-m", "RR", "--json", run,
            cwd=tmp_path, env=any_graph.env, code=0,
        )  # fmt: skip
        whole = {"mean": 1.0, "scored": len(names), "total": len(names), "lowest": 1.0, "highest": 1.0}
        whole |= {"failed": 0, "missing": 0, "worst": 0.0, "with_failed": 1.0, **NOTHING_LEFT}
        assert without_intervals(done.object())["measures"] == dict.fromkeys(("EdgeRecall", "RR"), whole)
    for label in ("Question", "Stack"):
        held = any_graph.store.read(f"MATCH (n:{label}) RETURN n.id AS id")
        assert sorted(str(row["id"]) for row in held) == sorted(names)


def test_separator_in_names_of_answers(any_graph: Graph, tmp_path: Path) -> None:
    """The answers of two runs don't take each other's place, wherever the separator of their keys stands."""
    questions = [{**Q1, "id": "b\x1fc"}, {**Q2, "id": "c"}]
    for run, question in (("a", "b\x1fc"), ("a\x1fb", "c")):
        file = tiny(tmp_path / "data", questions, [{"run": run, "question_id": question}])
        inside("evaluate", "-m", "EdgeRecall", file, cwd=tmp_path, env=any_graph.env, code=0)
    rows = any_graph.store.read("MATCH (a:Answer) RETURN a.run AS run, a.question AS question ORDER BY run")
    assert [(row["run"], row["question"]) for row in rows] == [("a", "b\x1fc"), ("a\x1fb", "c")]


def test_separator_in_names_of_commits(any_graph: Graph, tmp_path: Path) -> None:
    """Two commits don't take each other's place, wherever the separator of their keys stands in their names."""
    # One chunk of each of the repositories "a@b" and "a", at the commits "c" and "b@c": no rule joins these, so the one
    # pair of chunks doesn't fit. The question pins "c" of "a@b", so the commit of "a" is off no pin, "c%" of "a@b" is.
    # The one row that holds commits holds another of "a". The commit "b@c" of "a" has the parent "0@0";
    # "a%40b" is no other way to write "a@b".
    commits: list[Row] = [
        {"repo": "a@b", "sha": "c"},
        {"repo": "a", "sha": "b@c", "parents": ["0@0"]},
        {"repo": "a", "sha": "0@0"},
        {"repo": "a", "sha": "b%40c"},
    ]
    retrieved = [{"id": f"{one['repo']}:x.py", "commit": one["sha"]} for one in commits[:2]]
    run = tiny(
        tmp_path,
        [{**Q1, "commits": {"a@b": "c"}}],
        [{"run": "r", "question_id": "q1", "retrieved": retrieved}],
        commits=commits,
        compatibility=[{"id": "s", "commits": {"a@b": "c", "a": "0@0"}}],
    )
    for engine in ("python", "cypher"):
        options = ("evaluate", "--engine", engine, "-m", "Coherence", "-m", "Incoherent", "-m", "OffPin", "--json")
        done = inside(*options, run, cwd=tmp_path, env=any_graph.env, code=0)
        assert {name: row["mean"] for name, row in done.object()["measures"].items()} == {
            "Coherence": 0.0,
            "Incoherent": 1.0,
            "OffPin": 1.0,
        }
    rows = any_graph.store.read("MATCH (c:Commit) RETURN c.repo AS repo, c.sha AS sha ORDER BY repo, sha")
    assert [(row["repo"], row["sha"]) for row in rows] == [("a", "0@0"), ("a", "b%40c"), ("a", "b@c"), ("a@b", "c")]
    rows = any_graph.store.read("MATCH (c:Commit)-[:PARENT]->(p:Commit) RETURN c.sha AS sha, p.sha AS parent")
    assert rows == [{"sha": "b@c", "parent": "0@0"}]


@pytest.mark.skipif(sys.platform == "darwin", reason="every name of a file is UTF-8 there")
@pytest.mark.parametrize("place", ["\udcff/data", "data\udcff", "data/artifacts-\udcff.jsonl"])
def test_name_of_a_file_that_is_no_text(place: str, graph: Graph, tmp_path: Path) -> None:
    """A folder or a knowledge graph whose name no database holds is refused with its place."""
    before = graph.content()
    folder = tmp_path / place.partition("/artifacts")[0]
    run = tiny(folder)
    if "artifacts" in place:
        write_lines(tmp_path / place, [{"id": "a:m.py#x"}])
    for command in (("load", folder), ("evaluate", "--json", run)):
        done = inside(*command, cwd=tmp_path, env=graph.env, code=2)
        assert "the name isn't UTF-8\n  Give it another name." in done.err
    assert graph.content() == before


def test_load_refuses_and_keeps_what_is_there(graph: Graph, tmp_path: Path) -> None:
    """Every mistake of a dataset is reported at once, and its earlier, good form stays in the graph untouched."""
    tiny(tmp_path / "shop", commits=(commit(0),))
    graphkit("load", "shop", cwd=tmp_path, env=graph.env, code=0)
    before = graph.content()
    places = spoiled_dataset(tmp_path / "shop")
    done = graphkit("load", tmp_path / "shop", cwd=tmp_path, env=graph.env, code=2)
    assert done.out == ""
    for place in places:
        assert f"  {tmp_path}/shop/{place}" in done.err
    assert f"{len(places)} records can't be used" in done.err
    assert "--on-error skip" in done.err
    assert graph.content() == before


def test_load_skips(graph: Graph, tmp_path: Path) -> None:
    """With --on-error skip each mistake is reported, and just the good records are in the graph."""
    places = spoiled_dataset(tmp_path / "shop")
    done = graphkit("load", tmp_path / "shop", "--on-error", "skip", cwd=tmp_path, env=graph.env, code=0)
    told = [line for line in done.err.splitlines() if line.startswith("skipped: ")]
    assert len(told) == len(places)
    for place in places:
        assert any(line.startswith(f"skipped: {tmp_path}/shop/{place}") for line in told), place

    def held(text: str) -> list[object]:
        return [row["id"] for row in graph.store.read(text)]

    assert held("MATCH (q:Question {dataset: 'shop'}) RETURN q.id AS id ORDER BY id") == ["q1", "q3"]
    assert held("MATCH (q:Question {id: 'q3'}) RETURN q.question AS id") == ["What does x call?"]
    assert held("MATCH (c:Commit {repo: 'a'}) RETURN c.sha AS id ORDER BY id") == [SHAS[0], SHAS[3]]
    assert held("MATCH (s:Stack {dataset: 'shop'}) RETURN s.id AS id") == ["s"]


def test_load_with_nothing_usable(graph: Graph, tmp_path: Path) -> None:
    """A dataset without one good question is refused also when skipping, and its earlier form is kept."""
    before = graph.content()
    tiny(tmp_path / "shop", ("{", "x"))
    done = graphkit("load", tmp_path / "shop", "--on-error", "skip", cwd=tmp_path, env=graph.env, code=2)
    assert "nothing usable is left" in done.err
    tiny(tmp_path / "shop", ("", ""))
    done = graphkit("load", tmp_path / "shop", cwd=tmp_path, env=graph.env, code=2)
    assert "the dataset holds no question" in done.err
    assert graph.content() == before


def test_bad_run_is_not_kept(graph: Graph, tmp_path: Path) -> None:
    """A run with a mistake leaves the earlier run of its name as it was."""
    questions, kept = renamed("kept")
    run = tiny(tmp_path / "kept", questions, kept)
    graphkit("evaluate", run, cwd=tmp_path, env=graph.env, code=0)
    before = graph.content()
    write_lines(run, [kept[0], {**kept[1], "answer": "changed"}, "{"])
    done = graphkit("evaluate", run, cwd=tmp_path, env=graph.env, code=2)
    assert f"{run}:3: not valid JSON" in done.err
    assert graph.content() == before
    done = graphkit("evaluate", "--on-error", "skip", "--json", run, cwd=tmp_path, env=graph.env, code=0)
    assert done.err.count("skipped: ") == 1
    assert graph.store.read("MATCH (a:Answer {run: 'kept', answer: 'changed'}) RETURN a.question AS q") == [
        {"q": kept[1]["question_id"]}
    ]


def test_mistake_of_the_dataset_is_reported_once(graph: Graph, tmp_path: Path) -> None:
    """A question that loading leaves out isn't reported a second time by scoring."""
    questions, answers = renamed("once")
    run = tiny(tmp_path / "once", [{**questions[0], "colour": "red"}, questions[1], "{"], answers)
    for _ in range(2):
        done = graphkit("evaluate", "--on-error", "skip", run, cwd=tmp_path, env=graph.env, code=0)
        assert done.err.count("skipped: ") == 1
        assert done.err.count("the field 'colour' isn't used (1 record)") == 1


def renamed(name: str) -> tuple[list[Row], list[Row]]:
    """Return questions and answers of a run whose ids belong to no other test."""
    questions = [{**one, "id": f"{name}-{one['id']}"} for one in QUESTIONS]
    return questions, [{**one, "run": name, "question_id": f"{name}-{one['question_id']}"} for one in ANSWERS]


def test_ids_of_another_dataset(graph: Graph, tmp_path: Path) -> None:
    """Questions may have the ids of another dataset; a run its name not, and no load counts as interrupted."""
    questions, answers = renamed("taken")
    graphkit("evaluate", tiny(tmp_path / "one", questions, answers), cwd=tmp_path, env=graph.env, code=0)
    before = graph.content()
    tiny(tmp_path / "two", questions)
    graphkit("load", tmp_path / "two", cwd=tmp_path, env=graph.env, code=0)
    assert set(before) <= set(graph.content())
    questions, answers = renamed("three")
    run = tiny(tmp_path / "three", questions, [{**one, "run": "taken"} for one in answers])
    done = graphkit("evaluate", run, cwd=tmp_path, env=graph.env, code=2)
    assert f"{run}: the run 'taken' already belongs to the dataset 'one'" in done.err
    assert graph.store.read("MATCH (l:Load) RETURN l.name") == []
