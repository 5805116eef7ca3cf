"""``graphkit check`` as a process: each kind of finding on a set that has it, and none on one that hasn't."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphkit.files.assets import storefront_folder
from graphkit.plugins.gold.datasets.dataset_checks import check_dataset
from tests.helpers.cli import NOTHING_LEFT, Graph, Row, without_intervals, write_lines
from tests.helpers.cli import inside as graphkit
from tests.helpers.datasets import write_jsonl

ARTIFACTS: tuple[Row, ...] = (
    {"id": "a:m.py#x", "commit": "a1"},
    {"id": "a:m.py#y", "commit": "a1"},
    {"id": "b:n.py#z", "commit": "b1"},
)
EDGES: tuple[Row, ...] = ({"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#y"},)


def question(number: int, **fields: object) -> Row:
    """Return a valid question whose gold is the only edge of the graph; fields replace or add."""
    return {
        "id": f"q{number}",
        "question": f"Question {number}?",
        "category": "c",
        "difficulty": ("easy", "easy", "medium", "medium", "hard")[number % 5],
        "gold_answer": f"answer number {number} of the set",
        "commits": {"a": "a1", "b": "b1"},
        "paths": [[["a:m.py#x", "CALLS", "a:m.py#y"]]],
        **fields,
    }


def checked(folder: Path, rows: list[Row], *options: object, code: int, **files: tuple[Row, ...]) -> Row:
    """Check a dataset of these questions on the graph above, and return the object that is printed."""
    write_lines(folder / "data" / "questions.jsonl", rows)
    for name, records in {"artifacts": ARTIFACTS, "edges": EDGES, **files}.items():
        write_lines(folder / "data" / f"{name}.jsonl", records)
    return graphkit("check", "data", "--json", *options, cwd=folder, code=code).object()


def reported(result: Row) -> list[tuple[str, str, str | None]]:
    """Return kind, level and question of each finding."""
    return [(one["kind"], one["level"], one["question"]) for one in result["findings"]]


def test_nothing_to_find(tmp_path: Path) -> None:
    """Five good questions of the wanted spread have no finding, also under --strict."""
    result = checked(tmp_path, [question(number) for number in range(5)], "--strict", code=0)
    assert result == {
        "questions": 5,
        "difficulties": {"easy": 2, "medium": 2, "hard": 1},
        "invalid": [],
        "findings": [],
    }


def test_fields_that_are_not_known_are_reported(tmp_path: Path) -> None:
    """A field of a question, or of the baseline's records, that graphkit doesn't know is a warning with the closest."""
    questions = [{**question(number), "dificulty": "easy"} for number in range(5)]
    write_lines(tmp_path / "base.jsonl", [{"run": "b", "question_id": questions[0]["id"], "anser": "x"}])
    options = ("--baseline", tmp_path / "base.jsonl")
    assert [one["what"] for one in checked(tmp_path, questions, *options, code=0)["findings"]] == [
        "base.jsonl: the field 'anser' isn't used (1 record; did you mean answer?)",
        "questions.jsonl: the field 'dificulty' isn't used (5 records; did you mean difficulty?)",
    ]
    checked(tmp_path, questions, "--strict", code=1)


def test_storefront_is_sound() -> None:
    """The fixture holds 39 questions, near 40, 40 and 20 %, and each gold edge is in the graph of its stack.

    Of absent edges, those to what main never had are named: coupons were abandoned, and TAX_RATE is of 1.x, at which
    the gold of another question holds that edge.
    """
    done = graphkit("check", storefront_folder(), "--json", cwd=Path.cwd(), code=0)
    assert done.object()["difficulties"] == {"easy": 12 + 3, "medium": 12 + 4, "hard": 6 + 2}
    assert reported(done.object()) == [("absence", "note", one) for one in ("sf-33", "sf-32", "sf-33")]


def test_pallets_has_no_stale_gold(pallets: Path) -> None:
    """In the real data nothing is stale, and its spread of 50, 25 and 25 % is reported (and fields of its own)."""
    done = graphkit("check", pallets, "--json", cwd=Path.cwd(), code=0)
    found = reported(done.object())
    assert [one for one in found if one[0] != "unknown-field"] == [("difficulty", "warning", None)]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"paths": [[["a:m.py#x", "CALLS", "a:gone.py"]]]}, "the artifact a:gone.py is not in the knowledge graph"),
        ({"paths": [[["a:m.py#x", "CALLS", "b:n.py#z"]]]}, "the knowledge graph has no such edge"),
        (
            {"paths": [[["a:m.py#x", "IMPORTS", "a:m.py#y"]]]},
            "the knowledge graph holds it with another relation, CALLS",
        ),
        ({"commits": {"a": "a2"}}, "a:m.py#x is known at a1, not at the annotated commit a2"),
    ],
)
def test_stale_gold(tmp_path: Path, fields: Row, reason: str) -> None:
    """Gold that the graph doesn't hold, or holds at another commit, makes its question invalid, and no other."""
    rows = [question(number) for number in range(5)]
    rows[2] = question(2, **fields)
    result = checked(tmp_path, rows, code=1)
    assert reported(result) == [("stale-gold", "invalid", "q2")]
    assert reason in result["findings"][0]["what"]
    assert result["invalid"] == ["q2"]


def test_gold_at_one_of_the_commits_of_a_graph(tmp_path: Path) -> None:
    """An edge is stale at a commit before `since` or after `until`, of the question or of a path, and not in between.

    The history of a is a1 - a2 - a3, and a9 has a parent that nobody lists. x calls y until a1 and x calls z since a2;
    it calls w at each commit. Of an edge that states a commit, the graph says nothing at a9.
    """
    commits: list[Row] = [
        {"repo": "a", "sha": "a1"},
        {"repo": "a", "sha": "a2", "parents": ["a1"]},
        {"repo": "a", "sha": "a3", "parents": ["a2"], "tags": ["v3"]},
        {"repo": "a", "sha": "a9", "parents": ["a8"]},
        {"repo": "b", "sha": "b1"},
    ]
    y, z, w = ({"source": "a:m.py#x", "relation": "CALLS", "target": f"a:m.py#{name}"} for name in "yzw")
    at = {"q0": ("a1", y), "q1": ("v3", y), "q2": ("a1", z), "q3": ("v3", z), "q4": ("a3", w), "q5": ("a9", z)}
    questions = [
        question(number, commits={"a": sha, "b": "b1"}, paths=[[[*step.values()]]])
        for number, (sha, step) in enumerate(at.values())
    ]
    # The two sides of q6 are right, those of q7 are the wrong way round: both edges are stale.
    for number, (first, second) in ((6, (y, z)), (7, (z, y))):
        sides = [{"commits": {"a": sha}, "steps": [step]} for sha, step in (("a1", first), ("a2", second))]
        questions.append(question(number, paths=sides))
    edges: list[Row] = [{**y, "until": "a1"}, {**z, "since": "a2"}, w]
    artifacts: list[Row] = [{"id": f"a:m.py#{name}", "commit": "a3"} for name in "xyzw"]
    result = checked(tmp_path, questions, code=1, commits=(*commits,), artifacts=(*artifacts,), edges=(*edges,))
    found = [one for one in reported(result) if one[0] in ("stale-gold", "undated-edge")]
    assert found == [
        *(("stale-gold", "invalid", name) for name in ("q1", "q2", "q7", "q7")),
        ("undated-edge", "warning", "q5"),
    ]
    words = [one["what"] for one in result["findings"] if one["kind"] in ("stale-gold", "undated-edge")]
    assert words == [
        "a:m.py#x -CALLS-> a:m.py#y: the knowledge graph holds it until a1, not at the annotated commit a3",
        *2 * ["a:m.py#x -CALLS-> a:m.py#z: the knowledge graph holds it since a2, not at the annotated commit a1"],
        "a:m.py#x -CALLS-> a:m.py#y: the knowledge graph holds it until a1, not at the annotated commit a2",
        "a:m.py#x -CALLS-> a:m.py#z: the knowledge graph holds it since a2; "
        "the known parents don't tell whether that includes a@a9",
    ]


def test_commit_that_is_not_known(tmp_path: Path) -> None:
    """A commit of the annotation that commits.jsonl does not list is reported; a repository it doesn't list is not.

    Gold may hold there nonetheless: the question stays valid.
    """
    rows = [question(number) for number in range(5)]
    result = checked(tmp_path, rows, code=0, commits=({"repo": "b", "sha": "b2"},))
    assert reported(result) == [("unknown-commit", "warning", f"q{number}") for number in range(5)]
    assert result["invalid"] == []
    assert "b@b1, a commit that commits.jsonl does not hold" in result["findings"][0]["what"]


def test_names_of_criteria_that_nothing_has(tmp_path: Path) -> None:
    """A misspelt name of a criterion would hold, or be broken, for every run; known names are no finding."""
    sha = "5c5bb23" + 33 * "0"
    known = [{"id": "a:m.py#x"}, {"repository": "b"}, {"relation": "CALLS"}, {"commit": "5C5BB23"}, {"commit": "v1"}]
    typos = [
        ({"id": "a:m.py#w"}, "must not id a:m.py#w: the dataset knows no such id; the nearest name is a:m.py#x"),
        ({"repository": "B"}, "must not repository B: the dataset knows no such repository"),
        ({"relation": "CALL"}, "must not relation CALL: the dataset knows no such relation; did you mean CALLS?"),
        ({"commit": "5c5bb24"}, "must not commit 5c5bb24: the dataset knows no such commit"),
    ]
    rows = [question(number) for number in range(5)]
    rows[1]["criteria"] = [*({"must": one} for one in known), {"must": "CALL"}]
    rows[2]["criteria"] = [{"must_not": one} for one, _ in typos]
    commits = ({"repo": "a", "sha": sha, "tags": ["v1"]}, {"repo": "a", "sha": "a1"})
    result = checked(tmp_path, rows, code=0, commits=commits)
    assert reported(result) == [("unknown-name", "warning", "q2")] * 4
    assert [one["what"] for one in result["findings"]] == [what for _, what in typos]
    # Nothing lists commits: they aren't unknown.
    assert len(checked(tmp_path / "other", rows, code=0)["findings"]) == 3


def test_blank_criteria(tmp_path: Path) -> None:
    """A blank criterion can't be decided, so its question gets no CriteriaScore; nor can a rubric that is alone."""
    rows = [question(number) for number in range(5)]
    rows[1]["criteria"] = [{"must": "names it"}, {"must_not": " \n"}]
    rows[2]["rubric"] = " "
    rows[3] |= {"criteria": [{"must": "names it"}], "rubric": " "}
    result = checked(tmp_path, rows, code=0)
    assert reported(result) == [("field", "warning", name) for name in ("q1", "q2", "q3")]
    lost = "the question gets no CriteriaScore"
    assert [one["what"] for one in result["findings"]] == [
        f"criterion 2 (must not) is blank: {lost}",
        f"the rubric is blank: {lost}",
        "the rubric is blank",
    ]


def test_annotated_commits_are_named_by_tag_and_beginning(tmp_path: Path) -> None:
    """Names of a listed commit are listed, and not stale if the graph has that commit; an ambiguous one is reported."""
    one, two = "ab12" + 36 * "1", "ab12" + 36 * "2"
    commits = ({"repo": "a", "sha": one, "tags": ["v1"]}, {"repo": "a", "sha": two})
    artifacts = ({"id": "a:m.py#x", "commit": one}, {"id": "a:m.py#y", "commit": "v1"})
    names = {0: "v1", 1: "ab121", 2: one, 3: "ab12", 4: "ab122"}
    rows = [question(number, commits={"a": name}) for number, name in names.items()]
    result = checked(tmp_path, rows, code=1, commits=commits, artifacts=artifacts)
    assert reported(result) == [
        ("stale-gold", "invalid", "q3"),
        ("stale-gold", "invalid", "q4"),
        ("unknown-commit", "warning", "q3"),
    ]
    assert f"a:m.py#x is known at {one}, not at the annotated commit {two}" in result["findings"][1]["what"]
    assert result["findings"][2]["what"] == (
        "is annotated at a@ab12, a commit that commits.jsonl does not hold (ambiguous prefix: 2 commits)"
    )


def test_gold_that_is_not_stale(tmp_path: Path) -> None:
    """An edge marked as manual, one without a relation, and one of a graph beside the first are fine."""
    rows = [question(number) for number in range(5)]
    manual = {"source": "a:m.py#y", "relation": "CALLS", "target": "b:n.py#z", "evidence": "manual"}
    rows[1] = question(1, paths=[{"steps": [manual]}])
    rows[2] = question(2, paths=[["a:m.py#x", "a:m.py#y"]])
    rows[3] = question(3, commits={"a": "a2"}, stack="new")
    newer = tuple({**one, "commit": "a2"} for one in ARTIFACTS)
    result = checked(tmp_path, rows, code=0, **{"artifacts-new": newer, "edges-new": EDGES})
    assert result["findings"] == []


def test_gold_that_only_a_trace_shows_is_not_stale(tmp_path: Path) -> None:
    """The graph holds no such edge: a step with any evidence but `static` needs none, another step does."""
    rows = [question(number) for number in range(5)]
    for number, evidence in enumerate(("trace", "static")):
        step = {"source": "a:m.py#y", "relation": "CALLS", "target": "b:n.py#z", "evidence": evidence}
        rows[number] = question(number, paths=[{"steps": [step]}])
    result = checked(tmp_path, rows, code=1)
    assert reported(result) == [("stale-gold", "invalid", "q1")]


def test_edge_of_another_stack_is_stale(tmp_path: Path) -> None:
    """The graph that is called like the question's stack decides, though another one holds the edge."""
    rows = [question(number) for number in range(5)]
    rows[3] = question(3, stack="new")
    other = {**EDGES[0], "relation": "IMPORTS"}
    result = checked(tmp_path, rows, code=1, **{"artifacts-new": ARTIFACTS, "edges-new": (other,)})
    assert reported(result) == [("stale-gold", "invalid", "q3")]


def test_missing_fields(tmp_path: Path) -> None:
    """A question without text can't be read, one without gold is invalid, and lesser gaps are a note for the set."""
    rows = [question(number) for number in range(5)]
    del rows[0]["question"]
    rows[1] = {"id": "q1", "question": "Question 1?", "category": "c", "difficulty": "easy", "commits": {"a": "a1"}}
    rows[2] = question(2, category=None, commits={})
    rows[3] = question(3, question=" \n ")
    result = checked(tmp_path, rows, code=1)
    assert reported(result)[:4] == [
        ("record", "invalid", "q0"),
        ("field", "invalid", "q1"),
        ("field", "invalid", "q3"),
        ("field", "note", None),
    ]
    assert "the field 'question' is missing" in result["findings"][0]["what"]
    # Of the four that can be read, q2 has neither.
    assert [one["what"].partition(":")[0] for one in result["findings"] if one["level"] == "note"] == [
        "1 of 4 questions lack a category",
        "1 of 4 questions lack commits or a stack",
    ]
    assert result["invalid"] == ["q0", "q1", "q3"]


def test_a_file_of_questions(tmp_path: Path) -> None:
    """A file of questions is checked under any name, with the graph beside it; a table is refused with the remedy."""
    write_lines(tmp_path / "mine.jsonl", [{"id": "q1", "question": "?", "gold_answer": "x"}])
    done = graphkit("check", "mine.jsonl", "--strict", cwd=tmp_path, code=0)
    assert done.out.count("note ") == 3
    assert "no question has commits or a stack: gold holds at any commit" in done.out
    (tmp_path / "q.csv").write_text("question\nx\n")
    assert "`graphkit init my-eval q.csv` makes a dataset" in graphkit("check", "q.csv", cwd=tmp_path, code=2).err
    assert "no such folder" in graphkit("check", "none.jsonl", cwd=tmp_path, code=2).err


def test_duplicates(tmp_path: Path) -> None:
    """The same text is found but for case, white space and signs at its ends; another id for it is a warning."""
    rows = [question(number) for number in range(5)]
    rows[3] = question(3, question="  question   0 ")
    rows[4] = question(4, question="Question 0+?")
    result = checked(tmp_path, rows, code=0)
    assert reported(result) == [("duplicate", "warning", "q3")]
    assert result["findings"][0]["what"] == "asks the same as q0"


def test_repeated_id(tmp_path: Path) -> None:
    """A second question of an id can't be used."""
    rows = [question(number) for number in range(5)]
    result = checked(tmp_path, [*rows, question(0, question="Something else?")], code=1)
    assert reported(result) == [("record", "invalid", "q0")]


def test_difficulty_spread(tmp_path: Path) -> None:
    """Five easy questions are not the wanted spread: a warning, which only --strict holds against the set."""
    rows = [question(number, difficulty="easy") for number in range(5)]
    result = checked(tmp_path, rows, code=0)
    assert reported(result) == [("difficulty", "warning", None)]
    assert "easy 100 %, medium 0 %, hard 0 %" in result["findings"][0]["what"]
    checked(tmp_path, rows, "--strict", code=1)


def test_no_room_to_improve(tmp_path: Path) -> None:
    """A baseline's right answer leaves no room: by the expected output, else by the gold answer."""
    rows = [question(number) for number in range(5)]
    rows[1] = question(1, expected_output="the span")
    answers = [
        {"run": "b", "question_id": "q0", "answer": "It is the ANSWER  number 0 of the set."},
        {"run": "b", "question_id": "q1", "answer": "answer number 1 of the set"},
        {"run": "b", "question_id": "q2", "answer": "answer number 2 of the set", "error": "broken later"},
        {"run": "b", "question_id": "q3", "answer": "I don't know."},
    ]
    run = write_lines(tmp_path / "b.jsonl", answers)
    result = checked(tmp_path, rows, "--baseline", run, code=0)
    assert reported(result) == [("no-room", "warning", "q0")]


def test_text_output(tmp_path: Path) -> None:
    """Without --json there is a row a finding and a sum; the reason of the exit code is reported on standard error."""
    checked(tmp_path, [question(0, paths=[]), question(0)], code=1)
    done = graphkit("check", "--full", "data", cwd=tmp_path, code=1)
    assert "record invalid q0" in " ".join(done.out.split())
    assert "1 question (1 easy, 0 medium, 0 hard): 1 record, 1 difficulty" in done.out
    assert "1 finding that makes a question invalid" in done.err


def test_one_finding_is_shown_once(tmp_path: Path) -> None:
    """The same finding about many questions is one line with its count; --json still has each of them.

    Sixty questions lack a category, two lines can't be read for one reason, and nothing else is off: two lines.
    """
    rows = [question(number, category=None, paths=[["a:m.py#x", "a:m.py#y"]]) for number in range(60)]
    result = checked(tmp_path, [*rows, {"id": "b1"}, {"id": "b2"}], code=1)
    [field] = [one for one in result["findings"] if one["kind"] == "field"]
    assert (field["level"], field["question"]) == ("note", None)
    lost = [one["what"] for one in result["findings"] if one["kind"] == "record"]
    assert len(lost) == 2
    assert [what.partition(": ")[0] for what in lost] == ["data/questions.jsonl:61", "data/questions.jsonl:62"]
    done = graphkit("check", "--full", "data", cwd=tmp_path, code=1)
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "field note \u2013 1 no question has a category: `--by category` has nothing to group by" in lines
    [record] = [line for line in lines if line.startswith("record")]
    assert record.startswith("record invalid b1, b2 2 data/questions.jsonl:61: ")
    assert record.endswith(" (the first of 2)")
    assert len([line for line in lines if line.startswith(("record", "field"))]) == 2
    assert "60 questions (24 easy, 24 medium, 12 hard): 2 record, 1 field" in done.out
    assert "2 findings that make a question invalid, 0 warnings" in done.err


def test_no_dataset(tmp_path: Path) -> None:
    """A folder that isn't there is bad input."""
    assert "no such folder" in graphkit("check", "absent", cwd=tmp_path, code=2).err


@pytest.mark.parametrize("engine", ["python", "cypher"])
def test_stale_gold_is_not_scored(any_graph: Graph, tmp_path: Path, engine: str) -> None:
    """The invalid question leaves the mean, has its reason, is no failure, and is reported; a repaired graph scores it.

    Both runs walk the gold of s1 and nothing else: EdgeRecall is 1 over s1 alone, and 0.5 once s2 is valid.
    """
    data = tmp_path / f"stale-{engine}"
    walk = [["a:m.py#x", "CALLS", "a:m.py#y"]]
    gone = [["a:m.py#x", "CALLS", "a:gone.py"]]
    asked = [question(1, id=f"{engine}-s1"), question(2, id=f"{engine}-s2", paths=[gone])]
    run = f"walks-{engine}"
    write_lines(data / "questions.jsonl", asked)
    write_lines(data / "edges.jsonl", list(EDGES))
    answers = [{"run": run, "question_id": one["id"], "traversal": walk} for one in asked]
    write_lines(data / "runs" / "r.jsonl", answers)

    def evaluated(*artifacts: Row, store: bool = True) -> Row:
        write_lines(data / "artifacts.jsonl", list(artifacts))
        where = ("--engine", engine) if store else ("--no-store",)
        options = ("-m", "EdgeRecall", "--json", "-o", "out.jsonl", *where)
        return graphkit("evaluate", data / "runs" / "r.jsonl", *options, cwd=tmp_path, env=any_graph.env).object()

    for store in (True, False):
        result = evaluated(*ARTIFACTS, store=store)
        assert (result["questions"], result["failed"], result["missing"], result["invalid"]) == (2, 0, 0, 1)
        assert without_intervals(result)["measures"]["EdgeRecall"] == {
            **{"mean": 1.0, "scored": 1, "total": 2},
            # The question with stale gold may be worth 0 or 1.
            **{"lowest": 0.5, "highest": 1.0},
            **{"failed": 0, "missing": 0, "worst": 0.0, "with_failed": 1.0, **NOTHING_LEFT, "of_question": 1},
        }
        reasons = [json.loads(line)["reason"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        assert None in reasons
        (why,) = (one for one in reasons if one is not None)
        assert "stale gold" in why
        assert "a:gone.py is not in the knowledge graph" in why
    missed = graphkit("failures", run, "--kind", "missed-edges", "--json", cwd=tmp_path, env=any_graph.env)
    assert missed.out.strip() in ("", "[]")
    stale = graphkit("failures", run, "--kind", "stale-gold", cwd=tmp_path, env=any_graph.env)
    assert f"{engine}-s2" in stale.out

    other = data / "runs" / "other.jsonl"
    write_lines(other, [{**one, "run": f"other-{engine}", "traversal": [gone]} for one in answers])
    done = graphkit("compare", run, other, "-m", "EdgeRecall", "--json", cwd=tmp_path, env=any_graph.env)
    assert "the gold of 1 question is stale: not compared" in done.err
    (measure,) = done.object()["groups"][0]["measures"]
    assert (measure["questions"], measure["first"], measure["second"]) == (1, 1.0, 0.0)

    write_lines(data / "edges.jsonl", [*EDGES, {"source": "a:m.py#x", "relation": "CALLS", "target": "a:gone.py"}])
    repaired = evaluated(*ARTIFACTS, {"id": "a:gone.py"})
    assert (repaired["invalid"], repaired["measures"]["EdgeRecall"]["mean"]) == (0, 0.5)


def test_patterns_that_match_nothing_are_named(tmp_path: Path) -> None:
    """A misspelt repository, id and relation are named with their principals; what matches gold or the graph isn't."""
    questions = [{"id": "q", "question": "?", "paths": [{"steps": [["web:a.ts", "CALLS", "api:b.py"]]}]}]
    write_jsonl(tmp_path / "questions.jsonl", questions)
    write_jsonl(tmp_path / "edges.jsonl", [{"source": "hr:c.py", "relation": "READS", "target": "db:d.sql"}])
    rules = [
        {"principal": "web-team", "allow": ["web:*", "ap:*", {"relation": "READS"}], "deny": [{"repository": "hrr"}]},
        {"principal": "hr-team", "allow": ["hr:*", "ap:*", {"relation": "WRITES"}, {"repository": "d?"}]},
    ]
    write_jsonl(tmp_path / "access.jsonl", rules)
    found = [one.what for one in check_dataset(tmp_path).findings if one.kind == "access"]
    assert found == [
        "access.jsonl: the pattern 'ap:*' of web-team (allow), hr-team (allow) matches no id that the dataset knows",
        "access.jsonl: the pattern 'hrr' of web-team (deny) matches no repository that the dataset knows",
        "access.jsonl: the pattern 'WRITES' of hr-team (allow) matches no relation that the dataset knows",
    ]


def test_check_says_what_has_no_answer_for_a_principal(tmp_path: Path) -> None:
    """Whom --as names may not read b, which the second question requires; the third is asked by somebody else."""
    rules: tuple[Row, ...] = ({"principal": "p", "allow": ["a:*"]}, {"principal": "other", "allow": ["a:*", "b:*"]})
    rows = [
        question(0),
        question(1, paths=None, relevant={"b:n.py#z": 1}),
        question(2, paths=None, relevant={"b:n.py#z": 1}, principal="other"),
    ]
    for options, expected in (((), []), (("--as", "p"), ["q1"])):
        found = checked(tmp_path, rows, *options, code=0, access=rules)
        assert [one["question"] for one in found["findings"] if one["kind"] == "access"] == expected
    assert "has no answer for 'p', who may not read" in str(found)
    assert "no rule names the principal 'q'" in graphkit("check", "data", "--as", "q", cwd=tmp_path, code=2).err
