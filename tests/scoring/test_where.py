"""Questions picked by what the dataset says of them: which are scored, what every output says, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphkit
from graphkit.errors import InputError
from tests.helpers.cli import inside, tiny
from tests.helpers.properties import examples

#: By id: the split, the required edges, and the share of them that the run walks (None for a failed answer).
WORLD = {
    "q1": ("dev", [["web:a", "CALLS", "api:b"]], 1),
    "q2": ("dev", [["web:a", "CALLS", "api:b"], ["api:b", "USES", "api:c"]], 0.5),
    "q3": ("test", [["api:b", "USES", "api:c"]], 0),
    "q4": ("test", [["api:b", "USES", "api:c"], ["api:c", "USES", "db:d"]], None),
    "q5": (None, [["web:a", "CALLS", "db:d"]], 1),
}


def world(folder: Path) -> Path:
    """Write the world, its run in another order than its questions, and return the run."""
    questions = [
        {"id": name, "question": f"About {name}?", "paths": [edges], "category": "x" if name < "q4" else "y"}
        | ({} if split is None else {"split": split})
        | ({"session": "talk"} if name == "q4" else {})
        for name, (split, edges, _) in WORLD.items()
    ]
    answers = []
    for name, (_, edges, share) in [*WORLD.items()][::-1]:
        answer = {"run": "r", "question_id": name, "traversal": edges[: int((share or 0) * len(edges))]}
        answers.append(answer | {"latency_ms": 100 * int(name[1:])} | ({"error": "lost"} if share is None else {}))
    return tiny(folder, questions, answers)


@pytest.mark.parametrize(
    ("where", "chosen"),
    [
        ("split == 'dev'", ["q1", "q2"]),
        ("Split in ('test')", ["q3", "q4"]),
        ("split == none", ["q5"]),
        ("session == 'talk'", ["q4"]),
        ("not split == 'dev'", ["q3", "q4"]),  # q5 has none: neither true nor false
        ("hops >= 2", ["q2", "q4"]),
        ("repositories == 1", ["q3"]),
        ("boundary contains 'web -> '", ["q1", "q2", "q5"]),
        ("relation == 'CALLS, USES'", ["q2"]),
        ("repo contains 'db'", ["q4", "q5"]),
        ("question in ('q1', 'q9') or category == 'y' and hops < 2", ["q1", "q5"]),
        ("text contains 'about q3'", ["q3"]),
    ],
)
def test_questions_are_picked_by_their_gold_and_labels(tmp_path: Path, where: str, chosen: list[str]) -> None:
    """The rows are those of the picked questions, in the order of the dataset."""
    result = graphkit.evaluate(world(tmp_path), measures=["EdgeRecall"], where=where)
    assert [row.question for row in result.rows] == chosen
    shares = [WORLD[name][2] for name in chosen]
    scored = [float(share) for share in shares if share is not None]
    assert (
        result.measures["EdgeRecall"].mean == pytest.approx(sum(map(float, scored)) / len(scored)) if scored else True
    )
    assert (result.questions, result.failed) == (len(chosen), shares.count(None))
    # q1 takes 100 ms, q2 200 and so on; a failed record's time is in the total.
    assert result.efficiency["latency_ms"].total == 100 * sum(int(name[1:]) for name in chosen)
    assert result.as_json()["where"] == {
        "filter": result.chosen and result.chosen.filter,
        "questions": len(chosen),
        "of": 5,
    }


@examples(60)
@given(st.sets(st.sampled_from([*WORLD]), min_size=1))
def test_a_part_has_the_values_of_the_whole(tmp_path_factory: pytest.TempPathFactory, names: set[str]) -> None:
    """Whichever questions are picked, each has the row that it has in the whole, and gold is hashed as if alone."""
    run = world(tmp_path_factory.mktemp("world"))
    whole = {row.question: row for row in graphkit.evaluate(run, outcomes=True).rows}
    where = " or ".join(f"question == '{name}'" for name in names)
    part = graphkit.evaluate(run, where=where, outcomes=True)
    assert {row.question: row for row in part.rows} == {name: whole[name] for name in names}
    lines = [json.loads(line) for line in (run.parents[1] / "questions.jsonl").read_text().splitlines()]
    records = [json.loads(line) for line in run.read_text().splitlines()]
    alone = tiny(
        tmp_path_factory.mktemp("alone"),
        [one for one in lines if one["id"] in names],
        [one for one in records if one["question_id"] in names],
    )
    own = graphkit.evaluate(alone, outcomes=True)
    assert (own.gold_hash, own.measures, own.unscored) == (part.gold_hash, part.measures, part.unscored)


def test_gates_and_outputs_state_their_slice(tmp_path: Path) -> None:
    """The gate's sentence, JSON, Markdown, JUnit and the terminal say the filter, and how many questions it picks."""
    run = world(tmp_path)
    arguments = ("evaluate", "--where", "split == 'dev'", "-m", "EdgeRecall", "--fail-under", "EdgeRecall=0.8", run)
    files = [tmp_path / name for name in ("r.md", "r.xml", "r.json")]
    done = inside(*arguments, "--json", *(one for file in files for one in ("-o", file)), cwd=tmp_path, code=1)
    # q1 is 1, q2 .5.
    said = "over 2 of 5 questions, split == 'dev'"
    assert f"r: EdgeRecall is 0.7500, under 0.8; {said}" in done.err
    assert f"note: r: {said}; nothing is stored in the graph" in done.err
    assert done.object()["where"] == {"filter": "split == 'dev'", "questions": 2, "of": 5}
    texts = [file.read_text() for file in files]
    assert all(said.replace("'", quote) in text for text, quote in zip(texts, ("'", "'", "'"), strict=True))
    done = inside(*arguments, cwd=tmp_path, code=1)
    assert said in done.err


def test_the_next_command_is_of_the_same_questions(tmp_path: Path) -> None:
    """A comparison or a page that is named as the next step takes the same filter; why explains one question."""
    run = world(tmp_path)
    for name in ("s", "t"):
        run.with_name(f"{name}.jsonl").write_text(run.read_text(encoding="utf-8").replace('"r"', f'"{name}"'))
    runs = [run.with_name(f"{name}.jsonl") for name in "rst"]
    part = ("-m", "EdgeRecall", "--where", 'split == "dev"')
    out = inside("evaluate", "--no-store", *part, *runs[:2], cwd=tmp_path).out
    named = [line for line in out.splitlines() if "graphkit compare " in line]
    assert [line.endswith(""" --where 'split == "dev"'""") for line in named] == [True]
    out = inside("compare", *runs, *part, cwd=tmp_path, code=0).out
    assert f"""graphkit compare {runs[0]} {runs[1]} --where 'split == "dev"'""" in out
    out = inside("evaluate", "--no-store", "--where", 'question == "q1"', run, cwd=tmp_path).out
    assert f"""graphkit report {run} --where 'question == "q1"'""" in out  # the walk lacks nothing


def test_in_shards(tmp_path: Path) -> None:
    """A results folder has the rows and figures of the part, as the whole file does."""
    run = world(tmp_path)
    arguments = ("evaluate", "--where", "hops >= 2", "--json", "--fail-over", "latency_p95=1s", run)
    whole = inside(*arguments, cwd=tmp_path, code=1).object()
    shards = inside(*arguments, "-o", tmp_path / "results", cwd=tmp_path, code=1).object()
    assert {**whole, "known": None} == {**shards, "known": None}
    assert [row.question for row in graphkit.read_results(tmp_path / "results").rows()] == ["q2", "q4"]
    other = inside(*arguments[:2], "hops < 2", *arguments[3:], "-o", tmp_path / "results", cwd=tmp_path).object()
    assert other["questions"] == 3


def test_by_split(tmp_path: Path) -> None:
    """A split is a label: means are given by it."""
    done = inside("evaluate", "--no-store", "--json", "--by", "split", world(tmp_path), cwd=tmp_path)
    groups = done.object()["groups"]["split"]
    assert {name: one["EdgeRecall"]["mean"] for name, one in groups.items()} == {"(none)": 1, "dev": 0.75, "test": 0}


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (("--where", "EdgeRecall > 0.5"), "EdgeRecall is known once answers are scored"),
        (("--where", "nDCG@10 > 0.5 and hops > 1"), "nDCG@10 is known once answers are scored"),
        (("--where", "answer == 'right'"), "answer is known once answers are scored"),
        (("--where", "not failed"), "failed is known once answers are scored"),
        (("--where", "splt == 'dev'"), "splt is no name of a measure, field or flag; did you mean split?"),
        (("--where", "split == 'prod'"), "the filter holds for none of 5 questions"),
        (("--where", "split = 'dev'"), "= is written == here"),
        (("--where", "difficulty == 'hrd'"), 'difficulty is never "hrd"; did you mean "hard"?'),
        (("--where", "any(hops > 1)"), "any(...) asks several runs"),
        (
            ("--where", "hops > 1", "--engine", "cypher"),
            "--engine cypher is for the graph, which holds no part of a run",
        ),
        (
            ("--where", "hops > 1", "--keep", "failures"),
            "--keep is for the graph, which holds no part of a run\n  Leave out one of the two.",
        ),
    ],
)
def test_mistakes(tmp_path: Path, arguments: tuple[str, ...], reported: str) -> None:
    """A filter on results is refused, since a gate over what succeeded holds nothing."""
    assert reported in inside("evaluate", *arguments, world(tmp_path), cwd=tmp_path, code=2).err


def test_two_questions_of_one_id(tmp_path: Path) -> None:
    """It would be unclear which of them is picked."""
    run = world(tmp_path)
    with (tmp_path / "questions.jsonl").open("a") as stream:
        stream.write('{"id": "q1", "question": "?"}\n')
    with pytest.raises(InputError, match="two questions have the id 'q1'"):
        graphkit.evaluate(run, where="hops > 0")
