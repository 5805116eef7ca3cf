"""More than two runs compared, and the means of compared runs as a table for a paper."""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.analysis.paired import Draws
from graphkit.files.problems import Problems
from graphkit.plugins.compare.comparison_plan import ComparisonPlan
from graphkit.plugins.compare.paper_tables import tex
from graphkit.plugins.compare.run_means import RunMeans
from graphkit.plugins.compare.several_runs import SeveralPlan
from tests.helpers.cli import Done, Graph, inside, write_lines
from tests.helpers.datasets import STOREFRONT
from tests.helpers.properties import examples
from tests.plugins.compare.test_changed_gold import IDS, answer, dataset, gold

HALF, LAST = "runs/half.jsonl", "runs/last.jsonl"
RUNS = ("runs/all.jsonl", HALF, LAST)


def failed(run: str, question: str) -> dict[str, Any]:
    """Return a record of a failure."""
    return {"run": run, "question_id": question, "error": "timeout"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Ten questions: all walks both edges of each, half of the first five, last one edge of each."""
    dataset(tmp_path, [gold(one, difficulty="easy" if one < "q5" else "hard", category=f"of {one}") for one in IDS])
    for name, whole in (("all", 10), ("half", 5), ("last", 0)):
        records = [answer(name, one, 2 if number < whole else 1) for number, one in enumerate(IDS)]
        write_lines(tmp_path / f"runs/{name}.jsonl", records)
    return tmp_path


def compared(place: Path, *words: object, code: int = 0) -> Done:
    """Compare by EdgeRecall."""
    return inside("compare", *words, "-m", "EdgeRecall", cwd=place, code=code)


def means(found: dict[str, Any], group: str | None = None) -> dict[str, dict[str, Any]]:
    """Return the means of one group by run."""
    return {one["run"]: one for one in found["means"] if one["group"] == group}


def test_cost_and_plan_of_each_pair(place: Path) -> None:
    """What --cost and --plan ask for is said of each of three pairs, also by default."""
    said = [line.split(maxsplit=1) for line in compared(place, *RUNS, "--cost", "--plan", 0.1).out.splitlines()]
    pairs = ["all and half", "all and last", "half and last"]
    for name in ("cost", "plan"):
        assert sorted(text.split(":")[0] for first, *rest in said if first == name for text in rest) == pairs


def test_all_pairs(place: Path) -> None:
    """All beats last on ten of ten questions; half differs from each on five, which are too few for a sure difference.

    The smallest p-value of n differences of one sign is 2 of 2^n, times three pairs: 3 * 2 / 1024 and 3 * 2 / 32.
    """
    found = compared(place, *RUNS, "--json").object()
    assert (found["runs"], found["against"]) == (["all", "half", "last"], None)
    assert [(one["first"], one["second"]) for one in found["pairs"]] == [
        ("all", "half"),
        ("all", "last"),
        ("half", "last"),
    ]
    p_values = [one["with_failed"][0]["p_corrected"] for one in found["pairs"]]
    assert p_values == pytest.approx([6 / 32, 6 / 1024, 6 / 32])
    rows = means(found)
    assert {run: one["mean"] for run, one in rows.items()} == {"all": 1.0, "half": 0.75, "last": 0.5}
    assert [one["best"] for one in rows.values()] == [True, False, False]
    assert {run: one["better_than"] for run, one in rows.items()} == {"all": ["last"], "half": [], "last": []}
    assert rows["last"]["worse_than"] == ["all"]
    # Half is 1 on each easy question, and 0.5 on each hard one.
    by = compared(place, *RUNS, "--json", "--by", "difficulty").object()
    assert [means(by, name)["half"]["mean"] for name in ("easy", "hard")] == [1.0, 0.5]
    assert [means(by, name)["half"]["questions"] for name in ("easy", "hard")] == [5, 5]


def test_against_one(place: Path) -> None:
    """Each other run is compared with the baseline alone, over two pairs; it need not stand among the others."""
    found = compared(place, *RUNS, "--against", HALF, "--json").object()
    assert (found["runs"], found["against"]) == (["half", "all", "last"], "half")
    assert [(one["first"], one["second"]) for one in found["pairs"]] == [("half", "all"), ("half", "last")]
    assert [one["with_failed"][0]["p_corrected"] for one in found["pairs"]] == pytest.approx([4 / 32, 4 / 32])
    assert compared(place, RUNS[0], LAST, "--against", HALF, "--json").object() == found
    # Of two runs the second is compared, whichever is named first.
    two = compared(place, LAST, RUNS[0], "--json").out
    assert compared(place, RUNS[0], LAST, "--against", LAST, "--json").out == two
    assert compared(place, RUNS[0], LAST, "--json").out != two


def test_a_pair_has_the_shape_of_a_comparison(place: Path) -> None:
    """Against a baseline, a pair is what the two runs alone give, but for the correction over pairs."""
    alone = compared(place, HALF, LAST, "--json").object()
    _, pair = compared(place, *RUNS, "--against", HALF, "--json").object()["pairs"]
    for one in (alone, pair):
        for result in (*one["with_failed"], *(row for group in one["groups"] for row in group["measures"])):
            del result["p_corrected"]
    assert pair == alone


def test_failures_count_alike_without_a_baseline(place: Path) -> None:
    """All failed on q0: between equals that is 0 of ten; as a baseline it lacks the question, and nine are compared."""
    records = [failed("all", "q0"), *(answer("all", one) for one in IDS[1:])]
    write_lines(place / RUNS[0], records)
    rows = means(compared(place, *RUNS, "--json").object())
    assert {run: one["mean"] for run, one in rows.items()} == pytest.approx({"all": 0.9, "half": 0.75, "last": 0.5})
    assert (rows["all"]["scored"], rows["all"]["worst"], rows["all"]["compared"]) == (9, 1, 10)
    against = means(compared(place, *RUNS, "--against", RUNS[0], "--json").object())
    # Half walks both edges of q1 to q4, and one of five: (4 + 2.5) / 9.
    assert {run: one["mean"] for run, one in against.items()} == pytest.approx({"all": 1, "half": 6.5 / 9, "last": 0.5})
    assert {one["compared"] for one in against.values()} == {9}
    # As another's candidate it failed as well, and counts so.
    other = means(compared(place, *RUNS, "--against", LAST, "--json").object())
    assert other["all"]["mean"] == pytest.approx(0.9)
    left = means(compared(place, *RUNS, "--missing-as", "unscored", "--json").object())
    assert {one["compared"] for one in left.values()} == {9}


def test_a_run_without_a_value_leaves_the_others_theirs(place: Path) -> None:
    """A run that logs no walk has no mean, which isn't 0, and the others are compared; a warning says it is lost."""
    write_lines(place / LAST, [{"run": "last", "question_id": one, "answer": "x"} for one in IDS])
    done = compared(place, *RUNS, "--json")
    rows = means(done.object())
    assert {run: one["mean"] for run, one in rows.items()} == {"all": 1.0, "half": 0.75, "last": None}
    assert (rows["last"]["scored"], rows["last"]["low"], rows["all"]["compared"]) == (0, None, 10)
    assert "EdgeRecall is lost: all was scored on 10 questions, last on none" in done.err


def test_gates_need_a_baseline(place: Path) -> None:
    """A gate holds each run as if it were compared alone, so that more runs let no regression pass."""
    done = compared(place, *RUNS, "--fail-on-regression", code=2)
    assert "a gate holds a run against a baseline, and 3 runs are compared with each other" in done.err
    assert "--against RUN" in done.err
    words = ("--against", RUNS[0], "--fail-on-regression")
    done = compared(place, *RUNS, *words, "--json", code=1)
    assert "last: EdgeRecall -0.5000 (corrected p 0.0020), significantly worse than all" in done.err
    alone = compared(place, RUNS[0], LAST, "--fail-on-regression", "--json", code=1).object()["gates"]
    assert [one for one in done.object()["gates"] if one["run"] == "last"] == alone
    assert done.object()["pairs"][1]["gates"] == alone
    assert compared(place, RUNS[0], HALF, *words, "--fail-on-drop", "0.3").code == 0
    # So many copies that the correction over pairs alone would raise 2 / 1024 above .05.
    copies = [f"runs/copy{number}.jsonl" for number in range(30)]
    for number, copy in enumerate(copies):
        write_lines(place / copy, [answer(f"copy{number}", one) for one in IDS])
    done = compared(place, *RUNS, *copies, *words, "--resamples", "100", code=1)
    assert "significantly worse than all" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*RUNS, RUNS[0]), "is named twice"),
        ((*RUNS, "--baseline-dataset", "."), "--baseline-dataset is of a baseline, and 3 runs"),
        ((*RUNS, "--gold-changed"), "--gold-changed is of a baseline, and 3 runs"),
        ((*RUNS, "--junit", "a.xml"), "--junit is for a comparison of two runs"),
        ((*RUNS, "--format", "github"), "--format is for a comparison of two runs"),
        ((*RUNS, "-o", "a.xls"), "can't be written as .xls; Use one of: .tex, .csv, .md; or --json"),
        ((*RUNS, "-o", "none/a.tex"), "there is no such folder"),
        ((*RUNS[:2], "runs/none.jsonl"), "no such file"),
        ((*RUNS[:2], "--against", "runs/none.jsonl"), "no such file"),
        ((RUNS[0], RUNS[0], "--against", RUNS[0]), "compared with itself"),
        ((*RUNS, "--first", "RR"), "--first names 'RR', which isn't compared"),
    ],
)
def test_what_cannot_be_compared(place: Path, words: tuple[str, ...], said: str) -> None:
    """Each mistake is an error with a remedy, and nothing is written."""
    done = compared(place, *words, code=2)
    assert said in " ".join(done.err.replace("\n  ", "; ", 1).split())
    assert not [*place.glob("a.*")]


def test_output_of_three_runs(place: Path) -> None:
    """A table of runs, each pair's verdict, the marks in words, and the best run last; --full has each pair's table."""
    out = compared(place, *RUNS, "--by", "difficulty").out
    assert re.search(r"EdgeRecall +1\.00 > c +0\.75 +0\.50", out)
    assert "letters name the runs that a run is better than (p < 0.05, corrected over 1 measure that differs" in out
    assert out.splitlines()[-1].startswith("best by EdgeRecall: all 1.00; 1 of 3 pairs clearly differs")
    assert len(out.splitlines()) <= 24
    full = compared(place, *RUNS, "--full").out
    assert full.count("What moved most") == 3
    assert "Means over the n of 10 questions" in full
    assert "Bold" not in full


def test_a_measure_that_is_tested_alone(place: Path) -> None:
    """By --first the legend and the verdict say that its p-values aren't corrected over the other measures."""
    # Both differ on the questions of which one run walked both edges and the other a single one.
    chosen = ("-m", "EdgeRecall", "-m", "PathExact", "--first", "EdgeRecall")
    out = compared(place, *RUNS, *chosen).out
    assert "corrected over 2 measures that differ and 3 pairs of runs, EdgeRecall over the pairs alone, and" in out
    assert out.splitlines()[-1].endswith("clearly differs, corrected over 3 pairs of runs")
    assert compared(place, *RUNS[:2], *chosen, "-o", "two.md").code == 0
    note = (place / "two.md").read_text()
    assert "corrected over 2 measures that differ, EdgeRecall not, and a 95% interval" in note
    without = compared(place, *RUNS, *chosen[:-2]).out
    assert "2 measures that differ and 3 pairs of runs, and a 95% interval" in without
    assert without.splitlines()[-1].endswith("corrected over 2 measures that differ and 3 pairs of runs")


# Where runs come from ------------------------------------------------------------------------------------------------


def test_each_source_gives_the_same_means(place: Path) -> None:
    """Run logs, results folders and files of scores."""
    write_lines(place / RUNS[0], [failed("all", "q0"), *(answer("all", one) for one in IDS[1:])])
    logs = means(compared(place, *RUNS, "--by", "difficulty", "--json").object())
    names = ("all", "half", "last")
    for name in names:
        inside("evaluate", f"runs/{name}.jsonl", "--no-store", "-o", f"folder-{name}", cwd=place, code=0)
        inside("evaluate", f"runs/{name}.jsonl", "--no-store", "-o", f"{name}.csv", cwd=place, code=0)
    folders = means(compared(place, *(f"folder-{name}" for name in names), "--json").object())
    files = [word for name in names for word in ("--scores", f"{name}.csv")]
    scores = means(compared(place, *names, *files, "--json").object())
    assert logs == folders == scores


@pytest.mark.slow("three runs are stored in a database")
def test_runs_in_the_graph_give_the_same_means(any_graph: Graph, place: Path) -> None:
    """Names of runs, and files beside them, which are scored and kept once."""
    write_lines(place / RUNS[0], [failed("all", "q0"), *(answer("all", one) for one in IDS[1:])])
    logs = compared(place, *RUNS, "--by", "difficulty", "--json").object()
    inside("evaluate", *RUNS[:2], "--json", cwd=place, env=any_graph.env, code=0)
    words = ("compare", "all", "half", LAST, "-m", "EdgeRecall", "--by", "difficulty", "--json")
    stored = inside(*words, cwd=place, env=any_graph.env, code=0).object()
    assert stored["means"] == logs["means"]
    against = inside(*words, "--against", "half", cwd=place, env=any_graph.env, code=0).object()
    assert (
        against["means"] == compared(place, *RUNS, "--against", HALF, "--by", "difficulty", "--json").object()["means"]
    )


def test_a_problem_is_reported_once(place: Path) -> None:
    """A bad line of a run that is in two pairs is skipped once, since the file is read once."""
    with (place / HALF).open("a") as stream:
        stream.write("{\n")
    assert compared(place, *RUNS, "--on-error", "skip").err.count("half.jsonl:11") == 1


@given(
    st.lists(st.lists(st.sampled_from((None, 0, 1, 2)), min_size=8, max_size=8), min_size=3, max_size=4).filter(
        lambda runs: all(any(one is not None for one in run) for run in runs)
    ),
    st.booleans(),
)
@examples(60)
def test_means_are_over_the_questions_of_all_runs(
    tmp_path_factory: pytest.TempPathFactory, runs: list[list[int | None]], baseline: bool
) -> None:
    """Derived again: a failure is 0 where another run has a value; what the baseline failed on is left out."""
    folder = dataset(tmp_path_factory.mktemp("runs"), [gold(one) for one in IDS[:8]])
    files = []
    for name, walked in zip("abcd", runs, strict=False):
        pairs = [*zip(IDS, walked, strict=False)]
        records = [failed(name, one) if count is None else answer(name, one, count) for one, count in pairs]
        files.append(str(folder / f"runs/{name}.jsonl"))
        write_lines(Path(files[-1]), records)
    kept = [place for place in range(8) if any(run[place] is not None for run in runs)]
    if baseline:
        kept = [place for place in range(8) if runs[0][place] is not None]
    options = ComparisonPlan(files[0], files[1], measures=["EdgeRecall"], pairing={"resamples": 100})
    found = SeveralPlan(options, tuple(files), baseline).compared(Problems()).means
    [row] = found.groups[0].rows
    assert row.compared == len(kept)
    expected = [math.fsum((run[place] or 0) / 2 for place in kept) / len(kept) for run in runs]
    assert [one.mean for one in row.runs] == pytest.approx(expected)
    assert [one.best for one in row.runs] == [one == pytest.approx(max(expected)) for one in expected]
    for one in row.runs:
        assert one.low is not None
        assert one.high is not None
        assert one.low - 1e-9 <= (one.mean or 0.0) <= one.high + 1e-9


# Tables --------------------------------------------------------------------------------------------------------------

#: Names that are commands, cells, comments, formulas and markup elsewhere.
HOSTILE = (r"\input{/etc/passwd}%", "a & b \\\\ $x^2$ #1 ~_", "=1+1|<b>`x`*--\"'' † Ж \U0001f600")

#: The commands that a table consists of.
COMMANDS = {
    *("begin", "centering", "caption", "label", "toprule", "midrule", "bottomrule", "multicolumn", "textit", "textbf"),
    *("textsuperscript", "scriptsize", "end", "dag", "textbackslash", "textasciicircum", "textasciitilde", "textless"),
    *("textgreater", "textbar", "textasciigrave"),
}


def read_tex(text: str) -> tuple[set[str], list[int]]:
    """Return the commands of LaTeX and the cells of each row; check its braces, and that no sign acts on its own."""
    commands, rows, depth, cells, place = set(), [], 0, 0, 0
    text = re.sub(r"(?m)(?<!\\)%.*$", "", text)
    while place < len(text):
        sign = text[place]
        if sign == "\\":
            name = re.match(r"\\([A-Za-z]+|.)", text[place:])
            assert name is not None
            place += len(name[0])
            if name[1] == "\\":
                rows.append(cells + 1)
                cells = 0
            elif name[1].isalpha():
                commands.add(name[1])
            else:
                assert name[1] in "{}$&#_%", name[1]
            continue
        if sign in "{}":
            depth += 1 if sign == "{" else -1
            assert depth >= 0
        cells += sign == "&"
        if sign == "$":
            assert text[place : place + 3] == "$n$"
            place += 2
        assert sign not in "#_^~%", text[max(place - 20, 0) : place + 5]
        place += 1
    assert depth == 0
    return commands, rows


@pytest.fixture
def hostile(place: Path) -> list[str]:
    """Runs whose names are no words, of questions of such a group."""
    questions = [gold(one, category=HOSTILE[1]) for one in IDS]
    write_lines(place / "questions.jsonl", questions)
    files = []
    for number, name in enumerate(HOSTILE):
        files.append(f"runs/h{number}.jsonl")
        write_lines(place / files[-1], [answer(name, one, 1 + (number == 2)) for one in IDS])
    return files


def test_tex_is_a_table_whatever_runs_are_called(place: Path, hostile: list[str]) -> None:
    """Each row has a cell a run, braces close, and names begin no command; a TeX compiles it, if there is one."""
    for against in ((), ("--against", hostile[0])):
        compared(place, *hostile, *against, "--by", "category", "-o", "a.tex")
        text = (place / "a.tex").read_text("utf-8")
        commands, rows = read_tex(text)
        assert commands <= COMMANDS
        # A row of names; a row of means and one of intervals, of all questions and, below their title, of the group.
        assert rows == [5, 5, 5, 1, 5, 5]
        assert r"\textbackslash{}input\{/etc/passwd\}\%" in text
        assert r"\textbf{1.000}" in text
        _compile(place)


def _compile(place: Path) -> None:
    """Compile the table with pdfLaTeX, if it is there."""
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        return
    if subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True, check=False).returncode:
        return
    # pdfLaTeX knows no Cyrillic without its fonts.
    (place / "a.tex").write_text((place / "a.tex").read_text("utf-8").replace("Ж", "Z"), "utf-8")
    document = r"\documentclass{article}\usepackage{booktabs}\begin{document}\input{a.tex}\end{document}"
    (place / "paper.tex").write_text(document)
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"]
    done = subprocess.run(words, cwd=place, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


@given(st.text(max_size=40))
@examples(300)
def test_text_of_others_begins_nothing_in_tex(text: str) -> None:
    """Any text is letters and known commands on one line, and ASCII is read back from it."""
    shown = tex(text)
    assert "\n" not in shown
    commands, rows = read_tex(shown)
    assert commands <= COMMANDS
    assert rows == []
    if text.isascii() and text.isprintable():
        back = shown
        for command, sign in (
            (r"\textbackslash{}", "\0"),
            *((rf"\text{name}{{}}", sign) for name, sign in (("less", "<"), ("greater", ">"), ("bar", "|"))),
            *((rf"\textascii{name}{{}}", sign) for name, sign in (("circum", "^"), ("tilde", "~"), ("grave", "`"))),
        ):
            back = back.replace(command, sign)
        back = re.sub(r"(?<!\\)\{\}", "", back)
        back = re.sub(r"\\([{}$&#_%])", r"\1", back).replace("\0", "\\")
        assert back == text.replace('"', "''")


def test_caption(place: Path) -> None:
    """It says what the means are over, how failures count, what marks and bold mean, and how it was computed."""
    write_lines(place / RUNS[0], [failed("all", "q0"), *(answer("all", one) for one in IDS[1:])])
    how = ("--seed", "7", "--resamples", "200", "--by", "difficulty", "--cluster", "category")
    compared(place, *RUNS, "-o", "a.tex", *how)
    [caption] = re.findall(r"\\caption\{(.*)\}", (place / "a.tex").read_text("utf-8"))
    for part in (
        f"Means over the n of 10 questions of {place.name.replace('_', chr(92) + '_')} that every run is compared on",
        "A failed, missing or unlogged question counts as the worst value.",
        "Bold: the best mean, whether or not it differs clearly",
        r"Letters name the runs that a run is better than (p \textless{} 0.05, corrected over 1 measure that differs "
        "and 3 pairs of runs",
        "In a group, p-values are corrected over its measures and the pairs, not over the groups.",
        "Clustered by category: ",
        "Questions scored, of 10: all 9, half 10, last 10.",
        "Questions counted as the worst value: all 1.",
        "200 resamples with seed 7, graphkit ",
    ):
        assert part in caption


def test_a_table_of_two_runs(place: Path) -> None:
    """Its means are those of the comparison, and marks say which run is better and worse than the baseline."""
    alone = compared(place, RUNS[0], LAST, "--json").object()["with_failed"][0]
    done = compared(place, RUNS[0], LAST, "-o", "a.csv", "-o", "a.md", "-o", "a.tex")
    assert done.out == compared(place, RUNS[0], LAST).out
    first, second = rows_of(place / "a.csv")
    assert [float(one["mean"]) for one in (first, second)] == [alone["first"], alone["second"]] == [1.0, 0.5]
    assert (first["better_than"], second["worse_than"], second["against"]) == ('["last"]', '["all"]', "all")
    row = r"\| EdgeRecall \| \*\*1\.000\*\* \[0\.\d{3}, 1\.000\] \| 0\.500<sup>†</sup> \[.*\] \| 10/10 \|"
    assert re.search(row, (place / "a.md").read_text("utf-8"))
    assert r"0.500\textsuperscript{\dag{}}" in (place / "a.tex").read_text("utf-8")
    # The files are those of graphkit, so that it may replace them.
    compared(place, RUNS[0], LAST, "-o", "a.csv", "-o", "a.md", "-o", "a.tex")
    (place / "b.tex").write_text("mine\n")
    assert "something that graphkit didn't write" in compared(place, RUNS[0], LAST, "-o", "b.tex", code=2).err


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table by column."""
    return [*csv.DictReader(path.read_text("utf-8").splitlines())]


def test_csv_and_markdown_keep_groups(place: Path, hostile: list[str]) -> None:
    """Each group has its rows; names can't be a formula, a cell or markup; Markdown has the verdict on each pair."""
    compared(place, *hostile, "--by", "category", "-o", "a.csv", "-o", "a.md")
    rows = rows_of(place / "a.csv")
    assert [(one["slice"], one["by"]) for one in rows] == [("", "category")] * 3 + [(HOSTILE[1], "category")] * 3
    assert {one["run"].lstrip("'") for one in rows} == {*HOSTILE}
    assert all(not one["run"].startswith("=") for one in rows)
    assert {one["seed"] for one in rows} == {"20251"}
    assert [json.loads(one["better_than"]) for one in rows[:3]] == [[], [], [HOSTILE[0], HOSTILE[1]]]
    text = (place / "a.md").read_text("utf-8")
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in tables} == {6}
    assert "<b>" not in text
    assert text.count("beats") == 2
    assert "p-values are corrected over its measures and the pairs, not over the groups" in text


def test_groups_count_failures_as_all_questions_do(place: Path) -> None:
    """Half failed on an easy question: its mean there is 4 of 5, and so is the difference of the pair in the group."""
    records = [failed("half", "q0"), *(answer("half", one) for one in IDS[1:])]
    write_lines(place / HALF, records)
    files = str(place / RUNS[0]), str(place / HALF)
    plan = ComparisonPlan(*files, measures=["EdgeRecall"], pairing={"by": "difficulty"})
    pair = plan.compared(Problems())
    [easy, hard] = pair.groups_with_failed()
    assert easy.name == "easy"
    assert [one.results[0].delta for one in (easy, hard)] == pytest.approx([-0.2, 0.0])
    # The comparison itself compares what both answered in a group.
    assert pair.groups[1].results[0].delta == 0.0
    found = RunMeans.of({(0, 1): pair}, Draws(100))
    assert [one.runs[1].mean for group in found.groups for one in group.rows] == pytest.approx([0.9, 0.8, 1.0])


def test_slices_hold_the_picked_questions_alone(place: Path) -> None:
    """Five of ten questions are easy, and of q0 and q9, which have two relations, one: 1 of 5 is in several slices."""
    questions = [gold(one, difficulty="easy" if one < "q5" else "hard") for one in IDS]
    for number in (0, 9):
        questions[number]["paths"][0]["steps"][1]["relation"] = "USES"
    dataset(place, questions)
    words = ("--where", 'difficulty == "easy"', "--by", "relation", "--json")
    several, pair = compared(place, *RUNS, *words).object(), compared(place, *RUNS[:2], *words).object()
    for found in (several, pair):
        assert "1 of 5 questions is in several" in found["overlap"]
    assert {name: means(several, name)["half"]["questions"] for name in ("CALLS", "USES")} == {"CALLS": 5, "USES": 1}


def test_evaluation_in_markdown_keeps_slices(tmp_path: Path) -> None:
    """A table of each run by slice, and how many questions are in several; a label has groups without a note."""
    runs = [STOREFRONT / f"runs/storefront-{name}.jsonl" for name in ("bm25", "graph")]
    words = ("evaluate", *runs, "--no-store", "-m", "EdgeRecall", "-o", "a.md")
    inside(*words, "--by", "boundary", cwd=tmp_path, code=0)
    text = (tmp_path / "a.md").read_text("utf-8")
    assert text.count("by boundary, with the number of questions") == 2
    assert text.count("slices by boundary overlap: 8 of 39 questions are in several") == 2
    assert "| api -&gt; orders (8) |" in text
    inside(*words, "--by", "difficulty", cwd=tmp_path, code=0)
    text = (tmp_path / "a.md").read_text("utf-8")
    assert "| measure | easy (15) | hard (8) | medium (16) |" in text
    assert "overlap" not in text
    inside(*words, cwd=tmp_path, code=0)
    assert "easy" not in (tmp_path / "a.md").read_text("utf-8")
