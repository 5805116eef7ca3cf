"""The report page without a browser: what is written into it, and where the drawing goes."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from graphkit.analysis.layers import NOT_JUDGED
from graphkit.errors import InputError
from graphkit.measures.case import Case
from graphkit.measures.coherence import OffPin
from graphkit.records.commits import CommitGraph
from graphkit.records.models import Commit, Compatibility
from graphkit.report import write_report
from graphkit.report.layout import NODE_HEIGHT, NODE_WIDTH, draw
from graphkit.report.page import json_for_html
from graphkit.report.question import (
    ABSENT,
    COMPLETE,
    FAILED,
    INCOHERENT,
    INVALID,
    LEFT,
    NEVER_ENTERED,
    OFF_PIN,
    TURN,
    detail,
    edge_statuses,
)
from graphkit.report.text import visible
from tests.helpers import cli
from tests.helpers.cases import answer, either, optional, question
from tests.helpers.datasets import write_jsonl

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\"'`><img src=x onerror=alert(2)>",
    "{{ 7*7 }}{% raw %}${alert(3)}",
    "\x1b[31mred\x07",
    "\u202eright to left\u2066",
    "line\u2028and\u2029paragraph",
)

X, Y, Z, W = "a:m.py#x", "a:m.py#y", "b:n.py#z", "c:o.py#w"


class _Page(HTMLParser):
    """Every element with its attributes, and the text of the scripts and of the rest."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.styles: list[str] = []
        self.text = ""
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self._open == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self._open == "style":
            self.styles.append(data)
        else:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def json(self, name: str) -> Any:
        return next(json.loads(text) for attributes, text in self.scripts if attributes.get("id") == name)


def hostile_dataset(folder: Path) -> Path:
    """Write a dataset in which every text that a user can give is hostile, and return its run."""
    questions, answers = [], []
    for number, text in enumerate(HOSTILE):
        source, target = f"{text}:{text}#{text}", f"api:{text}.py#{text}{number}"
        questions.append(
            {
                "id": f"{number} {text}",
                "question": text,
                "category": text,
                "gold_answer": text,
                "expected_output": text,
                "facts": [{"text": text}],
                "commits": {"api": text},
                "paths": [{"id": text, "steps": [[source, text, target], [target, text, f"{target}2"]]}],
                "relevant": {source: 1, f"{text} lost": 2},
            }
        )
        answers.append(
            {
                "run": HOSTILE[0],
                "question_id": f"{number} {text}",
                "retrieved": [{"id": source, "repo": text, "path": text, "commit": text, "text": text}],
                "traversal": [
                    {"source": source, "relation": text, "target": target, "source_commit": text},
                    {"source": target, "relation": text, "target": f"{text}:elsewhere"},
                ],
                "answer": text,
                **({"error": text} if number == 1 else {}),
            }
        )
    write_jsonl(folder / "questions.jsonl", questions)
    write_jsonl(folder / "commits.jsonl", [{"repo": "api", "sha": text, "tag": text} for text in HOSTILE])
    return write_jsonl(folder / "runs" / "r.jsonl", answers)


def _plain(folder: Path) -> Path:
    write_jsonl(folder / "questions.jsonl", cli.QUESTIONS)
    return write_jsonl(folder / "runs" / "r.jsonl", cli.ANSWERS)


def _edges(shown: dict[str, Any]) -> set[tuple[str, str, str, str]]:
    nodes = [node[0] for node in shown["nodes"]]
    return {(nodes[edge[0]], edge[2], nodes[edge[1]], edge[3]) for edge in shown["edges"]}


def test_each_edge_has_its_status() -> None:
    """Matched, missed, optional, wrong turn and extra edges of a case worked by hand are told apart."""
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z), optional(X, "IMPORTS", Z)])
    walked = answer([(X, "CALLS", Y), (Y, "CALLS", W), (W, "READS", Z)])
    shown, flags, share = detail(Case(gold, walked), ())
    assert _edges(shown) == {
        (X, "CALLS", Y, "matched"),
        (Y, "CALLS", Z, "missed"),
        (X, "IMPORTS", Z, "optional"),
        (Y, "CALLS", W, "turn"),
        (W, "READS", Z, "extra"),
    }
    assert share == (1, 2)
    assert flags == TURN


def test_the_divergence_is_told_in_words() -> None:
    """The sentence is the one that `graphkit failures` prints, with the name of the path."""
    gold = question({"id": "main", "steps": [(X, "CALLS", Y), (Y, "CALLS", Z)]})
    shown, _, _ = detail(Case(gold, answer([(X, "CALLS", Y), (Y, "READS", W)])), ())
    assert shown["words"] == [
        f"left gold path main at step 1, at {Y}: expected to go by CALLS to {Z}, but went by READS to {W}"
    ]


def test_a_path_that_was_never_entered_was_not_left() -> None:
    """The walk enters one gold path and leaves it at y; the other begins at w, where it never came to."""
    gold = question(
        {"id": "one", "steps": [(X, "CALLS", Y), (Y, "CALLS", Z)]}, {"id": "two", "steps": [(W, "READS", Z)]}
    )
    shown, flags, _ = detail(Case(gold, answer([(X, "CALLS", Y)])), ())
    assert shown["words"] == [
        f"left gold path one at step 1, at {Y}: expected to go by CALLS to {Z}, but walked no further from there",
        f"never entered gold path two, which begins at {W}",
    ]
    assert {node[0]: node[7] & (LEFT | NEVER_ENTERED) for node in shown["nodes"]} == {
        **{X: 0, Y: LEFT, Z: 0, W: NEVER_ENTERED},
    }
    assert flags == 0


def test_a_needless_alternative_is_no_loss() -> None:
    """Of alternatives only what the best one lacks is missed, as EdgeRecall counts."""
    gold = question(*either("g", [(X, "CALLS", Y)], [(X, "CALLS", Z), (Z, "CALLS", W)]))
    statuses, share = edge_statuses(Case(gold, answer([(X, "CALLS", Y)])))
    assert statuses == {
        (X, "CALLS", Y): "matched",
        (X, "CALLS", Z): "alternative",
        (Z, "CALLS", W): "alternative",
    }
    assert share == (1, 1)


def test_a_relation_is_compared_where_both_have_one() -> None:
    """A walked edge without relation matches the gold edge; one with another relation is extra."""
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)])
    statuses, _ = edge_statuses(Case(gold, answer([(X, None, Y), (Y, "READS", Z)])))
    assert statuses == {(X, "CALLS", Y): "matched", (Y, "CALLS", Z): "missed", (Y, "READS", Z): "extra"}


def test_incoherent_pairs_are_listed_and_marked() -> None:
    """Two commits that are known not to fit are a pair with its rule, and their nodes carry these commits."""
    commits = CommitGraph.build(
        [Commit(repo="a", sha="a1", tag="v1"), Commit(repo="b", sha="b2")],
        [Compatibility(id="no", commits={"a": "a1", "b": "b2"}, compatible=False)],
    )
    chunks = [{"id": X, "commit": "a1"}, {"id": Z, "commit": "b2"}]
    gold = question([(X, "CALLS", Z)], commits={"a": "a1", "b": "b1"})
    shown, flags, _ = detail(Case(gold, answer([(X, "CALLS", Z)], retrieved=chunks), commits), ())
    table = shown["commits"]
    [[one, other, rule, count]] = shown["pairs"]
    assert (table[one], table[other]) == (["a", "a1", "v1"], ["b", "b2", ""])
    assert (rule, count) == ("incompatible", 1)
    assert flags & INCOHERENT
    assert [(node[0], node[5], node[6]) for node in shown["nodes"]] == [(X, [one], 0), (Z, [other], 2)]


def test_a_node_that_was_not_read_shows_its_pin() -> None:
    """A missed node carries the commit of the annotation, marked as pinned and not as read."""
    shown, _, _ = detail(Case(question([(X, "CALLS", Y)], commits={"a": "a1"}), answer()), ())
    assert [(shown["commits"][node[5][0]][1], node[6]) for node in shown["nodes"]] == [("a1", 1), ("a1", 1)]


def test_a_commit_off_pin_is_flagged_where_the_measure_says_so() -> None:
    """The flag and the measure OffPin agree, also where the commit is that of a chunk outside the drawing."""
    gold = question([(X, "CALLS", Y)], commits={"a": "a1"})
    for sha in ("a1", "a2"):
        case = Case(gold, answer(retrieved=[{"id": Z, "repo": "a", "commit": sha}]))
        assert bool(detail(case, ())[1] & OFF_PIN) == (OffPin().score(case) == 1)
        assert (OffPin().score(case) == 1) == (sha == "a2")


def test_failed_and_absent_records_are_flagged() -> None:
    """A record with an error keeps its words, and a question without a record shows its gold path as missed."""
    gold = question([(X, "CALLS", Y)])
    failed, flags, _ = detail(Case(gold, answer([(X, "CALLS", Y)], error="out of budget")), ())
    assert (failed["error"], flags, failed["words"]) == ("out of budget", FAILED, [])
    absent, flags, share = detail(Case(gold, None), ())
    # The one required edge was neither found nor missed by a run that has no record: nothing is counted.
    assert (_edges(absent), flags, share) == ({(X, "CALLS", Y, "missed")}, ABSENT, (0, 0))


def test_an_invalid_question_is_blamed_on_nobody() -> None:
    """Stale gold counts no edge and tells no wrong turn, whatever was walked, and keeps its reason."""
    gold = question([(X, "CALLS", Y)])
    for walked in (answer([(X, "CALLS", Y)]), answer([(X, "CALLS", Z)])):
        shown, flags, share = detail(Case(gold, walked), (), "stale gold")
        assert (flags, share, shown["words"], shown["invalid"]) == (INVALID, (0, 0), [], "stale gold")
    assert detail(Case(gold, answer([(X, "CALLS", Y)])), ())[0]["invalid"] is None


def test_chunks_carry_their_gain_and_what_was_lost_is_named() -> None:
    """Each chunk has the gain of the annotation, and a relevant id that was not retrieved is listed with its own."""
    gold = question(relevant={X: 3, Z: 2})
    shown, _, _ = detail(Case(gold, answer(retrieved=[{"id": Y, "text": "t" * 500}, {"id": X}])), ())
    assert [(chunk[0], chunk[1]) for chunk in shown["chunks"]] == [(Y, 0), (X, 3)]
    assert shown["chunks"][0][4] == "t" * 399 + "…"
    assert shown["lost"] == [[Z, 2]]


def test_gold_runs_from_left_to_right_in_its_lanes() -> None:
    """Nodes of a path get a column a step and the lane of their repository, gold lanes first."""
    drawing = draw(["x", "a", "a", "b"], [[(1, 2), (2, 3)]], [[(2, 0)]], [(1, 2), (2, 3), (2, 0)])
    assert [lane.name for lane in drawing.lanes] == ["a", "b", "x"]
    assert [box.column for box in drawing.boxes] == [2, 0, 1, 2]
    assert [box.lane for box in drawing.boxes] == [2, 0, 0, 1]


def test_what_is_drawn_does_not_overlap() -> None:
    """No two boxes cover one another, each lies in its lane, and all of them in the drawing."""
    names = [f"r{number % 3}" for number in range(12)]
    walks = [[(number, (number * 5 + 1) % 12) for number in range(12)]]
    drawing = draw(names, [[(0, 1), (1, 2)]], walks, walks[0])
    boxes = drawing.boxes
    for number, one in enumerate(boxes):
        lane = drawing.lanes[one.lane]
        assert lane.name == names[number]
        assert lane.y <= one.y
        assert one.y + NODE_HEIGHT <= lane.y + lane.height <= drawing.height
        assert one.x + NODE_WIDTH <= drawing.width
        for other in boxes[number + 1 :]:
            assert abs(one.x - other.x) >= NODE_WIDTH or abs(one.y - other.y) >= NODE_HEIGHT


def test_edges_between_the_same_nodes_run_apart() -> None:
    """Two relations between two nodes are two different lines."""
    drawing = draw(["a", "a"], [[(0, 1)]], [], [(0, 1), (0, 1), (1, 0), (0, 0)])
    assert len({line.path for line in drawing.lines}) == 4


@pytest.mark.parametrize("text", HOSTILE)
def test_json_in_the_page_ends_nothing(text: str) -> None:
    """JSON written into a script holds no markup and no line separator, and reads back as it was."""
    written = json_for_html({"text": text})
    assert not re.search("[<>&\u2028\u2029]", written)
    assert json.loads(written) == {"text": text}


def test_hidden_characters_are_written_out() -> None:
    """Control characters and marks of the reading direction are shown, tabs and line ends stay."""
    assert visible("a\x1b[1m\u202eb\tc\n\x00") == "a\\u001b[1m\\u202eb\tc\n\\u0000"


def test_a_hostile_dataset_stays_text(tmp_path: Path) -> None:
    """The page over hostile strings has no element, attribute or script but its own, and shows them all as text."""
    harmless = _Page(write_report([_plain(tmp_path / "plain")], tmp_path / "plain.html").read_text("utf-8"))
    out = write_report([hostile_dataset(tmp_path / "hostile")], tmp_path / "r.html", title=HOSTILE[0])
    page = _Page(out.read_text("utf-8"))
    code = [text for attributes, text in page.scripts if attributes.get("type") != "application/json"]
    assert code == [text for attributes, text in harmless.scripts if attributes.get("type") != "application/json"]
    assert {tag for tag, _ in page.elements} - {"li", "ul", "a", "strong"} <= {tag for tag, _ in harmless.elements}
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    shown = [row[1] for row in page.json("summary")["questions"]]
    assert shown == [visible(text) for text in HOSTILE]
    assert page.json("summary")["runs"][0]["name"] == HOSTILE[0]
    assert HOSTILE[0] in page.text


def test_the_policy_allows_the_own_blocks_only(tmp_path: Path) -> None:
    """The content security policy names exactly the hashes of the style sheet and of the one script, and no address."""
    page = _Page(write_report([_plain(tmp_path)], tmp_path / "r.html").read_text("utf-8"))
    [policy] = [one["content"] for tag, one in page.elements if tag == "meta" and "http-equiv" in one]
    [code] = [text for attributes, text in page.scripts if attributes.get("type") != "application/json"]

    def source(text: str) -> str:
        return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    [style] = page.styles
    assert policy == (
        f"default-src 'none'; style-src {source(style)}; script-src {source(code)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert not [one for _, attributes in page.elements for one in attributes if one in {"src", "style"}]


def test_several_runs_share_a_scoreboard(tmp_path: Path) -> None:
    """Each run has a column with its own means, and details of its own."""
    first = _plain(tmp_path)
    second = write_jsonl(tmp_path / "runs" / "s.jsonl", [{**one, "run": "s", "traversal": []} for one in cli.ANSWERS])
    page = _Page(write_report([first, second], tmp_path / "r.html").read_text("utf-8"))
    place = [measure["name"] for measure in page.json("summary")["measures"]].index("EdgeRecall")
    assert [run["name"] for run in page.json("summary")["runs"]] == ["r", "s"]
    assert [run["values"][place] for run in page.json("summary")["runs"]] == [[0.5, 1.0], [0.0, 0.0]]
    assert page.json("summary")["runs"][0]["flags"][1] == COMPLETE
    assert _edges(page.json("d-1-0")["1"]) == {(X, "CALLS", "a:m.py#w", "missed")}


def test_page_decodes_each_line_once(tmp_path: Path, parsed: Counter[tuple[str, int]]) -> None:
    """Scores and details come from one reading of questions and run."""
    run = _plain(tmp_path)
    parsed.clear()
    write_report([run], tmp_path / "r.html")
    assert parsed == {(name, number): 1 for name in ("questions.jsonl", run.name) for number in (1, 2)}


def _diagnosis(page: _Page) -> str:
    """Return the text between the headings of the diagnosis and of the scoreboard, with single spaces."""
    text = " ".join(page.text.split())
    return text[text.index("Alerts and diagnosis") : text.index("Scoreboard")]


def test_the_diagnosis_says_first_what_was_not_scored(tmp_path: Path) -> None:
    """Failures, gaps and stale gold stand before what is low, and of a run without scores nothing good is said."""
    run = _plain(tmp_path)
    write_jsonl(tmp_path / "questions.jsonl", [*cli.QUESTIONS, {"id": "q3", "question": "?"}])
    write_jsonl(run, [{**cli.ANSWERS[0], "traversal": []}, {"run": "r", "question_id": "q2", "error": "broken"}])
    told = _diagnosis(_Page(write_report([run], tmp_path / "r.html").read_text("utf-8")))
    assert 0 < told.index("of 3 questions 1 failed, 1 has no record") < told.index("EdgeRecall is 0.0000")
    write_jsonl(run, [{"run": "r", "question_id": one["id"], "error": "broken"} for one in cli.QUESTIONS])
    told = _diagnosis(_Page(write_report([run], tmp_path / "r.html").read_text("utf-8")))
    assert told.index("of 3 questions 2 failed, 1 has no record") < told.index(NOT_JUDGED)
    assert "no weakness" not in told
    # x, y and z aren't in the graph of one artifact that nothing needs: both questions with gold are invalid.
    write_jsonl(tmp_path / "artifacts.jsonl", [{"id": "a:other.py"}])
    write_jsonl(run, cli.ANSWERS)
    page = _Page(write_report([run], tmp_path / "r.html").read_text("utf-8"))
    assert _diagnosis(page).index("1 has no record, 2 are invalid for stale gold") < _diagnosis(page).index(NOT_JUDGED)
    assert page.json("summary")["runs"][0]["flags"] == [INVALID, INVALID, ABSENT]


def test_the_page_names_a_walk_off_the_gold_paths(tmp_path: Path) -> None:
    """Where all gold is found among as many edges again and more, the walk is the weakness, with a link to see it."""
    run = _plain(tmp_path)
    noise = [["a:m.py#w", "CALLS", f"a:m.py#{number}"] for number in range(3)]
    gold = [cli.QUESTIONS[0]["paths"][0], cli.QUESTIONS[1]["paths"][0]]
    write_jsonl(run, [{**one, "traversal": [*gold[n], *noise]} for n, one in enumerate(cli.ANSWERS)])
    # 2 of 5 and 1 of 4 walked edges are gold: (.4 + .25) / 2 = .325, below .5.
    page = _Page(write_report([run], tmp_path / "r.html").read_text("utf-8"))
    assert "retrieval: noisy graph expansion (EdgePrecision 0.3250)" in _diagnosis(page)
    assert "Most at q2, q1." in _diagnosis(page)


def test_answers_in_another_order_meet_their_questions(tmp_path: Path) -> None:
    """Details belong to their question whatever the order of the run, and a question without a record is there."""
    write_jsonl(tmp_path / "questions.jsonl", [*cli.QUESTIONS, {"id": "q3", "question": "?"}])
    run = write_jsonl(tmp_path / "runs" / "r.jsonl", reversed(cli.ANSWERS))
    page = _Page(write_report([run], tmp_path / "r.html").read_text("utf-8"))
    shown = page.json("d-0-0")
    assert [shown[str(number)]["question"] for number in range(3)] == ["Who calls z?", "What does x call?", "?"]
    assert [len(shown[str(number)]["chunks"]) for number in range(3)] == [2, 1, 0]
    assert page.json("summary")["runs"][0]["flags"] == [0, COMPLETE, ABSENT]


def test_a_page_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where writing breaks off, the old page stays and nothing else is left behind."""
    run = _plain(tmp_path)
    out = tmp_path / "pages" / "r.html"
    out.parent.mkdir()
    out.write_text("old")

    def broken(*_: object) -> None:
        raise InputError("broken")

    monkeypatch.setattr("graphkit.report.gathering.detail", broken)
    with pytest.raises(InputError, match="broken"):
        write_report([run], out)
    assert [(path.name, path.read_text()) for path in out.parent.iterdir()] == [("r.html", "old")]


def test_bytes_grow_with_the_questions(tmp_path: Path) -> None:
    """Four times the questions add four times the bytes beyond the page itself."""
    sizes = []
    for count in (0, 100, 400):
        folder = tmp_path / str(count)
        [asked], [told] = cli.QUESTIONS[:1], cli.ANSWERS[:1]
        numbers = range(max(count, 1))
        write_jsonl(folder / "questions.jsonl", [{**asked, "id": f"q{number:04}"} for number in numbers])
        run = write_jsonl(folder / "runs" / "r.jsonl", [{**told, "question_id": f"q{number:04}"} for number in numbers])
        sizes.append(write_report([run], folder / "r.html").stat().st_size)
    assert 3.8 < (sizes[2] - sizes[0]) / (sizes[1] - sizes[0]) < 4.2


def test_the_same_input_gives_the_same_page(tmp_path: Path) -> None:
    """Two pages over the same files are equal byte for byte."""
    run = _plain(tmp_path)
    pages = [write_report([run], tmp_path / name).read_bytes() for name in ("1.html", "2.html")]
    assert pages[0] == pages[1]


def test_the_command_prints_the_path(tmp_path: Path) -> None:
    """`graphkit report` writes the page with its title and prints where it is, or JSON."""
    run = _plain(tmp_path)
    done = cli.graphkit("report", run, "-o", "r.html", "--title", "Tuesday <1>", cwd=tmp_path, code=0)
    assert done.out == "r.html\n"
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "<title>Tuesday &lt;1&gt;</title>" in text
    told = cli.graphkit("report", run, "-o", "r.html", "--json", cwd=tmp_path, code=0).object()
    assert told == {"report": "r.html", "bytes": (tmp_path / "r.html").stat().st_size}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.jsonl", "-o", "r.html"], "there is no such file"),
        (["runs/r.jsonl", "runs/r.jsonl", "-o", "r.html"], "another file holds the run 'r', too"),
        (["runs/r.jsonl", "other/runs/r.jsonl", "-o", "r.html"], "the run is of another dataset"),
        (["runs/r.jsonl", "-o", "no/such/r.html"], "the file can't be written"),
    ],
)
def test_bad_arguments_are_told(arguments: list[str], message: str, tmp_path: Path) -> None:
    """What can't be done is refused with exit code 2 and no page."""
    _plain(tmp_path)
    _plain(tmp_path / "other")
    done = cli.graphkit("report", *arguments, cwd=tmp_path, code=2)
    assert message in done.err
    assert not list(tmp_path.rglob("*.html"))


# Runs by name --------------------------------------------------------------------------------------------------------


def _runs(page: Path) -> list[str]:
    return [run["name"] for run in _Page(page.read_text("utf-8")).json("summary")["runs"]]


def test_runs_are_named_as_compare_takes_them(any_graph: cli.Graph, tmp_path: Path) -> None:
    """A run that the graph holds is reported by its name, also beside a file and from another folder.

    The run s doesn't lie in its dataset's folder: the graph knows which dataset it was loaded with.
    """
    run = _plain(tmp_path / "data")
    other = write_jsonl(tmp_path / "logs" / "s.jsonl", [{**one, "run": "s"} for one in cli.ANSWERS])
    third = write_jsonl(tmp_path / "data" / "runs" / "t", [{**one, "run": "t"} for one in cli.ANSWERS])
    away = tmp_path / "away"
    away.mkdir()

    def graphkit(*arguments: object) -> cli.Done:
        return cli.graphkit(*arguments, cwd=away, env=any_graph.env, code=0)

    graphkit("evaluate", run, other, "--dataset", tmp_path / "data", "-m", "EdgeRecall")
    assert graphkit("report", "r", "s", "-o", "two.html").out == "two.html\n"
    assert _runs(away / "two.html") == ["r", "s"]
    graphkit("report", third, "s", "-o", "both.html")
    assert _runs(away / "both.html") == ["t", "s"]
    # Both options say where the graph and the dataset are; the dataset that is named counts.
    write_jsonl(away / "new" / "questions.jsonl", [cli.QUESTIONS[0], {**cli.QUESTIONS[1], "paths": []}])
    graphkit("report", "r", "--dataset", "new", "-o", "new.html")
    assert [run["found"] for run in _Page((away / "new.html").read_text("utf-8")).json("summary")["runs"]] == [
        [[1, 2], [0, 0]]
    ]


def test_a_run_that_cannot_be_found_is_told(any_graph: cli.Graph, tmp_path: Path) -> None:
    """An unknown name is told as compare tells it; a file that is gone or changed is refused with what to do."""
    run = _plain(tmp_path / "data")

    def refused(*arguments: object) -> str:
        return cli.graphkit(*arguments, cwd=tmp_path, env=any_graph.env, code=2).err

    assert refused("report", "r", "-o", "r.html") == refused("compare", "r", "s")
    cli.graphkit("evaluate", run, "-m", "EdgeRecall", cwd=tmp_path, env=any_graph.env, code=0)
    told = refused("report", "rr", "-o", "r.html")
    assert "no run is called 'rr'" in told
    assert "Did you mean r?" in told
    assert told == refused("compare", "r", "rr")
    records = run.read_text("utf-8")
    write_jsonl(run, [cli.ANSWERS[0]])
    told = refused("report", "r", "-o", "r.html")
    assert f"{run}: the run 'r' is no longer what was loaded" in told
    assert f"`graphkit evaluate {run}` loads it anew" in told
    run.unlink()
    told = refused("report", "r", "-o", "r.html")
    assert f"{run}: the file that the run 'r' was loaded from is gone" in told
    assert not list(tmp_path.rglob("*.html"))
    run.write_text(records, "utf-8")
    cli.graphkit("report", "r", "-o", "r.html", cwd=tmp_path, env=any_graph.env, code=0)
    # A graph of an older version doesn't know the file.
    any_graph.store.write("MATCH (r:Run {id: 'r'}) REMOVE r.file")
    assert "the graph doesn't know the file of the run 'r'" in refused("report", "r", "-o", "r2.html")


def test_runs_of_two_datasets_are_refused_by_name(any_graph: cli.Graph, tmp_path: Path) -> None:
    """Names of runs of two datasets are refused as their files are."""
    first = _plain(tmp_path / "one")
    asked = [{**one, "id": f"other-{one['id']}"} for one in cli.QUESTIONS]
    write_jsonl(tmp_path / "two" / "questions.jsonl", asked)
    answers = [{**one, "run": "s", "question_id": f"other-{one['question_id']}"} for one in cli.ANSWERS]
    second = write_jsonl(tmp_path / "two" / "runs" / "s.jsonl", answers)
    cli.graphkit("evaluate", first, second, "-m", "EdgeRecall", cwd=tmp_path, env=any_graph.env, code=0)
    told = cli.graphkit("report", "r", "s", "-o", "r.html", cwd=tmp_path, env=any_graph.env, code=2).err
    assert f"{second}: the run is of another dataset" in told


def test_files_need_no_database(tmp_path: Path) -> None:
    """Where only files are named the database that is set isn't opened: nothing listens there, and nobody asks."""
    run = _plain(tmp_path)
    nowhere = {"NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "nobody asks"}
    cli.graphkit("report", run, "-o", "r.html", cwd=tmp_path, env=nowhere, code=0)
    plain = run.rename(run.with_suffix(""))  # is there, so it is a file, whatever its name
    cli.graphkit("report", plain, "-o", "r.html", cwd=tmp_path, env=nowhere, code=0)
    assert "127.0.0.1:1" in cli.graphkit("report", "r", "-o", "s.html", cwd=tmp_path, env=nowhere, code=3).err
