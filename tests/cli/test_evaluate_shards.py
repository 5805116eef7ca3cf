"""``graphkit evaluate`` in shards: what it prints, refuses and writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import nullcontext
from pathlib import Path

import pytest

import graphkit
from graphkit.scoring.sharded_dataset import dataset_for_logs
from graphkit.shards import processes
from tests.helpers.cli import ANSWERS, QUESTIONS, Graph, Row, inside, tiny, write_lines
from tests.helpers.datasets import SHOP_QUESTIONS, STOREFRONT
from tests.helpers.suites import one_fast
from tests.scoring.evaluated_everywhere import FILES, PARTS, everything, three_runs

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def worker() -> Iterator[Executor]:
    """A process that takes the shards of several commands."""
    executor = processes.SeparateProcesses(1)
    yield executor
    executor.shutdown(cancel_futures=True)


@pytest.mark.parametrize("how", [(), ("--full",), ("--json",)])
def test_a_results_folder_beside_the_usual_output(tmp_path: Path, how: tuple[str, ...]) -> None:
    """A results folder changes nothing of what is printed, as run and questions are single files."""
    run = tiny(tmp_path)
    usual = inside("evaluate", "--no-store", run, *how, cwd=tmp_path, code=0)
    folder = inside("evaluate", "--no-store", run, "--out", tmp_path / "results", *how, cwd=tmp_path, code=0)
    assert usual.out == folder.out
    assert ("\nnext " in folder.out) == (not how)
    assert ("\nmend " in folder.out) == (not how)
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())["runs"][0]
    assert summary["measures"]["EdgeRecall"]["mean"] == 0.75
    assert json.loads((tmp_path / "results" / "manifest.json").read_text())["questions"] == 2


def test_rows_of_a_results_folder_hold_missed_edges(tmp_path: Path) -> None:
    """One of two questions misses an edge that has no relation and an oddly named end; the other misses nothing."""
    odd = 'b:n.py#"z",\u2028'
    paths = [[["a:m.py#x", "CALLS", "a:m.py#y"], {"source": "a:m.py#y", "target": odd}]]
    run = tiny(tmp_path, questions=[{**QUESTIONS[0], "paths": paths}, QUESTIONS[1]])
    inside("evaluate", "--no-store", run, "--out", tmp_path / "results", cwd=tmp_path, code=0)
    outcomes = [row.outcome for row in graphkit.read_results(tmp_path / "results").rows()]
    assert [one and (one.missed_edges, one.missed) for one in outcomes] == [(1, (("a:m.py#y", None, odd),)), (0, ())]


def test_without_directions_a_results_folder_has_the_places_to_mend(tmp_path: Path) -> None:
    """One edge is walked backwards and one isn't walked: a results folder prints the same as a single process."""
    back = [["a:m.py#y", "CALLS", "a:m.py#x"]]
    run = tiny(tmp_path, answers=[{**ANSWERS[0], "traversal": back}, ANSWERS[1]])
    arguments = ("evaluate", "--no-store", "--undirected", run)
    usual = inside(*arguments, cwd=tmp_path, code=0).out
    folder = inside(*arguments, "--out", tmp_path / "results", cwd=tmp_path, code=0).out
    assert "y -CALLS-> z: 1 question misses it and nothing else" in usual
    assert usual == folder
    rows = graphkit.read_results(tmp_path / "results").rows()
    assert [(row.outcome, row.missed) for row in rows] == [(None, (("a:m.py#y", "CALLS", "b:n.py#z"),)), (None, ())]


def test_gates_hold_for_a_results_folder(tmp_path: Path) -> None:
    """A gate fails as without the folder, which is written all the same."""
    out = tmp_path / "results"
    options = ("--no-store", "--fail-under", "EdgeRecall=0.8", "--out", out)
    done = inside("evaluate", tiny(tmp_path), *options, cwd=tmp_path, code=1)
    assert "EdgeRecall is 0.7500" in done.err
    assert (out / "manifest.json").exists()


def test_bad_records_refuse_a_results_folder(tmp_path: Path) -> None:
    """A bad record is named with its line and leaves no manifest; skipped, it is a row of the problems."""
    run, out = tiny(tmp_path / "data", answers=[*ANSWERS, "{"]), tmp_path / "results"
    done = inside("evaluate", "--no-store", "--out", out, run, cwd=tmp_path, code=2)
    assert f"{run}:{len(ANSWERS) + 1}: not valid JSON" in done.err
    assert not (out / "manifest.json").exists()
    inside("evaluate", "--no-store", "--out", out, run, "--on-error", "skip", cwd=tmp_path, code=0)
    (problem,) = map(json.loads, (out / "problems.jsonl").read_text().splitlines())
    assert (problem["file"], problem["line"]) == (str(run), len(ANSWERS) + 1)


def test_shards_with_a_graph(graph: Graph, tmp_path: Path) -> None:
    """With a graph, ``--on`` prints what one process prints, places to mend too, and stores the same questions, with
    a results folder or without; the outputs of the graph say that the run is in part, and the folder's summary covers
    all.
    """
    run, keep = STOREFRONT / "runs" / "storefront-graph.jsonl", ("--keep", "sample=3")
    stored, outputs = [], []
    for more in ((), ("--out", "results"), ("--on", "processes=1", "--json"), ("--json",)):
        graph.store.write("MATCH (n) DETACH DELETE n")
        outputs.append(inside("evaluate", run, *keep, *more, cwd=tmp_path, env=graph.env, code=0))
        stored.append(graph.counts())
    assert stored == [stored[0]] * 4
    assert stored[0]["KEPT"] == 3
    assert outputs[0].out == outputs[1].out
    assert outputs[0].out.count("\nmend ") == 3
    assert outputs[2].object() == outputs[3].object()
    assert f"the graph stores 3 of {SHOP_QUESTIONS} questions (sample=3)" in " ".join(outputs[1].err.split())
    words = f"the graph stores 3 of {SHOP_QUESTIONS} questions of the run storefront-graph (sample=3)"
    assert words in inside("db", "status", cwd=tmp_path, env=graph.env, code=0).out
    assert json.loads((tmp_path / "results" / "manifest.json").read_text())["questions"] == SHOP_QUESTIONS
    assert {path.name for path in tmp_path.iterdir()} == {"results"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--no-store", "--out", "results", "--keep", "failures"), "--no-store stores nothing"),
        (("--on", "processes", "--out", "a", "--out", "b"), "one results folder, and --out names 2"),
        (("--out", "results", "--engine", "cypher"), "--engine cypher can't be used"),
        (("--on", "processes", "--engine", "cypher"), "--engine cypher can't be used"),
        (("--no-store", "--out", "results", "--on", "proceses"), "Did you mean processes?"),
        (("--no-store", "--out", "results", "--resources", "gpu=1"), "--on names none"),
        (("--no-store", "--resources", "gpu=1"), "--on names none"),
    ],
)
def test_what_shards_refuse(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    """What contradicts itself, and the engine of the database, is refused before anything is read."""
    done = inside("evaluate", tiny(tmp_path), *options, cwd=tmp_path, code=2)
    assert said in " ".join(done.err.split())
    assert not (tmp_path / "results").exists()


#: Scores by others: q1 has .5, q2 has 1.
TASTE = [{"run": "r", "question": name, "measure": "Taste", "value": value} for name, value in (("q1", 0.5), ("q2", 1))]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 0),
        (("--format", "graphkit", "--dataset", "."), 0),
        (("--map", "answer=answer", "--dataset", "."), 0),
        (("--scores", "scores.jsonl"), 0),
        (("--scores", "scores.jsonl", "--fail-under", "Taste=0.8"), 1),
        (("--scores", "scores.jsonl", "-m", "Taste"), 0),
        (("--scores", "judged.jsonl", "--fail-under", "Faithful=0.1", "--min-kappa", "0.5"), 1),
        (("--cluster", "repo"), 0),
        (("--fail-question", "EdgeRecall=0.6"), 1),
        (("--junit", "j.xml"), 0),
        (("runs/s.jsonl",), 0),
        (("runs/s.jsonl", "--fail-under", "EdgeRecall=0.8"), 1),
        (("runs/r@1.jsonl", "runs/r@2.jsonl", "--pass-k", "2", "--fail-under", "EdgeRecall=0.8"), 1),
    ],
)
def test_shards_do_what_one_process_does(
    tmp_path: Path, options: tuple[str, ...], code: int, worker: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is asked of one process, ``--on`` prints the same, ends with the same code and writes the same rows."""
    monkeypatch.setattr(processes, "opened_processes", lambda engine: nullcontext(worker))
    tiny(tmp_path, scores=TASTE, judged=[{**one, "measure": "Faithful", "grader": "judge:x"} for one in TASTE])
    runs = () if "--pass-k" in options else ("runs/r.jsonl",)
    for name in ("s", "r@1", "r@2"):
        write_lines(tmp_path / "runs" / f"{name}.jsonl", [{**one, "run": name} for one in ANSWERS])
    found = []
    for name, on in (("alone.csv", ()), ("spread.csv", ("--on", "processes=1"))):
        done = inside("evaluate", *runs, *options, "--no-store", *on, "--out", name, cwd=tmp_path, code=code)
        error = [line for line in done.err.splitlines() if "--ids" not in line]
        found.append((done.out, error, (tmp_path / name).read_bytes()))
    assert found[0] == found[1]
    assert not [*tmp_path.glob(".*parts")]


def test_a_dataset_of_runs_in_shards(tmp_path: Path) -> None:
    """A dataset stands for all of its runs, each with a folder of its name, of which an odd one is quoted; both are
    read back.
    """
    tiny(tmp_path)
    write_lines(tmp_path / "runs" / "s.jsonl", [{**one, "run": "a/../s"} for one in ANSWERS])
    inside("evaluate", "--no-store", "--out", "results", cwd=tmp_path, code=0)
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["a%2F..%2Fs", "r"]
    for name in ("a%2F..%2Fs", "r"):
        assert graphkit.read_results(tmp_path / "results" / name).evaluation().measures["EdgeRecall"].mean == 0.75


def test_only_the_summary_says_when(tmp_path: Path) -> None:
    """Two evaluations a second apart differ in when they were made and the digest of that file; else in no byte."""
    run, folders = tiny(tmp_path), [tmp_path / "a", tmp_path / "b"]
    for second, out in enumerate(folders):
        env = {"SOURCE_DATE_EPOCH": str(second)}
        inside("evaluate", run, "--no-store", "--out", out, cwd=tmp_path, env=env, code=0)
    first, again = map(everything_in, folders)
    assert [name for name in PARTS if first[name] != again[name]] == ["manifest.json", "summary.json"]
    summaries, manifests = (
        [json.loads(one[f"{name}.json"]) for one in (first, again)] for name in ("summary", "manifest")
    )
    assert [one["made"].pop("evaluated_at")[16:] for one in summaries] == [":00+00:00", ":01+00:00"]
    assert [*map(len, (one["summary"].pop("digest") for one in manifests))] == [40, 40]
    assert (summaries[0], manifests[0]) == (summaries[1], manifests[1])


def test_a_results_folder_holds_given_scores(tmp_path: Path) -> None:
    """Scores by others are a column of the results folder, and a measure of its summary: (.5 + 1) / 2 = .75."""
    run = tiny(tmp_path, scores=TASTE)
    inside("evaluate", run, "--no-store", "--scores", "scores.jsonl", "--out", "results", cwd=tmp_path, code=0)
    found = graphkit.read_results(tmp_path / "results")
    assert [row.values[found.measures.index("Taste")] for row in found.rows()] == [0.5, 1.0]
    assert found.summary["measures"]["Taste"]["mean"] == 0.75


@pytest.mark.slow("three runs in every form of output, three times")
def test_everything_that_is_written_is_the_same(tmp_path: Path) -> None:
    """Three runs read as logs, with scores and clusters: each kind of output is the same to the last byte from this
    process with whole files, from it with shards, and from two others.
    """
    dataset = three_runs(tmp_path)
    alone = everything(dataset, tmp_path / "alone", folder=False)
    assert sorted(alone) == sorted(FILES)
    shards = everything(dataset, tmp_path / "shards")
    assert sorted(shards) == sorted([*FILES, *(f"results/gen5-{name}/{part}" for name in "abc" for part in PARTS)])
    assert {name: shards[name] for name in alone} == alone
    assert everything(dataset, tmp_path / "spread", "--on", "processes=2") == shards


def test_folders_are_compared_by_workers_or_refused(tmp_path: Path) -> None:
    """``compare`` of results folders draws by ``--on``; a folder beside a run, and options without use, are refused."""
    run = tiny(tmp_path / "data")
    other = write_lines(tmp_path / "data" / "runs" / "s.jsonl", [{**answer, "run": "s"} for answer in ANSWERS])
    for name, file in (("a", run), ("b", other)):
        inside("evaluate", "--no-store", "--out", tmp_path / name, file, cwd=tmp_path, code=0)
    alone = inside("compare", "a", "b", "--json", cwd=tmp_path, code=0)
    assert inside("compare", "a", "b", "--json", "--on", "processes=1", cwd=tmp_path, code=0).out == alone.out
    for arguments, said in (
        (("a", "b", "--on", "proceses"), "Did you mean processes?"),
        (("a", "gone"), "a is a results folder, and 'gone' isn't"),
        (("a", "b", "--dataset", "data"), "compared without --dataset"),
        (("a", "b", "--engine", "cypher"), "compared without --engine"),
    ):
        assert said in " ".join(inside("compare", *arguments, cwd=tmp_path, code=2).err.split())


def test_results_of_one_run_and_of_several_share_no_folder(tmp_path: Path) -> None:
    """A folder with results of one run is refused for two, and the reverse, before anything changes in it: beside
    results in other files, former ones would be read as those of the last command. The same number replaces them.
    """
    run = tiny(tmp_path)
    other = write_lines(tmp_path / "runs" / "s.jsonl", [{**one, "run": "s"} for one in ANSWERS])
    for name, first, second, said in (
        ("one", (run,), (run, other), "the folder holds results of one run (manifest.json)"),
        ("two", (run, other), (run,), "the folder holds results of several runs, such as r,"),
    ):
        for runs, code in ((first, 0), (first, 0), (second, 2)):
            done = inside("evaluate", *runs, "--no-store", "--out", name, cwd=tmp_path, code=code)
            if code == 0:
                held = everything_in(tmp_path / name)
        assert said in " ".join(done.err.split())
        assert everything_in(tmp_path / name) == held
    assert not [*tmp_path.glob(".*")]


def everything_in(folder: Path) -> dict[str, bytes]:
    """Return each file below a folder by its place."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_refusal_leaves_only_parts_that_are_reused(tmp_path: Path) -> None:
    """Another file in the folder of one of two runs, and records of which none is usable, leave nothing behind; where
    one of two records is usable, its part stays, and goes with the next attempt.
    """
    run = tiny(tmp_path)
    other = write_lines(tmp_path / "runs" / "s.jsonl", [{**one, "run": "s"} for one in ANSWERS])
    write_lines(tmp_path / "two" / "s" / "keep.txt", ["mine"])
    done = inside("evaluate", run, other, "--no-store", "--out", "two", cwd=tmp_path, code=2)
    assert "the folder holds another file, keep.txt" in done.err
    assert not [*tmp_path.glob(".*")]
    arguments = ("evaluate", other, "--no-store", "--out", "bad")
    strangers = [{**one, "run": "s", "question_id": f"no-{one['question_id']}"} for one in ANSWERS]
    for records, left in ((strangers, []), ([strangers[0], {**ANSWERS[1], "run": "s"}], [".bad.parts"])):
        write_lines(other, records)
        inside(*arguments, cwd=tmp_path, code=2)
        assert [path.name for path in tmp_path.glob(".*")] == left
    inside(*arguments, "--on-error", "skip", cwd=tmp_path, code=0)
    assert not [*tmp_path.glob(".*")]


@one_fast(
    "arguments",
    [
        ("data",),
        ("data/runs/r.jsonl", "--map", "answer=answer"),
        ("data/runs/r.jsonl", "--format", "graphkit", "--dataset", "data"),
        ("trials.jsonl", "--dataset", "data"),
    ],
    "workers start for each way to name a dataset",
    0,
)
def test_questions_in_shards_are_taken_for_logs_and_by_their_folder(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """A dataset in shards gives what it gives in one file, by its folder, for logs and for trials; logs are read beside
    the file that a question expects. Without shards it is refused with the option that takes it.
    """
    odd = {"id": "q2", "question": "?", "relevant": {"a:m#1.py#w": 1}, "expected_files": ["a/m#1.py"]}
    found = [{**ANSWERS[1], "retrieved": ["a:m#1.py#w"]}]
    tiny(tmp_path / "data", questions=[QUESTIONS[0], odd], answers=[ANSWERS[0], *found])
    trials = [{**one, "trial": trial} for trial in (1, 2) for one in (ANSWERS[0], *found)]
    write_lines(tmp_path / "trials.jsonl", trials)
    options = ("--no-store", "--json", "--on", "processes=1")
    whole = inside("evaluate", *arguments, *options, cwd=tmp_path, code=0).out
    assert '"FilePrecision"' in whole
    (tmp_path / "data" / "questions.jsonl").unlink()
    for number, one in enumerate((QUESTIONS[0], odd)):
        write_lines(tmp_path / "data" / "questions" / f"{number}.jsonl", [one])
    assert inside("evaluate", *arguments, *options, cwd=tmp_path, code=0).out == whole
    with dataset_for_logs(tmp_path / "data" / "runs" / "r.jsonl", None) as opened:
        assert opened is not None
        assert [*opened.named_places().expected_files(opened.places())] == ["a/m#1.py"]
    done = inside("evaluate", *arguments, "--no-store", cwd=tmp_path, code=2)
    assert "scores with --on processes" in done.err


def test_a_folder_of_questions_in_shards_has_runs_in_shards(tmp_path: Path) -> None:
    """Of the folder ``runs/``, files and folders of shards are runs, and grades beside a run aren't."""
    write_lines(tmp_path / "questions" / "0.jsonl", QUESTIONS)
    for place, run in (("r.jsonl", "r"), ("s/0.jsonl", "s"), ("r.grades/person.scores.jsonl", "t")):
        write_lines(tmp_path / "runs" / place, [{**one, "run": run} for one in ANSWERS])
    done = inside("evaluate", "--no-store", "--out", "results", cwd=tmp_path, code=0)
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["r", "s"]
    assert "\nnext " not in done.out  # no other command reads the shards


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([*ANSWERS, ANSWERS[0]], "runs/r.jsonl:3: record 'q1': the question already has a record at line 1"),
        ([ANSWERS[0], {**ANSWERS[1], "run": "s"}], "the file holds records of 2 runs: r, s"),
        (["", " "], "the file holds no record"),
    ],
)
def test_a_refusal_has_the_same_words_in_shards(tmp_path: Path, answers: list[Row | str | bytes], said: str) -> None:
    """A run in one file is refused in the words of one process, also where shards are scored."""
    run = tiny(tmp_path, answers=answers)
    alone, shards = (
        inside("evaluate", run, "--no-store", *more, cwd=tmp_path, code=2).err for more in ((), ("--out", "results"))
    )
    assert said in alone
    assert shards == alone
