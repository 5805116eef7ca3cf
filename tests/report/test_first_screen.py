"""The first screen of the page without a browser: the verdict, the board and where the runs break."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from graphkit.report import PageOptions, write_report
from graphkit.report.board_view import shared_beginning
from tests.helpers import cli
from tests.helpers.datasets import write_jsonl
from tests.helpers.pages import HOSTILE, Page, hostile_dataset, plain


def _page(*runs: Path, **options: Any) -> Page:
    return Page(write_report(list(runs), runs[0].parents[1] / "r.html", PageOptions(**options)).read_text("utf-8"))


def _second(folder: Path, **fields: Any) -> Path:
    answers = [{**one, "run": "s", "traversal": [], **fields} for one in cli.ANSWERS]
    return write_jsonl(folder / "runs" / "s.jsonl", answers)


def _text(page: Page) -> str:
    text = " ".join(page.text.split())
    return text[: text.index("More filters")]


def test_the_verdict_is_the_first_thing_said(tmp_path: Path) -> None:
    """Both runs retrieve the same, so nDCG@10, which the weights put first, shows no difference.

    Of q1 the id of gain 1 leads the ranking and that of gain 2 is missing: 1 / (2 + 1 / log2 3) = .38; q2 has 1: .69.
    """
    text = _text(_page(plain(tmp_path), _second(tmp_path)))
    assert (
        "nothing shows whether r and s differ (too few questions for an interval: 2 questions): nDCG@10 0.69 to 0.69"
        in text
    )
    parts = [text.index(part) for part in ("nothing shows", "What to look at", "Board", "Where it breaks")]
    assert parts == sorted(parts)


def test_each_run_may_be_the_baseline(tmp_path: Path) -> None:
    """There is a sentence against each run, all but one of them hidden, and as many differences in each cell."""
    page = _page(plain(tmp_path), _second(tmp_path))
    marked = [(tag, one) for tag, one in page.elements if "data-b" in one]
    assert [(one["data-b"], "hidden" in one) for tag, one in marked if tag == "div"] == [("0", True), ("1", False)]
    differences = [one for tag, one in marked if tag == "span"]
    assert {one["data-b"] for one in differences if "hidden" not in one} == {"1"}
    own = [one for one in differences if "own" in (one["class"] or "")]
    assert len(own) * 2 >= len(differences) > len(own) > 0


def test_a_partial_layer_looks_partial(tmp_path: Path) -> None:
    """No answer is judged, so reasoning has no or a part of its measures, and its score stands in parentheses."""
    commits = [{"repo": "a", "sha": "1", "tag": "v1"}, {"repo": "b", "sha": "2", "tag": "v1"}]
    answers = [{**one, "retrieved": [{"id": "a:m.py#x", "commit": "1"}] * 2} for one in cli.ANSWERS]
    run = cli.tiny(tmp_path, answers=answers, commits=commits)
    page = _page(run)
    text = _text(page)
    assert "1.0000" not in text
    assert re.search(r"Overall|overall", text)
    assert "generation not scored: its measures come from a judge" in text
    partial = [one for tag, one in page.elements if one.get("class") == "partial"]
    assert partial


def test_where_it_breaks_is_counted_for_every_run(tmp_path: Path) -> None:
    """One edge of three crosses from a to b, and neither run walks it; CALLS are three, of which r walks two, s none.

    Each cell leads to the questions of its run that miss such an edge.
    """
    page = _page(plain(tmp_path), _second(tmp_path))
    links = {str(one["href"]) for tag, one in page.elements if tag == "a" and "?" in str(one.get("href"))}
    assert "#questions?run=r&boundary=a+%E2%86%92+b&missed=1" in links
    assert "#questions?boundary=a+%E2%86%92+b" in links
    text = _text(page)
    assert "a → b 2 0 of 1 0 of 1" in text
    assert "CALLS 4 2 of 3 0 of 3" in text
    assert "Weakest: No required edge was walked across 1 of 1 boundary (a→b)." in text
    held = page.json("summary")
    assert held["edges"]["rows"][:2] == [["boundary", "a → b"], ["relation", "CALLS"]]
    assert [[one for one in needs if one < 2] for needs in held["edges"]["needs"]] == [[0, 1], [1]]
    missed = [[[one for one in some if one < 2] for some in run["missed"]] for run in held["runs"]]
    assert missed == [[[0, 1], []], [[0, 1], [1]]]


def test_single_edges_and_nodes_are_counted_for_every_run(tmp_path: Path) -> None:
    """Both runs miss y → z, and s the other two; what is missed most comes first, of equals the lesser name.

    The run r reaches x by both questions, y by q1, w by q2 and z never; s reaches nothing. So z and x are lost twice,
    z with none of two reached.
    """
    page = _page(plain(tmp_path), _second(tmp_path))
    edges = ["a:m.py#y -CALLS-> b:n.py#z", "a:m.py#x -CALLS-> a:m.py#w", "a:m.py#x -CALLS-> a:m.py#y"]
    nodes = ["b:n.py#z", "a:m.py#x", "a:m.py#w", "a:m.py#y"]
    rows = page.json("summary")["edges"]["rows"]
    assert rows[2:] == [*(["edge", name] for name in edges), *(["node", name] for name in nodes)]
    text = _text(page)
    assert "y -CALLS-> z 2 0 of 1 0 of 1 x -CALLS-> w 1 1 of 1 0 of 1 x -CALLS-> y 1 1 of 1 0 of 1" in text
    assert "z 2 0 of 1 0 of 1 x 2 2 of 2 0 of 2 w 1 1 of 1 0 of 1 y 1 1 of 1 0 of 1" in text
    assert "3 single edges and 4 nodes were missed by some run" in text
    assert "not in the graph" not in text  # the dataset has no knowledge graph


def test_what_no_run_is_counted_on_lost_nothing_and_says_so(tmp_path: Path) -> None:
    """A run that failed on both questions walked and lost nothing that was counted; beside it, the other one counts.

    Its lone rows hold a dash for what is lost and one for what is walked; of the first run, a → b is lost once.
    """
    failed = [{"run": "s", "question_id": one["question_id"], "error": "time-out"} for one in cli.ANSWERS]
    lone = _text(_page(cli.tiny(tmp_path / "lone", answers=failed)))
    assert "a → b – –" in lone
    assert "CALLS – –" in lone
    assert "Weakest" not in lone
    both = _text(_page(cli.tiny(tmp_path), write_jsonl(tmp_path / "runs" / "s.jsonl", failed)))
    assert "a → b 1 0 of 1 –" in both


def test_three_places_to_mend_stand_below_the_verdict(tmp_path: Path) -> None:
    """Of r, q1 misses y → z alone; of s, q1 misses two edges and q2 x → w alone.

    So y → z would complete one of two answers, and x → w one of one: as many, but fewer answers miss an edge there. Of
    y → z and the boundary a → b, which hold the same answers, the edge is named.
    """
    page = _page(plain(tmp_path), _second(tmp_path))
    text = _text(page)
    told = [
        "y -CALLS-> z: 2 answers of 2 runs to 1 question miss it; 1 of them misses nothing else.",
        "x -CALLS-> w: 1 answer of 1 run to 1 question misses it and nothing else.",
        "x -CALLS-> y: 1 answer of 1 run to 1 question misses it and others.",
    ]
    assert " ".join(["What to look at", *told]) in text
    links = [str(one["href"]) for tag, one in page.elements if tag == "a" and "any=1" in str(one.get("href"))]
    assert links[0] == "#questions?edge=a%3Am.py%23y+-CALLS-%3E+b%3An.py%23z&missed=1&any=1"


def test_questions_are_grouped_by_the_cause(tmp_path: Path) -> None:
    """In run r, q1 fails because z wasn't retrieved; in s, q1 never walks to y, and x isn't retrieved for q2.

    So two questions have the cause "not retrieved" in some run, and one has "not walked"; in r alone it is one.
    """
    first = plain(tmp_path)
    for runs, told, links in (
        ([first], "Questions by cause: not retrieved 1 ", ['cause == "not retrieved"']),
        (
            [first, _second(tmp_path)],
            "Questions by cause, in any run: not retrieved 2 not walked 1 ",
            ['any(cause == "not retrieved")', 'any(cause == "not walked")'],
        ),
    ):
        page = _page(*runs)
        assert told in _text(page)
        found = [unquote_plus(str(one["href"])) for tag, one in page.elements if "keep=" in str(one.get("href"))]
        assert found == [f"#questions?keep={one}" for one in links]


def test_edges_that_the_graph_lacks_are_marked(tmp_path: Path) -> None:
    """The dataset's graph holds two of the three gold edges; the third was seen in a trace, so it isn't stale."""
    observed = {"source": "a:m.py#y", "relation": "CALLS", "target": "b:n.py#z", "evidence": "trace"}
    questions = [{**cli.QUESTIONS[0], "paths": [[cli.QUESTIONS[0]["paths"][0][0], observed]]}, cli.QUESTIONS[1]]
    edges = [{"source": "a:m.py#x", "relation": "CALLS", "target": f"a:m.py#{name}"} for name in "yw"]
    write_jsonl(tmp_path / "questions.jsonl", questions)
    write_jsonl(tmp_path / "edges.jsonl", edges)
    run = write_jsonl(tmp_path / "runs" / "r.jsonl", cli.ANSWERS)
    text = _text(_page(run))
    assert "y -CALLS-> z not in the graph 1 0 of 1" in text
    assert "1 of the listed edges isn't in the knowledge graph: no walk over it alone takes it." in text


def test_runs_of_other_alternatives_have_their_own_numbers(tmp_path: Path) -> None:
    """Of two alternatives r walks one over a → b, s the other over a → c: each cell states what its run requires.

    The name of a row leads to the question if some run needs it; each run has its own needs.
    """
    paths = [
        {"group": "g", "steps": [["a:m.py#x", "CALLS", "b:m.py#y"]]},
        {"group": "g", "steps": [["a:m.py#x", "READS", "c:m.py#y"]]},
    ]
    walks = [path["steps"] for path in paths]
    run = cli.tiny(
        tmp_path,
        [{"id": "q1", "question": "?", "paths": paths}],
        [{"run": "r", "question_id": "q1", "traversal": walks[0]}],
    )
    other = write_jsonl(run.parent / "s.jsonl", [{"run": "s", "question_id": "q1", "traversal": walks[1]}])
    page = _page(run, other)
    text = _text(page)
    assert "a → b 0 1 of 1 –" in text
    assert "a → c 0 – 1 of 1" in text
    assert "Weakest" not in text
    held = page.json("summary")
    rows = [tuple(row) for row in held["edges"]["rows"]]
    assert len(rows) == 4  # no edge was missed
    numbers = [
        [rows.index(one) for one in names]
        for names in ([("boundary", "a → b"), ("relation", "CALLS")], [("boundary", "a → c"), ("relation", "READS")])
    ]
    assert [run["needs"] for run in held["runs"]] == [[sorted(some)] for some in numbers]
    assert held["edges"]["needs"] == [[0, 1, 2, 3]]


def test_what_failed_is_said_beside_the_counts(tmp_path: Path) -> None:
    """Of q1 and q2, r failed on q1, whose two edges aren't counted: CALLS is 1 of 1 with a mark that says why."""
    run = plain(tmp_path)
    write_jsonl(run, [cli.ANSWERS[1], {"run": "r", "question_id": "q1", "error": "broken"}])
    page = _page(run)
    assert "CALLS 0 1 of 1†" in _text(page)
    assert "not counted: 2 in failed questions" in {one.get("title") for _, one in page.elements}


def test_many_boundaries_are_folded(tmp_path: Path) -> None:
    """Of fourteen boundaries the worst five are shown, nine are folded, and the ones that were walked are last."""
    steps = [["a:m.py#x", "CALLS", f"b{number:02}:m.py#y"] for number in range(14)]
    questions = [{"id": "q1", "question": "?", "paths": [steps]}]
    answers = [{"run": "r", "question_id": "q1", "traversal": [steps[0]]}]
    run = cli.tiny(tmp_path, questions, answers)
    # So many parts before a colon are repositories only if the dataset says so.
    (tmp_path / "dataset.json").write_text('{"repositories": "id"}')
    text = _text(_page(run))
    assert "9 more boundaries" in text
    assert text.index("a → b01 1 0 of 1") < text.index("9 more boundaries") < text.index("a → b00 0 1 of 1")


def test_both_ends_and_the_relation_of_a_missed_edge_are_whole(tmp_path: Path) -> None:
    """Names of 60 characters are shown as they are; a longer one loses its middle, and never the relation."""
    fits, longer = "f" * 60, "start" + "g" * 60 + "end"
    edge = [f"a:x.py#{fits}", "RAISES_" + "R" * 40, f"b:y.py#{longer}"]
    run = cli.tiny(tmp_path, [{**cli.QUESTIONS[0], "paths": [[edge]]}], [{**cli.ANSWERS[0], "traversal": []}])
    assert f"{fits} -RAISES_{'R' * 40}-> start{'g' * 24}…{'g' * 27}end 1 0 of 1" in _text(_page(run))


def test_what_is_not_logged_is_not_counted(tmp_path: Path) -> None:
    """A run without traversals shows a dash, and its verdict is about what was scored."""
    answers = [{"run": "r", "question_id": one["id"], "retrieved": ["a:m.py#x"]} for one in cli.QUESTIONS]
    text = _text(_page(cli.tiny(tmp_path, answers=answers)))
    assert "a → b – –" in text
    assert "of the required edges" not in text
    assert "Weakest" not in text


def test_failures_and_gaps_unfold(tmp_path: Path) -> None:
    """One line says what failed and how many measures lack questions; unfolded, each measure has its counts."""
    run = plain(tmp_path)
    write_jsonl(run, [cli.ANSWERS[1], {"run": "r", "question_id": "q1", "error": "broken"}])
    page = _page(run)
    assert "Failed questions: r 1 failed; they count as the worst value." in _text(page)
    assert "1/2, 1 failed as 0" in _text(page)
    assert ("details", {"id": "gaps"}) in page.elements


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    """Repositories, relations and runs of hostile strings are text in sentences, cells, titles and addresses."""
    run = hostile_dataset(tmp_path)
    page = _page(run, _renamed(run))
    assert not [one for tag, one in page.elements if tag == "img"]
    addresses = [str(one["href"]) for tag, one in page.elements if tag == "a" and "?" in str(one.get("href"))]
    assert addresses
    assert not [one for one in addresses if re.search("[<>\"'\\s]", one)]
    assert HOSTILE[0] in _text(page)


def _renamed(run: Path) -> Path:
    answers = [{**json.loads(line), "run": HOSTILE[2]} for line in run.read_text("utf-8").split("\n") if line]
    return write_jsonl(run.parent / "other.jsonl", answers)


def test_right_to_left_names_stand_isolated_in_sentences(tmp_path: Path) -> None:
    """A run of a Hebrew name is isolated in the verdict, which itself begins no paragraph from right to left."""
    run = plain(tmp_path)
    answers = [
        {**json.loads(line), "run": "\u05e9\u05dc\u05d5\u05dd-2"} for line in run.read_text("utf-8").splitlines()
    ]
    other = write_jsonl(run.parent / "other.jsonl", answers)
    html = write_report([run, other], tmp_path / "r.html").read_text("utf-8")
    verdict = html[html.index('class="verdict-line"') :].partition("</p>")[0]
    assert "whether r and <bdi>\u05e9\u05dc\u05d5\u05dd-2</bdi> differ" in verdict
    assert verdict.count("<bdi>") == 1


def test_the_beginning_of_all_names_is_said_once(tmp_path: Path) -> None:
    """Heads and sentences hold what is left of the names a-b-x and a-b-y; a choice and two folded lists hold all.

    Each run fails on one question: q1 or q2.
    """
    run = plain(tmp_path)
    files = []
    for number, name in enumerate(("a-b-x", "a-b-y")):
        answers = [{**one, "run": name} for one in cli.ANSWERS]
        answers[number] = {"run": name, "question_id": f"q{number + 1}", "error": "broken"}
        files.append(write_jsonl(run.parent / f"{name}.jsonl", answers))
    page = _page(*files)
    assert "2 runs, each called a-b-…" in _text(page)
    text = _text(page)
    assert "measure A x B y" in text
    assert "Failed questions: x 1 failed, y 1 failed;" in text
    assert re.search("[xy] and [xy] don't clearly differ: nDCG@10", text)
    # The choice of the baseline, the failed questions of each run, and its provenance.
    assert [text.count(name) for name in ("a-b-x", "a-b-y")] == [3, 3]
    assert {one["title"] for tag, one in page.elements if tag == "th" and {"title", "data-run"} <= {*one}} == {
        "a-b-x",
        "a-b-y",
    }
    assert page.json("summary")["beginning"] == "a-b-"


def test_what_is_left_of_a_name_is_no_bare_number() -> None:
    """The last word before the numbers stays with them, so no sentence begins with a number; run-0 has no other."""
    assert shared_beginning([f"shop-experiment-configuration-{number}" for number in range(10)]) == "shop-experiment-"
    assert shared_beginning(["shop-a-1", "shop-a-2x"]) == "shop-"
    assert shared_beginning(["shop-a-1x", "shop-a-2x"]) == "shop-a-"
    assert shared_beginning(["run-0", "run-1"]) == ""


def test_tables_of_one_run_have_heads(tmp_path: Path) -> None:
    """The column of a single run says what its cells count, since the run needs no letter."""
    text = _text(_page(plain(tmp_path)))
    assert "boundary lost walked a → b" in text
    assert "ended questions " in text
