"""Gold answers in the text of an answer: cases worked by hand."""

from __future__ import annotations

import pytest

from graphkit.records.commits import CommitGraph
from graphkit.records.ids import Places, StatedArtifact
from tests.helpers.cases import answer, question, reason, unlogged, value

#: Two gold answers.
TWO = question(gold_answers=["The Beatles", "U2"])


@pytest.mark.parametrize(
    ("text", "hit", "first", "f1", "joined"),
    [
        ("Beatles\nU2", 1.0, 1.0, 1.0, 1.0),
        # Two of three lines hold an answer, both answers are found: precision 2/3, recall 1.
        ("Queen\nthe beatles!\nU-2", 1.0, 0.0, 2 * (2 / 3) / (5 / 3), 2 * (2 / 3) / (5 / 3)),
        # One line of one holds both answers; joined, precision is 2/1.
        ("The Beatles and U2.", 1.0, 1.0, 1.0, 2 * 2 / 3),
        # A blank line is none, but joined it counts: 1/1 or 1/3, and 1/2.
        ("U2\n\nU2, again", 1.0, 1.0, 2 * 1 * (1 / 2) / (3 / 2), 2 * (1 / 3) * (1 / 2) / (5 / 6)),
        ("Queen", 0.0, 0.0, 0.0, 0.0),
        ("", 0.0, 0.0, 0.0, 0.0),
    ],
)
def test_worked_cases(text: str, hit: float, first: float, f1: float, joined: float) -> None:
    """Case, punctuation and articles don't count."""
    run = answer(answer=text)
    assert value("AnswerHit", TWO, run) == hit
    assert value("AnswerHit(first=True)", TWO, run) == first
    assert value("AnswerF1", TWO, run) == pytest.approx(f1)
    assert value("AnswerF1(joined=True)", TWO, run) == pytest.approx(joined)


def test_one_gold_answer() -> None:
    """Without a list, the expected answer is the only one."""
    assert value("AnswerHit", question(gold_answer="Paris"), answer(answer="In Paris.")) == 1.0
    asked = question(gold_answer="It is Paris.", expected_output="Paris")
    assert value("AnswerF1", asked, answer(answer="Paris\nRome")) == pytest.approx(2 / 3)


def test_names_of_a_node() -> None:
    """A gold answer that names a node of gold is found by each name of it, and is one gold answer all the same."""
    path = [("web:src/a.ts#submit", "CALLS", "api:src/b.py#load")]
    asked, run = (
        question(path, gold_answers=["web:src/a.ts#submit", "load"]),
        answer(answer="submit\napi:src/b.py#load"),
    )
    # `b.py#load` is one word, so that `load` is none; by its names each line is a gold answer.
    assert [value(one, asked, run) for one in ("AnswerF1", "AnswerF1(names=True)")] == [0.0, 1.0]
    first = answer(answer="It is src/a.ts#submit.\nload")
    assert [value(f"AnswerHit(first=True{more})", asked, first) for more in ("", ", names=True")] == [0.0, 1.0]
    inside = answer(answer="resubmitted")
    assert [value(f"AnswerHit(names=True{more})", asked, inside) for more in ("", ", words=False")] == [0.0, 1.0]


def with_aliases(**aliases: tuple[str, ...]) -> CommitGraph:
    """Return the places of a graph whose nodes ``api:NAME`` have these aliases."""
    commits, stated = CommitGraph(), {f"api:{name}": StatedArtifact(None, names) for name, names in aliases.items()}
    commits.places = Places(stated=lambda: {"": stated})
    return commits


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize("text", ["Nothing at all.", "", "the", "+ +"])
def test_an_alias_without_a_word_is_in_no_answer(text: str, words: bool) -> None:
    """Signs, white space and articles may be aliases; they leave nothing that an answer could hold."""
    places = with_aliases(users=("->", "  ", "!", "."))
    asked = question(relevant=["api:users"], gold_answers=["users"])
    for measure in ("AnswerHit", "AnswerF1"):
        name = f"{measure}(words={words}, names=True)"
        assert value(name, asked, answer(answer=text), places) == 0.0
        assert value(name, asked, answer(answer="api:users"), places) == 1.0


def test_an_id_names_its_node_whoever_has_it_as_an_alias() -> None:
    """A gold answer that is the id of a gold node means that node, though another one has it as an alias."""
    places = with_aliases(auth=("Door",), old=("api:auth", "Attic"))
    asked = question(relevant=["api:auth", "api:old"], gold_answers=["api:auth"])
    found = [value("AnswerHit(names=True)", asked, answer(answer=text), places) for text in ("Door", "Attic")]
    assert found == [1.0, 0.0]


@pytest.mark.parametrize("measure", ["AnswerHit", "AnswerF1"])
def test_what_is_missing_is_unscored(measure: str) -> None:
    """A question without a gold answer, and a record without an answer."""
    assert reason(measure, question(), answer(answer="x")) == "no gold answer"
    assert reason(measure, question(gold_answers=["!"]), answer(answer="x")) == "no gold answer"
    assert reason(measure, TWO, unlogged()) == "the run logs no answer text (not logged)"
