"""The text of an answer against gold answers: cases worked by hand, and scripts of others derived again."""

from __future__ import annotations

import random
import re
import string
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.measures.answer_matching import LONG_GOLD_ANSWER, NO_GOLD_ANSWER
from graphkit.measures.integration import NO_ANSWER
from graphkit.measures.unscored import NO_TOKENS
from graphkit.records.models import Question
from tests.helpers.cases import answer, question, reason, unlogged, value
from tests.helpers.datasets import write_jsonl

MEASURES = ("ExactMatch", "TokenF1", "RougeL")
#: Two gold answers, of which the better one counts.
TWO = question(gold_answers=["the Seine", "a river in Paris"])


@pytest.mark.parametrize(
    ("text", "exact", "f1", "rouge"),
    [
        # Articles, case and signs don't count; ROUGE's tokens hold the article: one of one and one of two, 2 / 3.
        ("Seine!", 1.0, 1.0, 2 / 3),
        ("", 0.0, 0.0, 0.0),
        ("Rhine", 0.0, 0.0, 0.0),
        # it is in paris river / river in paris: three shared tokens of 5 and 3, 6 / 8. In order, of 6 and 4 tokens,
        # `in paris`: 4 / 10.
        ("It is in Paris, a river", 0.0, 6 / 8, 4 / 10),
        # it is river in paris / river in paris: 6 / 8. All four of 6 are in order: 8 / 10.
        ("It is a river in Paris", 0.0, 6 / 8, 8 / 10),
        # seine seine seine / seine: one token is shared once, 2 / 4; the seine seine seine / the seine: 4 / 6.
        ("The Seine, Seine, Seine", 0.0, 2 / 4, 4 / 6),
    ],
)
def test_worked_cases(text: str, exact: float, f1: float, rouge: float) -> None:
    """The best gold answer counts for each measure."""
    found = [value(measure, TWO, answer(answer=text)) for measure in MEASURES]
    assert found == pytest.approx([exact, f1, rouge], abs=1e-12)


def test_what_neighbours_say_of_the_same_answer() -> None:
    """A sentence around a gold answer is a hit, not a match; a list of answers is right as a list, not as a text."""
    asked = question(gold_answers=["Paris", "Rome"])
    sentence, both = answer(answer="It is Paris"), answer(answer="Paris\nRome")
    assert [value(one, asked, sentence) for one in ("AnswerHit", "ExactMatch")] == [1.0, 0.0]
    # One line of one is right, one gold answer of two is there: 2 * 1 * 1/2 / (3/2). Tokens: one of 3 and 1, 2 / 4.
    assert [value(one, asked, sentence) for one in ("AnswerF1", "TokenF1")] == pytest.approx([2 / 3, 2 / 4])
    # Both lines and both answers; of the text's two tokens gold answers have one each, 2 / 3.
    assert [value(one, asked, both) for one in ("AnswerF1", "TokenF1")] == pytest.approx([1.0, 2 / 3])


@pytest.mark.parametrize(
    ("text", "gold", "squad", "hotpot"),
    [
        ("yes, it is", "yes", 2 / 4, 0.0),
        ("yes", "yes it is", 2 / 4, 0.0),
        ("Yes.", "yes", 1.0, 1.0),
        ("no", "yes", 0.0, 0.0),
        ("noanswer", "noanswer here", 2 / 3, 0.0),
        ("no one else", "no one", 4 / 5, 4 / 5),
    ],
)
def test_yes_and_no_as_a_whole(text: str, gold: str, squad: float, hotpot: float) -> None:
    """HotpotQA gives a yes, no or noanswer nothing for a part."""
    asked = question(gold_answers=[gold])
    assert value("TokenF1", asked, answer(answer=text)) == pytest.approx(squad)
    assert value("TokenF1(yes_no=True)", asked, answer(answer=text)) == pytest.approx(hotpot)


PATH = [("web:src/a.ts#submit", "CALLS", "api:src/b.py")]
NAMES = ("web:src/a.ts#submit", "src/a.ts#submit", "submit")


@pytest.mark.parametrize("gold", NAMES)
def test_names_of_a_node_are_equal(gold: str) -> None:
    """A gold answer that names one node of gold is met by each name of the node, and by no other node."""
    asked = question(PATH, gold_answers=[gold])
    for text in NAMES:
        assert [value(measure, asked, answer(answer=text)) for measure in MEASURES] == [1.0, 1.0, 1.0]
    assert value("ExactMatch", asked, answer(answer="src/b.py")) == 0.0
    assert value("ExactMatch", question(PATH, gold_answers=["src/b.py"]), answer(answer="api:src/b.py")) == 1.0
    # Without the node in gold, or with two nodes of one symbol, a text is only a text.
    other = "submit" if gold != "submit" else NAMES[0]
    assert value("ExactMatch", question(gold_answers=[gold]), answer(answer=other)) == 0.0
    twice = question([*PATH, ("api:src/b.py", "CALLS", "api:src/c.py#submit")], gold_answers=["submit"])
    assert value("ExactMatch", twice, answer(answer=NAMES[0])) == 0.0


#: Two graphs state the artifact under several names, one of which another node of gold has as its symbol.
ALIASES: dict[str, list[dict[str, Any]]] = {
    "artifacts.jsonl": [{"id": NAMES[0], "aliases": ["Send button", "b"]}, {"id": "api:src/b.py#b"}],
    "artifacts-old.jsonl": [{"id": NAMES[0], "aliases": ["Old button"]}, {"id": "api:src/b.py#b"}],
}


@pytest.mark.parametrize("options", [{}, {"executor": "processes=2"}])
def test_aliases_of_the_graph_are_names(options: dict[str, str], tmp_path: Path) -> None:
    """Every alias of a gold node meets a gold answer of another name, of its stack's graph where it has one."""
    for name, graph in ALIASES.items():
        write_jsonl(tmp_path / name, graph)
    path = [{"source": NAMES[0], "relation": "CALLS", "target": "api:src/b.py#b"}]
    asked = {"question": "?", "paths": [{"steps": path}]}
    # Gold answer, answer, and stack: 1 if both name the first node. Two nodes of gold are called b.
    rows = [
        ("submit", "The send button.", None, 1.0),
        ("Send button", NAMES[0], None, 1.0),
        ("Old button", "Send button", None, 1.0),
        ("submit", "Old button", "old", 1.0),
        ("submit", "Send button", "old", 0.0),
        ("b", "submit", None, 0.0),
    ]
    questions = [
        {"id": f"q{place}", **asked, "gold_answers": [gold], **({"stack": stack} if stack else {})}
        for place, (gold, _, stack, _) in enumerate(rows)
    ]
    answers = [{"run": "r", "question_id": f"q{place}", "answer": row[1]} for place, row in enumerate(rows)]
    write_jsonl(tmp_path / "questions.jsonl", questions)
    write_jsonl(tmp_path / "runs/r.jsonl", answers)
    # The hit ignores the words around a name; without names only the text itself counts.
    measures = ["ExactMatch", "AnswerHit(names=True)", "AnswerF1(names=True)", "AnswerHit"]
    result = graphkit.evaluate(tmp_path / "runs/r.jsonl", measures=measures, **options)  # type: ignore[arg-type]
    expected = [{**dict.fromkeys(measures, row[3]), "AnswerHit": 0.0} for row in rows]
    assert [result.question(f"q{place}").values for place in range(len(rows))] == expected


def test_what_is_missing_is_unscored() -> None:
    """Gold without a word that a measure compares, a long gold answer for ExactMatch, a record without an answer."""
    for measure in MEASURES:
        assert reason(measure, question(), answer(answer="x")) == NO_GOLD_ANSWER
        assert reason(measure, TWO, unlogged()) == NO_ANSWER
    # Of the letter A SQuAD's normalisation leaves nothing, and an empty answer would equal it.
    letter = question(gold_answers=["A"])
    assert [reason(measure, letter, answer(answer="")) for measure in MEASURES[:2]] == [NO_TOKENS] * 2
    assert value("RougeL", letter, answer(answer="a")) == 1.0
    assert reason("RougeL", question(gold_answers=["東京"]), answer(answer="東京")) == NO_TOKENS
    assert value("ExactMatch", question(gold_answers=["東京"]), answer(answer="東京")) == 1.0
    long = question(gold_answer="one two three four five six")
    assert reason("ExactMatch", long, answer(answer="one")) == LONG_GOLD_ANSWER
    # One token of 1 and of 6.
    assert [value(measure, long, answer(answer="one")) for measure in MEASURES[1:]] == pytest.approx([2 / 7, 2 / 7])


def normalise(text: str) -> str:
    """Lower case, no ASCII punctuation, no articles, single spaces: as SQuAD v1.1 and HotpotQA define it."""
    kept = "".join(sign for sign in text.lower() if sign not in string.punctuation)
    return " ".join(word for word in re.split(r"\s+", re.sub(r"\b(a|an|the)\b", " ", kept)) if word)


def squad_f1(text: str, gold: str) -> float:
    """SQuAD v1.1: harmonic mean of the precision and the recall of the tokens as a bag."""
    have, want = normalise(text).split(), normalise(gold).split()
    same = sum(min(have.count(token), want.count(token)) for token in set(have))
    if same == 0:
        return 0.0
    precision, recall = same / len(have), same / len(want)
    return 2 * precision * recall / (precision + recall)


def hotpot_f1(text: str, gold: str) -> float:
    """HotpotQA: as SQuAD, and 0 if either text is yes, no or noanswer and the other one isn't the same."""
    whole = {normalise(text), normalise(gold)}
    return 0.0 if len(whole) == 2 and whole & {"yes", "no", "noanswer"} else squad_f1(text, gold)


def rouge_l(text: str, gold: str) -> float:
    """Lin 2004 with beta 1: the longest common subsequence by its recurrence, over tokens of a-z and 0-9."""
    have, want = (re.sub("[^a-z0-9]+", " ", one.lower()).split() for one in (text, gold))

    @cache
    def longest(first: int, second: int) -> int:
        if first == len(have) or second == len(want):
            return 0
        if have[first] == want[second]:
            return 1 + longest(first + 1, second + 1)
        return max(longest(first + 1, second), longest(first, second + 1))

    if not have or not want or not longest(0, 0):
        return 0.0
    precision, recall = longest(0, 0) / len(have), longest(0, 0) / len(want)
    return 2 * precision * recall / (precision + recall)


WORDS = (
    *("the", "a", "an", "The", "yes", "no", "noanswer", "Paris", "paris", "U.S.A.", "usa", "1,925", "1925", "it's"),
    *("its", "Straße", "STRASSE", "İzmir", "①", "“quoted”", "--", "don't", "an-other", "\n", "\t", "東京", "x_y"),
)


def random_text(chosen: random.Random) -> str:
    """Return up to eight words, so that texts share some."""
    return " ".join(chosen.choices(WORDS, k=chosen.choice((1, 1, 2, 3, 5, 8))))


def test_equal_to_the_scripts_of_others() -> None:
    """On 1,000 random pairs: the scripts of SQuAD v1.1 and HotpotQA, and ROUGE-L, derived from their definitions."""
    chosen = random.Random(45)
    scored: Counter[str] = Counter()
    between: Counter[str] = Counter()
    for _ in range(1000):
        text, golds = random_text(chosen), [random_text(chosen) for _ in range(chosen.choice((1, 2)))]
        asked, run = Question.model_validate({"id": "q", "question": "?", "gold_answers": golds}), answer(answer=text)
        squad = [gold for gold in golds if normalise(gold)]
        latin = [gold for gold in golds if re.search("[a-z0-9]", gold.lower())]
        peers = {
            "ExactMatch": [float(normalise(text) == normalise(gold)) for gold in squad],
            "TokenF1": [squad_f1(text, gold) for gold in squad],
            "TokenF1(yes_no=True)": [hotpot_f1(text, gold) for gold in squad],
            "RougeL": [rouge_l(text, gold) for gold in latin],
        }
        for measure, values in peers.items():
            if values:
                assert value(measure, asked, run) == pytest.approx(max(values), abs=1e-12), (measure, text, golds)
                scored[measure] += 1
                between[measure] += 0 < max(values) < 1
    assert all(count > 800 for count in scored.values())
    assert all(between[measure] > 200 for measure in peers if measure != "ExactMatch")


@pytest.mark.parametrize(
    ("text", "gold", "peer"),
    [
        ("the cat on a mat", "the cat sat on the mat", 0.7272727272727272),
        ("police killed the gunman", "police kill the gunman", 0.75),
        ("the gunman kill police", "police kill the gunman", 0.5),
        ("It's U.S.A.-based", "its usa based", 0.22222222222222224),
        ("naïve café", "naive cafe", 0.0),
    ],
)
def test_values_of_rouge_score(text: str, gold: str, peer: float) -> None:
    """The package rouge-score 0.1.2 gives these F-measures; the second and third are in Lin's paper."""
    assert value("RougeL", question(gold_answers=[gold]), answer(answer=text)) == pytest.approx(peer, abs=1e-12)
