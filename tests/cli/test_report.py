"""``graphkit report`` as a process: what it prints and refuses, and how it finds the runs that are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import cli
from tests.helpers.datasets import write_jsonl
from tests.helpers.pages import Page, plain, spine_of


def test_the_command_prints_the_path(tmp_path: Path) -> None:
    """`graphkit report` writes the page with its title and prints where it is, or JSON."""
    run = plain(tmp_path)
    done = cli.inside("report", run, "-o", "r.html", "--title", "Tuesday <1>", cwd=tmp_path, code=0)
    assert done.out.splitlines() == [
        "r.html",
        f"1 run (r) over 2 questions of {tmp_path.name}",
        "with scores, and each traversal over its gold path",
    ]
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "<title>Tuesday &lt;1&gt;</title>" in text
    reported = cli.inside("report", run, "-o", "r.html", "--json", cwd=tmp_path, code=0).object()
    assert reported == {"report": "r.html", "bytes": (tmp_path / "r.html").stat().st_size}


def test_the_command_states_the_part_of_the_questions(tmp_path: Path) -> None:
    """`--where` is stated in words and as JSON; a filter that holds for nothing, or names a result, is refused."""
    run = plain(tmp_path)
    done = cli.inside("report", run, "-o", "r.html", "--where", "question == 'q1'", cwd=tmp_path, code=0)
    assert done.out.splitlines()[1] == f"1 run (r) over 1 question of {tmp_path.name} (of 2: question == 'q1')"
    reported = cli.inside(
        "report", run, "-o", "r.html", "--where", "hops >= 0", "--json", cwd=tmp_path, code=0
    ).object()
    assert reported["where"] == {"filter": "hops >= 0", "questions": 2, "of": 2}
    for wrong, message in (("hops > 99", "the filter holds for none of 2 questions"), ("RR > 0", "RR is known once")):
        refused = cli.inside("report", run, "-o", "no.html", "--where", wrong, cwd=tmp_path, code=2)
        assert message in refused.err
    assert not (tmp_path / "no.html").exists()


def test_a_measure_of_a_judge_is_shown_by_its_scores(tmp_path: Path) -> None:
    """`-m` of a judged measure shows its row on the board; without a score of it, it is refused with what to do."""
    run = plain(tmp_path)
    refused = cli.inside("report", run, "-o", "r.html", "-m", "ClaimRecall", cwd=tmp_path, code=2)
    assert "graphkit grade RUN.jsonl" in refused.err
    assert not (tmp_path / "r.html").exists()
    scores = [{"run": "r", "question": f"q{place}", "measure": "ClaimRecall", "value": place / 4} for place in (1, 2)]
    given = write_jsonl(tmp_path / "judge.jsonl", scores)
    cli.inside("report", run, "-o", "r.html", "-m", "ClaimRecall", "--scores", given, cwd=tmp_path, code=0)
    text = " ".join(Page((tmp_path / "r.html").read_text("utf-8")).text.split())
    # The mean of 1/4 and 2/4, in two digits.
    assert "ClaimRecall A 0.38" in text.partition("more measure")[0]


def test_a_page_without_a_name(tmp_path: Path) -> None:
    """The page is named after its run; an earlier page is replaced, and anything else gets out of the way of it."""
    run = plain(tmp_path)

    def page() -> str:
        return cli.inside("report", run, cwd=tmp_path, code=0).out.splitlines()[0]

    assert [page(), page()] == ["report-r.html", "report-r.html"]
    (tmp_path / "report-r.html").write_text("mine")
    (tmp_path / "report-r-2.html").mkdir()
    assert [page(), page()] == ["report-r-3.html", "report-r-3.html"]
    assert (tmp_path / "report-r.html").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.jsonl", "-o", "r.html"], "there is no such file"),
        (["runs/r.jsonl", "runs/r.jsonl", "-o", "r.html"], "another file holds the run 'r', too"),
        (["runs/r.jsonl", "other/runs/r.jsonl", "-o", "r.html"], "the run is of another dataset"),
        (["runs/r.jsonl", "-o", "no/such/r.html"], "the file can't be written"),
    ],
)
def test_bad_arguments_are_reported(arguments: list[str], message: str, tmp_path: Path) -> None:
    """Impossible requests are refused with exit code 2 and no page."""
    plain(tmp_path)
    plain(tmp_path / "other")
    done = cli.inside("report", *arguments, cwd=tmp_path, code=2)
    assert message in done.err
    assert not list(tmp_path.rglob("*.html"))


def _runs(page: Path) -> list[str]:
    return [run["name"] for run in Page(page.read_text("utf-8")).json("summary")["runs"]]


def test_runs_are_named_as_compare_takes_them(any_graph: cli.Graph, tmp_path: Path) -> None:
    """A run that the graph holds is reported by its name, also beside a file and from another folder.

    The run s doesn't lie in its dataset's folder: the graph knows which dataset it was loaded with.
    """
    run = plain(tmp_path / "data")
    other = write_jsonl(tmp_path / "logs" / "s.jsonl", [{**one, "run": "s"} for one in cli.ANSWERS])
    third = write_jsonl(tmp_path / "data" / "runs" / "t", [{**one, "run": "t"} for one in cli.ANSWERS])
    away = tmp_path / "away"
    away.mkdir()

    def graphkit(*arguments: object) -> cli.Done:
        return cli.inside(*arguments, cwd=away, env=any_graph.env, code=0)

    graphkit("evaluate", run, other, "--dataset", tmp_path / "data", "-m", "EdgeRecall")
    assert graphkit("report", "r", "s", "-o", "two.html").out.startswith("two.html\n2 runs (r, s) over ")
    assert _runs(away / "two.html") == ["r", "s"]
    graphkit("report", third, "s", "-o", "both.html")
    assert _runs(away / "both.html") == ["t", "s"]
    # Both options say where the graph and the dataset are; the dataset that is named counts.
    write_jsonl(away / "new" / "questions.jsonl", [cli.QUESTIONS[0], {**cli.QUESTIONS[1], "paths": []}])
    graphkit("report", "r", "--dataset", "new", "-o", "new.html")
    (new,) = Page((away / "new.html").read_text("utf-8")).json("summary")["runs"]
    assert [(one.get("found", 0), one.get("required", 0)) for one in new["questions"]] == [(1, 2), (0, 0)]


def test_a_run_that_cannot_be_found_is_reported(any_graph: cli.Graph, tmp_path: Path) -> None:
    """An unknown name is reported as compare tells it; a file that is gone or changed is refused with what to do."""
    run = plain(tmp_path / "data")

    def refused(*arguments: object) -> str:
        return cli.inside(*arguments, cwd=tmp_path, env=any_graph.env, code=2).err

    assert refused("report", "r", "-o", "r.html") == refused("compare", "r", "s")
    cli.inside("evaluate", run, "-m", "EdgeRecall", cwd=tmp_path, env=any_graph.env, code=0)
    reported = refused("report", "rr", "-o", "r.html")
    assert "no run is called 'rr'" in reported
    assert "Did you mean r?" in reported
    assert reported == refused("compare", "r", "rr")
    records = run.read_text("utf-8")
    write_jsonl(run, [cli.ANSWERS[0]])
    reported = refused("report", "r", "-o", "r.html")
    assert f"{run}: the run 'r' is no longer what was loaded" in reported
    assert f"`graphkit evaluate {run}` loads it again" in reported
    run.unlink()
    reported = refused("report", "r", "-o", "r.html")
    assert f"{run}: the file that the run 'r' was loaded from is gone" in reported
    assert not list(tmp_path.rglob("*.html"))
    run.write_text(records, "utf-8")
    cli.inside("report", "r", "-o", "r.html", cwd=tmp_path, env=any_graph.env, code=0)
    # A graph of an older version doesn't know the file.
    any_graph.store.write("MATCH (r:Run {id: 'r'}) REMOVE r.file, r.origin")
    assert "the graph doesn't know the file of the run 'r'" in refused("report", "r", "-o", "r2.html")


def test_a_run_by_another_name_is_reported_by_it(any_graph: cli.Graph, tmp_path: Path) -> None:
    """One file that the graph holds by two names is two runs of a page."""
    run = plain(tmp_path / "data")
    for name in ("r", "second"):
        cli.inside("evaluate", run, "--run", name, "-m", "EdgeRecall", cwd=tmp_path, env=any_graph.env, code=0)
    cli.inside("report", "r", "second", "-o", "two.html", cwd=tmp_path, env=any_graph.env, code=0)
    assert _runs(tmp_path / "two.html") == ["r", "second"]


def test_undirected_and_unordered_are_reported_on_the_page(tmp_path: Path) -> None:
    """The walk of q1 backwards finds both its edges, whose path is neither right nor wrong; a set has no order."""
    back = [["a:m.py#y", "CALLS", "a:m.py#x"], ["b:n.py#z", "CALLS", "a:m.py#y"]]
    run = cli.tiny(tmp_path, cli.QUESTIONS[:1], [{**cli.ANSWERS[0], "traversal": back}])

    def page(*options: str) -> Page:
        cli.inside("report", run, "-o", "r.html", *options, cwd=tmp_path, code=0)
        return Page((tmp_path / "r.html").read_text("utf-8"))

    def means(shown: Page) -> dict[str, float | None]:
        summary = shown.json("summary")
        return dict(zip([one["name"] for one in summary["measures"]], summary["runs"][0]["means"], strict=True))

    directed, undirected, unordered = page(), page("--undirected"), page("--unordered")
    assert means(directed)["EdgeRecall"] == 0
    assert (
        directed.json("summary")["runs"][0]["questions"][0].items()
        >= {"found": 0, "required": 2, "path": "wrong"}.items()
    )
    assert means(undirected)["EdgeRecall(directed=False)"] == 1
    assert "EdgeRecall" not in means(undirected)
    assert undirected.json("summary")["runs"][0]["questions"][0].items() >= {"found": 2, "required": 2}.items()
    assert undirected.json("summary")["runs"][0]["questions"][0]["path"] == "undecided"
    [drawn] = undirected.json("d-0-0").values()
    assert [edge["status"] for edge in drawn["map"]["edges"]] == ["matched", "matched"]
    assert (means(directed)["PathPrefix"], means(unordered)["PathPrefix"]) == (0, None)
    for shown, reported in ((undirected, "compared without their direction"), (unordered, "read as a set of edges")):
        assert reported in shown.text
        assert reported not in directed.text


def test_without_directions_page_terminal_and_why_say_the_same(tmp_path: Path) -> None:
    """Both outputs name the missed edge and the weakness, and the command of the page explains as the page does.

    q1 walks x -> y backwards and misses y -> z, q2 walks its only edge backwards: EdgeRecall(directed=False) is
    (1/2 + 1) / 2 = .75, below .8, and nothing is retrieved, so that retrieval is below .7.
    """
    walks = ([["a:m.py#y", "CALLS", "a:m.py#x"]], [["a:m.py#w", "CALLS", "a:m.py#x"]])
    answers = [{**one, "retrieved": [], "traversal": walk} for one, walk in zip(cli.ANSWERS, walks, strict=True)]
    run = cli.tiny(tmp_path, answers=answers).relative_to(tmp_path)
    said = cli.inside("evaluate", run, "--no-store", "--undirected", cwd=tmp_path, code=0).out
    mend = "y -CALLS-> z: 1 question misses it and nothing else"
    weak = "missed relationships (EdgeRecall(directed=False) 0.75); most at q1"
    assert [" ".join(line.split()) for line in said.splitlines() if line.startswith(("mend", "weak"))] == [
        f"weak r: {weak}",
        f"mend {mend}",
    ]
    cli.inside("report", run, "-o", "r.html", "--undirected", cwd=tmp_path, code=0)
    page = Page((tmp_path / "r.html").read_text("utf-8"))
    text = " ".join(page.text.split())
    assert mend in text
    assert "missed relationships" in text
    broke = "broke at step 2: did not retrieve `z`"
    for place, (told, verdict) in enumerate(
        ((broke, broke), ("walked the required step", "1 of 1 relevant id is not retrieved"))
    ):
        spine = spine_of(page, place)
        plain = " ".join(Page(spine).text.split())
        assert told.replace("`", "") in plain
        command = f"graphkit why runs/r.jsonl q{place + 1} --undirected"
        assert command in plain
        explained = cli.inside(*command.split()[1:], cwd=tmp_path, code=0).out
        assert verdict in explained
        assert "other direction" not in explained
    assert "broke at step 1: walked it in the other direction" in cli.inside("why", run, "q2", cwd=tmp_path, code=0).out


def test_what_is_known_of_a_run_is_on_the_page(tmp_path: Path) -> None:
    """The page says of each run how many of its ids the dataset knows, and what it means where hardly any is.

    The run r names x, y and w, all of the gold. The run s names 12 ids of another form.
    """
    run = plain(tmp_path)
    strange = [{"id": f"4:abc:{number}"} for number in range(12)]
    other = write_jsonl(run.with_name("s.jsonl"), [{"run": "s", "question_id": "q1", "retrieved": strange}])
    cli.inside("report", run, other, "-o", "r.html", cwd=tmp_path, code=0)
    text = " ".join(Page((tmp_path / "r.html").read_text("utf-8")).text.split())
    assert "Known: 3 of 3 ids are known" in text
    assert "Known: 0 of 12 ids are known" in text
    reported = cli.inside("evaluate", "--no-store", other, cwd=tmp_path, code=0).err
    [meaning] = [line for line in reported.splitlines() if line.startswith("warning: s: ") and "4:abc" in line]
    assert meaning.removeprefix("warning: s: ") in text


def test_runs_of_two_datasets_are_refused_by_name(any_graph: cli.Graph, tmp_path: Path) -> None:
    """Names of runs of two datasets are refused as their files are."""
    first = plain(tmp_path / "one")
    asked = [{**one, "id": f"other-{one['id']}"} for one in cli.QUESTIONS]
    write_jsonl(tmp_path / "two" / "questions.jsonl", asked)
    answers = [{**one, "run": "s", "question_id": f"other-{one['question_id']}"} for one in cli.ANSWERS]
    second = write_jsonl(tmp_path / "two" / "runs" / "s.jsonl", answers)
    cli.inside("evaluate", first, second, "-m", "EdgeRecall", cwd=tmp_path, env=any_graph.env, code=0)
    reported = cli.inside("report", "r", "s", "-o", "r.html", cwd=tmp_path, env=any_graph.env, code=2).err
    assert f"{second}: the run is of another dataset" in reported


def test_files_need_no_database(tmp_path: Path) -> None:
    """If only files are named the database that is set isn't opened: nothing listens there, and nobody asks."""
    run = plain(tmp_path)
    nowhere = {"NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "nobody asks"}
    cli.inside("report", run, "-o", "r.html", cwd=tmp_path, env=nowhere, code=0)
    named = run.rename(run.with_suffix(""))  # is there, so it is a file, whatever its name
    cli.inside("report", named, "-o", "r.html", cwd=tmp_path, env=nowhere, code=0)
    assert "127.0.0.1:1" in cli.inside("report", "r", "-o", "s.html", cwd=tmp_path, env=nowhere, code=3).err
