"""The report page without a browser: what is written into it, whole, harmless and the same each time."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
from base64 import b64decode, b64encode
from collections import Counter
from pathlib import Path

import pytest

import graphkit
from graphkit.analysis.layers import NOT_JUDGED
from graphkit.errors import InputError
from graphkit.files.assets import storefront_code_folder, storefront_folder
from graphkit.plugins.sandbox.executions import Execution
from graphkit.records.scores import Score, answer_hash
from graphkit.report import PageOptions, write_report
from graphkit.report.escaping import packed, page_json, visible, visible_text
from graphkit.report.rendering import script
from tests.helpers import cli
from tests.helpers.datasets import SHOP_QUESTIONS, read_jsonl, write_jsonl
from tests.helpers.pages import HOSTILE, Page, edges_of, hostile_dataset, plain, spine_of


@pytest.mark.parametrize("text", HOSTILE)
def test_data_in_the_page_ends_nothing(text: str) -> None:
    """Data stands in the page as letters of base64 alone, and reads back as it was."""
    written = packed(page_json({"text": text}))
    assert re.fullmatch('"[A-Za-z0-9+/=]+"', written)
    assert json.loads(gzip.decompress(b64decode(json.loads(written)))) == {"text": text}


def test_names_of_modules_are_unique() -> None:
    """The modules of the script share one scope: no name at the top level of one stands at that of another."""
    names = re.findall(r"^(?:const|let) (\w+|\$)", script(), re.MULTILINE)
    assert len(names) > 50
    assert sorted(names) == sorted(set(names))


def test_hidden_characters_are_written_out() -> None:
    """Control characters and marks of the reading direction are shown; a text keeps its tabs and lines, a name none."""
    assert visible("a\x1b[1m\u202eb\tc\n\x00") == "a\\u001b[1m\\u202eb\\u0009c\\u000a\\u0000"
    assert visible_text("a\x1b[1m\u202eb\tc\n\x00") == "a\\u001b[1m\\u202eb\tc\n\\u0000"


def test_the_page_warns_as_evaluate_does(tmp_path: Path) -> None:
    """It warns of answers that don't say if they decline, of an edge without a relation, and of ids finer than gold."""
    questions: list[cli.Row] = [
        {"id": "q1", "question": "?", "paths": [{"steps": [["a:x.py", "CALLS", "a:y.py"]]}], "relevant": ["a:x.py"]},
        {"id": "q2", "question": "?", "answerable": False, "why_not": "no path"},
    ]
    walk = {"source": "a:x.py", "target": "a:y.py"}
    answers: list[cli.Row] = [
        {"run": "r", "question_id": "q1", "answer": "y", "retrieved": ["a:x.py:1-9"], "traversal": [walk]},
        {"run": "r", "question_id": "q2", "answer": "z", "retrieved": ["a:x.py:1-9"], "traversal": []},
    ]
    run = cli.tiny(tmp_path, questions, answers)
    warnings = graphkit.evaluate(run).warnings
    assert len(warnings) == 3
    page = " ".join(Page(write_report([run], tmp_path / "p.html").read_text()).text.split())
    assert [one for one in warnings if one not in page] == []


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_part_of_the_questions_is_shown_as_a_dataset_of_its_own(shuffled: bool, tmp_path: Path) -> None:
    """With a filter the page holds what a page of these questions and their records alone holds, and says the part.

    Some of the easy questions have no answer, as some of all have: the same measures apply.
    """
    name, filter_ = "storefront-graph-v2", 'difficulty == "easy"'
    dataset = Path(shutil.copytree(storefront_folder(), tmp_path / "whole"))
    easy = [one for one in read_jsonl(dataset / "questions.jsonl") if one["difficulty"] == "easy"]
    kept = {one["id"] for one in easy}
    answers = read_jsonl(dataset / "runs" / f"{name}.jsonl")
    scores = [Score(run=name, question=one["question_id"], measure="Mine", value=0.5) for one in answers]
    alone = tmp_path / "alone"
    for file in (
        *dataset.glob("*s-stack-*.jsonl"),
        *(dataset / f"{one}.jsonl" for one in ("access", "commits", "compatibility")),
    ):
        write_jsonl(alone / file.name, read_jsonl(file))
    write_jsonl(alone / "questions.jsonl", easy)
    own = write_jsonl(alone / "runs" / f"{name}.jsonl", [one for one in answers if one["question_id"] in kept])
    whole = write_jsonl(dataset / "runs" / f"{name}.jsonl", reversed(answers) if shuffled else answers)
    options = PageOptions(title="T", scores=[one for one in scores if one.question in kept])
    expected = Page(write_report([own], tmp_path / "alone.html", options).read_text("utf-8"))
    options = PageOptions(title="T", scores=scores, where=filter_)
    page = Page(write_report([whole], tmp_path / "part.html", options).read_text("utf-8"))
    note = f"The page is over {len(easy)} of {SHOP_QUESTIONS} questions, {filter_}."
    assert note in page.text
    assert note not in expected.text
    assert [row["id"] for row in page.json("summary")["questions"]] == [one["id"] for one in easy]
    found, wanted = page.json("summary"), expected.json("summary")
    assert found == wanted
    # Other texts are the same, but for the note, the dataset's name, and the share of ids that the whole dataset knows.
    found, wanted = (re.sub(r"Known: .*?\.", "", one.text) for one in (page, expected))
    assert found.replace(note, "").split() == wanted.replace("alone", dataset.name).split()


def test_a_hostile_dataset_stays_text(tmp_path: Path) -> None:
    """The page over hostile strings has no element, attribute or script but its own, and shows them all as text."""
    harmless = Page(write_report([plain(tmp_path / "plain")], tmp_path / "plain.html").read_text("utf-8"))
    out = write_report([hostile_dataset(tmp_path / "hostile")], tmp_path / "r.html", PageOptions(title=HOSTILE[0]))
    page = Page(out.read_text("utf-8"))
    code = [text for attributes, text in page.scripts if attributes.get("type") != "application/json"]
    assert code == [text for attributes, text in harmless.scripts if attributes.get("type") != "application/json"]
    assert {tag for tag, _ in page.elements} - {"li", "ul", "a", "strong", "rect"} <= {
        tag for tag, _ in harmless.elements
    }
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    shown = [row["text"] for row in page.json("summary")["questions"]]
    assert shown == [visible_text(text) for text in HOSTILE]
    assert page.json("summary")["runs"][0]["name"] == HOSTILE[0]
    assert HOSTILE[0] in page.text


def test_the_policy_allows_the_own_blocks_only(tmp_path: Path) -> None:
    """The content security policy names exactly the hashes of the style sheet and of the one script, and no address."""
    page = Page(write_report([plain(tmp_path)], tmp_path / "r.html").read_text("utf-8"))
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


def test_several_runs_share_a_board(tmp_path: Path) -> None:
    """Each run has a column with its own means, and details of its own."""
    first = plain(tmp_path)
    second = write_jsonl(tmp_path / "runs" / "s.jsonl", [{**one, "run": "s", "traversal": []} for one in cli.ANSWERS])
    page = Page(write_report([first, second], tmp_path / "r.html").read_text("utf-8"))
    place = [measure["name"] for measure in page.json("summary")["measures"]].index("EdgeRecall")
    assert [run["name"] for run in page.json("summary")["runs"]] == ["r", "s"]
    assert [run["values"][place] for run in page.json("summary")["runs"]] == [[0.5, 1.0], [0.0, 0.0]]
    assert page.json("summary")["runs"][0]["questions"][1]["flags"] == ["complete"]
    assert edges_of(page.json("d-1-0")["1"]) == {("a:m.py#x", "CALLS", "a:m.py#w", "missed")}


def test_each_question_has_its_spine_beside_all_runs(tmp_path: Path) -> None:
    """q1 is walked by half in r and not at all in s, q2 wholly and not at all: q1 (1 of 4) stands before q2 (1 of 2).

    The runs' questions come in another order: each meets its own. What stands in the page is what the script inserts.
    """
    first = plain(tmp_path)
    other = [{**one, "run": "s", "traversal": []} for one in reversed(cli.ANSWERS)]
    second = write_jsonl(tmp_path / "runs" / "s.jsonl", other)
    text = write_report([first, second], tmp_path / "r.html").read_text("utf-8")
    worst = text[text.index('id="worst"') :]
    spines = [spine_of(Page(text), place) for place in (0, 1)]
    assert 0 < worst.index(spines[0]) < worst.index(spines[1])
    told = [[" ".join(Page(one).text.split()) for one in re.findall(r"<li class.*?</li>", spine)] for spine in spines]
    assert told == [
        [
            "✕A r broke at step 2: did not retrieve z; the walk stopped at y. 1 of 2 steps.",
            "✕B s walked no edge; broke at step 1: retrieved y (#2), but did not walk to it from x. 0 of 2 steps.",
            "→A r: For step 2, retrieve z, or walk to it.",
            "→B s: For step 1, follow CALLS edges from x.",
        ],
        [
            "✓A r walked the required step.",
            "✕B s walked no edge; broke at step 1: did not retrieve x. 0 of 1 step.",
            "→B s: For step 1, retrieve x, or walk to it.",
        ],
    ]


def test_a_question_that_every_run_walks_is_none_of_the_worst(tmp_path: Path) -> None:
    """Of 25 questions without a walk 20 stand in the page; q2, which is walked wholly, doesn't."""
    asked, told = cli.QUESTIONS[1], cli.ANSWERS[1]
    names = [f"n{number}" for number in range(25)]
    run = cli.tiny(
        tmp_path,
        [asked, *({**asked, "id": name} for name in names)],
        [told, *({**told, "question_id": name, "traversal": []} for name in names)],
    )
    page = Page(write_report([run], tmp_path / "r.html").read_text("utf-8"))
    assert len([1 for tag, one in page.elements if tag == "article"]) == 20
    alone = cli.tiny(tmp_path / "alone", [asked], [told])
    assert "article" not in {tag for tag, _ in Page(write_report([alone], tmp_path / "a.html").read_text()).elements}


def test_tests_decide_what_is_luck(tmp_path: Path) -> None:
    """sc-01 misses its path in the graph run: passed tests make it luck, failed ones a wrong answer with all facts."""
    folder = storefront_code_folder()
    run = folder / "runs" / "storefront-code-graph.jsonl"
    [asked] = [n for n, one in enumerate(read_jsonl(folder / "questions.jsonl")) if one["id"] == "sc-01"]
    [told] = [one for one in read_jsonl(run) if "sc-01" in (one.get("query_id"), one.get("question_id"))]
    hashed = {"answer_hash": answer_hash(told["answer"])}
    for status, word in (("success", "luck"), ("test_failure", "wrong")):
        of = {"run": "storefront-code-graph", "question": "sc-01", "language": "python"}
        done = Execution.model_validate({**of, "status": status, **hashed})
        options = PageOptions(beside=[done])
        page = Page(write_report([run], tmp_path / "r.html", options).read_text("utf-8"))
        spine = spine_of(page, asked)
        said = {"luck": "Right answer over a missed path: luck.", "wrong": "Wrong answer."}[word]
        assert f'<span class="answer {word}">{said}</span>' in spine


def test_page_decodes_each_line_once(tmp_path: Path, parsed: Counter[tuple[str, int]]) -> None:
    """One reading gives scores and details; only the first records and questions are looked at before, for ids."""
    run = plain(tmp_path)
    parsed.clear()
    write_report([run], tmp_path / "r.html")
    times = {"questions.jsonl": 2, run.name: 2}
    assert parsed == {(name, number): count for name, count in times.items() for number in (1, 2)}


def _diagnosis(page: Page) -> str:
    """Return the text between the heading of the diagnosis and the distributions, with single spaces."""
    text = " ".join(page.text.split())
    return text[text.index("Failed questions:") : text.index("Distribution of each measure")]


def test_the_diagnosis_says_first_what_was_not_scored(tmp_path: Path) -> None:
    """Failures, gaps and stale gold stand before what is low, and of a run without scores nothing good is said."""
    run = plain(tmp_path)
    write_jsonl(tmp_path / "questions.jsonl", [*cli.QUESTIONS, {"id": "q3", "question": "?"}])
    write_jsonl(run, [{**cli.ANSWERS[0], "traversal": []}, {"run": "r", "question_id": "q2", "error": "broken"}])
    reported = _diagnosis(Page(write_report([run], tmp_path / "r.html").read_text("utf-8")))
    assert (
        0 < reported.index("of 3 questions 1 failed, 1 has no record") < reported.index("EdgeRecall ≥ 0.80 0.00 severe")
    )
    write_jsonl(run, [{"run": "r", "question_id": one["id"], "error": "broken"} for one in cli.QUESTIONS])
    reported = _diagnosis(Page(write_report([run], tmp_path / "r.html").read_text("utf-8")))
    assert reported.index("of 3 questions 2 failed, 1 has no record") < reported.index(NOT_JUDGED)
    assert "no weakness" not in reported
    # x, y and z aren't in the graph of one artifact that nothing needs: both questions with gold are invalid.
    write_jsonl(tmp_path / "artifacts.jsonl", [{"id": "a:other.py"}])
    write_jsonl(run, cli.ANSWERS)
    page = Page(write_report([run], tmp_path / "r.html").read_text("utf-8"))
    assert _diagnosis(page).index("1 has no record, 2 are invalid for stale gold") < _diagnosis(page).index(NOT_JUDGED)
    assert [one["flags"] for one in page.json("summary")["runs"][0]["questions"]] == [
        ["invalid"],
        ["invalid"],
        ["absent"],
    ]


def test_the_page_names_a_walk_off_the_gold_paths(tmp_path: Path) -> None:
    """If all gold is found among as many edges again and more, the walk is the weakness, with a link to see it."""
    run = plain(tmp_path)
    noise = [["a:m.py#w", "CALLS", f"a:m.py#{number}"] for number in range(3)]
    gold = [cli.QUESTIONS[0]["paths"][0], cli.QUESTIONS[1]["paths"][0]]
    write_jsonl(run, [{**one, "traversal": [*gold[n], *noise]} for n, one in enumerate(cli.ANSWERS)])
    # 2 of 5 and 1 of 4 walked edges are gold: (.4 + .25) / 2 = .325, below .5.
    page = Page(write_report([run], tmp_path / "r.html").read_text("utf-8"))
    assert "retrieval: noisy graph expansion (EdgePrecision 0.33)" in _diagnosis(page)
    assert "Most at q2, q1." in _diagnosis(page)


def test_the_page_says_which_chunks_take_the_commit_of_their_artifact(tmp_path: Path) -> None:
    """One of the run's three chunks, all without a commit, is of an artifact that the dataset's graph read."""
    known = [{"id": "a:m.py#x", "commit": "1"}, {"id": "a:m.py#y"}]
    run = cli.tiny(tmp_path, artifacts=known)
    page = Page(write_report([run], tmp_path / "r.html").read_text("utf-8"))
    assert "1 of 3 chunks without a commit takes that of its artifact in the dataset's graph." in page.text
    for path in (tmp_path / "artifacts.jsonl", tmp_path / "r.html"):
        path.unlink()
    page = Page(write_report([run], tmp_path / "r.html").read_text("utf-8"))
    assert "without a commit" not in page.text


def test_the_page_says_why_questions_are_not_scored(tmp_path: Path) -> None:
    """Neither record has a traversal: each reason stands once, with its measures and how often it holds."""
    answers = [{"run": "r", "question_id": one["id"], "retrieved": ["a:m.py#x"]} for one in cli.QUESTIONS]
    run = cli.tiny(tmp_path, answers=answers)
    reported = _diagnosis(Page(write_report([run], tmp_path / "r.html").read_text("utf-8")))
    # The gold of q2 crosses no boundary, which is reported before what is lacking of its walk.
    assert "since the record has no traversal (not logged): EdgeRecall (2)" in reported
    assert "BoundaryRecall (1)" in reported


def test_answers_in_another_order_meet_their_questions(tmp_path: Path) -> None:
    """Details belong to their question whatever the order of the run, and a question without a record is there."""
    write_jsonl(tmp_path / "questions.jsonl", [*cli.QUESTIONS, {"id": "q3", "question": "?"}])
    run = write_jsonl(tmp_path / "runs" / "r.jsonl", reversed(cli.ANSWERS))
    page = Page(write_report([run], tmp_path / "r.html").read_text("utf-8"))
    shown = page.json("d-0-0")
    assert [shown[str(number)]["question"] for number in range(3)] == ["Who calls z?", "What does x call?", "?"]
    assert [len(shown[str(number)]["chunks"]) for number in range(3)] == [2, 1, 0]
    assert [one["flags"] for one in page.json("summary")["runs"][0]["questions"]] == [[], ["complete"], ["absent"]]


def test_a_page_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If writing breaks off, the old page stays and nothing else is left behind."""
    run = plain(tmp_path)
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
    """Four times the questions add four times the bytes beyond the page itself, which holds 20 spines of its own.

    The details take four times as much; the packed spines of questions that resemble each other take less.
    """
    sizes = []
    for count in (25, 125, 425):
        folder = tmp_path / str(count)
        [asked], [reported] = cli.QUESTIONS[:1], cli.ANSWERS[:1]
        numbers = range(count)
        write_jsonl(folder / "questions.jsonl", [{**asked, "id": f"q{number:04}"} for number in numbers])
        run = write_jsonl(
            folder / "runs" / "r.jsonl", [{**reported, "question_id": f"q{number:04}"} for number in numbers]
        )
        sizes.append(write_report([run], folder / "r.html").stat().st_size)
    assert 3.8 < (sizes[2] - sizes[0]) / (sizes[1] - sizes[0]) < 4.2


def test_the_same_input_gives_the_same_page(tmp_path: Path) -> None:
    """Two pages over the same files are equal byte for byte."""
    run = plain(tmp_path)
    pages = [write_report([run], tmp_path / name).read_bytes() for name in ("1.html", "2.html")]
    assert pages[0] == pages[1]
