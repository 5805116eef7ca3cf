"""The grader of a question's own criteria: what a judge decides, what the record does, and what nobody can."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import ValidationError
from msgspec.json import decode

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.files.reading import parse_record
from graphkit.measures.unscored import NEITHER_LOGGED, NO_RETRIEVAL, NO_TRAVERSAL
from graphkit.plugins.compare.gold_renames import renamed
from graphkit.plugins.judging import verdict_view
from graphkit.plugins.judging.judges.catalogue import GRADERS
from graphkit.plugins.judging.judges.criteria import (
    BLANK,
    NO_COMMIT,
    NO_CRITERIA,
    NO_RELATION,
    NO_REPOSITORY,
    SHORT_SHA,
)
from graphkit.plugins.judging.judges.lexical import LexicalJudge
from graphkit.plugins.judging.judges.materials import Materials
from graphkit.plugins.judging.judges.verdict_request import ask, prompt_of
from graphkit.plugins.judging.llm.requests import ModelError
from graphkit.plugins.judging.verdict_failures import broken_criteria
from graphkit.records.models import Question
from graphkit.records.structs import QuestionStruct
from tests.helpers.judging import judged, materials, read, reasons, values
from tests.helpers.properties import examples

CRITERIA = GRADERS["criteria"]
CHUNKS = {"api:auth.py#login": "def login(): ...", "web:cart.ts": "total"}
WALK = [("web:cart.ts", "REQUESTS", "api:auth.py#login")]


def shown(*criteria: dict[str, Any], **more: Any) -> Materials:
    """Return the materials of an answer to a question with these criteria."""
    return materials("The cart asks `login`.", CHUNKS, WALK, criteria=list(criteria), **more)


def said(*present: bool, start: int = 1) -> dict[str, Any]:
    """Return a verdict on the criteria from ``start`` on."""
    rows = [{"criterion": f"q{start + place}", "reason": "r", "present": yes} for place, yes in enumerate(present)]
    return {"criteria": rows}


def test_weights_of_the_criteria_that_hold() -> None:
    """Of 3 + 1 + 2, the first must is there (3), the second isn't, and the unwanted one isn't either (2): 5/6.

    One criterion is broken, so they aren't all met.
    """
    about = shown(
        {"must": "names login", "weight": 3}, {"must": "names the table"}, {"must_not": "raw SQL", "weight": 2}
    )
    found = read(CRITERIA, about, said(True, False, False))
    assert values(found.findings) == {"CriteriaScore": pytest.approx(5 / 6), "CriteriaMet": 0.0}
    assert found.findings[0].explanation == "2 of 3 criteria met; broken: must: names the table"
    assert found.content is not None
    assert [row["holds"] for row in found.content["criteria"]] == [True, False, True]
    assert values(read(CRITERIA, about, said(True, True, False)).findings) == {"CriteriaScore": 1, "CriteriaMet": 1}
    # The unwanted one is there: 4/6.
    unwanted = values(read(CRITERIA, about, said(True, True, True)).findings)
    assert unwanted == {"CriteriaScore": pytest.approx(2 / 3), "CriteriaMet": 0.0}


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ({"id": "api:auth.py#login"}, True),
        ({"id": "api:auth.py"}, False),
        ({"id": "docs:login.md"}, False),
        ({"repository": "web"}, True),
        ({"repository": "docs"}, False),
        ({"relation": "REQUESTS"}, True),
        ({"relation": "WRITES"}, False),
        ({"commit": "abc1234"}, True),
        ({"commit": "ABC1234"}, True),
        ({"commit": "ABC1234" + "0" * 33}, True),
        ({"commit": "abd123"}, False),
        ({"commit": "5c5bb23d"}, True),
        ({"commit": "5c5bb23d" + "0" * 32}, True),
        ({"commit": "5c5bb23e" + "0" * 32}, False),
        ({"commit": "release-2024"}, True),
        ({"commit": "release"}, False),
    ],
)
def test_names_are_looked_up(name: dict[str, str], there: bool) -> None:
    """No judge is asked; what must be there holds exactly where what must not be doesn't.

    Each node has a commit, so that a commit that isn't there is known not to be. A sha may be shortened, by the
    criterion or by the record, and stand in capitals; a tag is no prefix of another tag.
    """
    step = {"source": "web:cart.ts", "relation": "REQUESTS", "target": "api:auth.py#login"}
    commits = {"source_commit": "abc1234" + "0" * 33, "target_commit": "f" * 40}
    chunks = [{"id": "web:cart.ts", "commit": "abc1234" + "0" * 33}, {"id": "api:a.py", "commit": "5c5bb23d"}]
    chunks.append({"id": "api:b.py", "commit": "release-2024"})
    logged = {"retrieved": chunks, "traversal": [{**step, **commits}]}
    for kind, holds in (("must", there), ("must_not", not there)):
        done = judged(CRITERIA, materials("x.", criteria=[{kind: name}], logged=logged))  # asking would fail
        assert done.verdict is not None
        assert (done.verdict.attempts, done.verdict.cost, done.verdict.failure) == (0, 0.0, None)
        assert values(done.findings) == {"CriteriaScore": float(holds), "CriteriaMet": float(holds)}
        assert [row["rule"] for row in broken_criteria(done.verdict)] == ([] if holds else [kind])


@pytest.mark.parametrize(
    ("name", "chunk"),
    [
        ({"repository": "legacy"}, {"id": "legacy:x.py", "repo": "api", "commit": "f" * 40}),
        ({"commit": "abc1234"}, {"id": "api:x.py", "commit": "ABC1234" + "0" * 33}),
        ({"commit": "abc1234" + "0" * 33}, {"id": "api:x.py", "commit": "ABC1234"}),
    ],
)
def test_other_spellings_in_a_record_hide_nothing(name: dict[str, str], chunk: dict[str, str]) -> None:
    """A chunk of another repository than its id names, or a sha in capitals, is found: what must not be is there."""
    logged = {"retrieved": [chunk], "traversal": []}
    done = judged(CRITERIA, materials("x.", criteria=[{"must_not": name}], logged=logged))
    assert done.verdict is not None
    assert values(done.findings)["CriteriaMet"] == 0.0
    assert [row["retrieved"] for row in broken_criteria(done.verdict)] == [chunk["id"]]


def test_ids_in_the_answer() -> None:
    """An id counts where the answer cites or names it as a whole word, too."""
    for text, citations, holds in (
        ("See docs:a.md.", [], 1.0),
        ("Yes.", ["docs:a.md"], 1.0),
        ("See docs:a.mdx.", [], 0.0),
    ):
        about = materials(text, CHUNKS, WALK, citations=citations, criteria=[{"must": {"id": "docs:a.md"}}])
        assert values(judged(CRITERIA, about).findings)["CriteriaScore"] == holds


@pytest.mark.parametrize(
    ("name", "logged", "reason"),
    [
        ({"id": "y"}, {"traversal": None}, NO_TRAVERSAL),
        ({"id": "y"}, {"retrieved": None}, NO_RETRIEVAL),
        ({"repository": "x"}, {"retrieved": None, "traversal": None}, NEITHER_LOGGED),
        ({"relation": "X"}, {"traversal": None}, NO_TRAVERSAL),
        ({"relation": "X"}, {"traversal": [{"source": "a", "target": "b"}]}, NO_RELATION),
        ({"repository": "x"}, {"retrieved": ["a"]}, NO_REPOSITORY),
        ({"commit": "abc1234"}, {"retrieved": ["api:a.py"]}, NO_COMMIT),
        ({"commit": "abc123"}, {"retrieved": [{"id": "api:a.py", "commit": "abc1234d"}]}, SHORT_SHA),
        ({"commit": "abc1234" + "0" * 33}, {"retrieved": [{"id": "api:a.py", "commit": "abc12"}]}, SHORT_SHA),
    ],
)
@pytest.mark.parametrize("kind", ["must", "must_not"])
def test_what_was_not_logged_is_not_scored(
    kind: str, name: dict[str, str], logged: dict[str, Any], reason: str
) -> None:
    """A run can't meet what it must not do by logging less, and isn't blamed for what it may have done."""
    done = judged(CRITERIA, materials("x.", criteria=[{kind: name}], logged=logged))
    of = f"criterion 1 ({kind.replace('_', ' ')}: {' '.join(*name.items())}): {reason}"
    assert reasons(done.findings) == {"CriteriaScore": of, "CriteriaMet": of}


def test_a_broken_criterion_decides_whatever_is_unknown() -> None:
    """The walk isn't logged, so the share is unknown, but a broken criterion already means that not all are met."""
    about = shown({"must_not": "raw SQL"}, {"must": {"relation": "X"}}, logged={"traversal": None})
    found = read(CRITERIA, about, said(True))
    assert values(found.findings) == {"CriteriaScore": None, "CriteriaMet": 0.0}
    assert values(read(CRITERIA, about, said(False)).findings) == {"CriteriaScore": None, "CriteriaMet": None}


def test_all_that_is_broken_is_named() -> None:
    """What a judge and what the record found broken stand in the explanation of both measures."""
    about = shown({"must": "names the table"}, {"must": {"relation": "X"}}, {"must": {"relation": "REQUESTS"}})
    done = judged(CRITERIA, about, said(False))
    broken = "1 of 3 criteria met; broken: must: names the table; must: relation X"
    assert {one.measure: one.explanation for one in done.findings} == dict.fromkeys(
        ("CriteriaScore", "CriteriaMet"), broken
    )


def test_a_failing_judge() -> None:
    """Without a verdict nothing holds; what the record breaks stays broken."""
    broken = judged(CRITERIA, shown({"must": "a"}, {"must": {"relation": "X"}}), ModelError("no_reply", "gone"))
    assert values(broken.findings) == {"CriteriaScore": None, "CriteriaMet": 0.0}
    assert broken.verdict is not None
    assert broken.verdict.failure == "gone"
    [row] = broken_criteria(broken.verdict)
    assert (row["rule"], row["about"], row["criterion"], row["reason"]) == ("must", "relation", "X", "found nowhere")
    kept = judged(CRITERIA, shown({"must": "a"}, {"must": {"relation": "REQUESTS"}}), ModelError("no_reply", "gone"))
    assert values(kept.findings) == {"CriteriaScore": None, "CriteriaMet": None}
    assert kept.verdict is not None
    assert broken_criteria(kept.verdict) == []


def test_only_texts_are_shown() -> None:
    """The judge sees neither the names that the record decides, nor whether a text is wanted."""
    about = shown({"must": {"relation": "X"}}, {"must_not": "raw SQL"}, rubric="Strictly.")
    parts = dict(prompt_of(CRITERIA, about).parts)
    assert "raw SQL" in parts["criteria"]
    assert "<q2-" in parts["criteria"]
    assert "q1" not in parts["criteria"]
    assert "must" not in parts["criteria"]
    assert "Strictly." in parts["rubric"]
    assert values(read(CRITERIA, about, said(False, start=2)).findings)["CriteriaScore"] == 0.5
    other = shown(rubric="Strictly.")
    assert [*dict(prompt_of(GRADERS["rubric"], about).parts)] == [*dict(prompt_of(GRADERS["rubric"], other).parts)]
    assert prompt_of(GRADERS["rubric"], about).text == prompt_of(GRADERS["rubric"], other).text


def test_a_rubric_alone_is_a_criterion() -> None:
    """It must be met; without either, there is nothing to judge."""
    about = shown(rubric="It names the cart.")
    assert values(read(CRITERIA, about, said(True)).findings) == {"CriteriaScore": 1.0, "CriteriaMet": 1.0}
    assert reasons(judged(CRITERIA, shown()).findings) == dict.fromkeys(CRITERIA.measures, NO_CRITERIA)
    blank = judged(CRITERIA, shown({"must_not": " "}))
    assert reasons(blank.findings)["CriteriaScore"] == f"criterion 1 (must not:  ): {BLANK}"


@pytest.mark.parametrize("verdict", [said(True), said(True, True, True), said(True, True, start=2)])
def test_verdicts_that_can_not_be_used(verdict: dict[str, Any]) -> None:
    """A criterion that is missing, and one that isn't there."""
    done = judged(CRITERIA, shown({"must": "a"}, {"must": "b"}), verdict, verdict)
    assert done.verdict is not None
    assert done.verdict.failure == "out_of_range"
    assert values(done.findings) == {"CriteriaScore": None, "CriteriaMet": None}


def test_by_key_terms() -> None:
    """`login` and the cart are in the answer, the table isn't: both criteria hold, as the table is unwanted."""
    about = shown({"must": "the cart asks `login`"}, {"must_not": "reads the table `customers`"})
    done = asyncio.run(ask(CRITERIA, about, LexicalJudge()))
    assert values(done.findings) == {"CriteriaScore": 1.0, "CriteriaMet": 1.0}


@pytest.mark.parametrize(
    "wrong",
    [
        {"weight": 1},
        {"must": "a", "must_not": "b"},
        {"must": {"file": "x"}},
        {"must": {}},
        {"must": {"id": "x", "commit": "y"}},
        {"must": "a", "weight": 0},
        {"must": ""},
    ],
)
def test_criteria_that_are_refused(wrong: dict[str, Any]) -> None:
    """Neither or both kinds, an unknown name, none or two of them, no weight, and no text: the field is named."""
    line, problems = json.dumps({"id": "q", "question": "?", "criteria": [wrong]}).encode(), Problems()
    assert parse_record(Question, line, "q.jsonl:1", problems) is None
    with pytest.raises(InputError, match="criteria"):
        problems.raise_if_refused()
    with pytest.raises(ValidationError):
        decode(line, type=QuestionStruct)


def test_ids_of_criteria_are_renamed() -> None:
    """A renamed id changes where a criterion names it, and nowhere in a text."""
    criteria = [{"must": {"id": "a:x"}, "weight": 2}, {"must_not": "a:x"}, {"must": {"relation": "a:x"}}]
    assert renamed({"criteria": criteria}, {"a:x": "a:z"}) == {
        "criteria": [{"must": {"id": "a:z"}, "weight": 2}, {"must_not": "a:x"}, {"must": {"relation": "a:x"}}]
    }


_WEIGHTED = st.lists(st.tuples(st.integers(1, 9), st.booleans(), st.booleans()), min_size=1, max_size=6)


@examples(100)
@given(_WEIGHTED)
def test_the_share_by_an_independent_sum(rows: list[tuple[int, bool, bool]]) -> None:
    """Each point of weight counts once: the share is that of the points whose criterion is as it should be."""
    about = shown(*({"must" if wanted else "must_not": "x", "weight": weight} for weight, wanted, _ in rows))
    found = values(read(CRITERIA, about, said(*(present for *_, present in rows))).findings)
    points = [wanted == present for weight, wanted, present in rows for _ in range(weight)]
    assert found["CriteriaScore"] == pytest.approx(points.count(True) / len(points))
    assert found["CriteriaMet"] == float(all(points))


@pytest.mark.parametrize(
    ("name", "edge", "retrieved", "repo"),
    [
        ({"id": "api:auth.py#login"}, True, None, "api"),
        ({"repository": "web"}, True, None, "web"),
        ({"relation": "REQUESTS"}, True, None, "web"),
        ({"commit": "abc1234"}, True, None, "web"),
        ({"id": "docs:a.md"}, False, "docs:a.md", "docs"),
        ({"repository": "docs"}, False, "docs:a.md", "docs"),
        ({"commit": "d" * 40}, False, "docs:a.md", "docs"),
        ({"id": "db:only.sql"}, False, None, None),
    ],
)
def test_what_broke_a_criterion(name: dict[str, str], edge: bool, retrieved: str | None, repo: str | None) -> None:
    """The first traversed edge that holds the name, else the first retrieved id; nothing where only the text does."""
    step = {"source": "web:cart.ts", "relation": "REQUESTS", "target": "api:auth.py#login"}
    commits = {"source_commit": "abc1234" + "0" * 33, "target_commit": "f" * 40}
    chunks = [{"id": "api:auth.py#login", "commit": "f" * 40}, {"id": "docs:a.md", "commit": "d" * 40}]
    logged = {"retrieved": chunks, "traversal": [{**step, **commits}]}
    about = materials("See db:only.sql.", criteria=[{"must_not": name, "weight": 3}], logged=logged)
    done = judged(CRITERIA, about)
    assert done.verdict is not None
    [row] = broken_criteria(done.verdict)
    assert {key: row[key] for key in ("source", "relation", "target")} == (step if edge else dict.fromkeys(step))
    assert (row["retrieved"], row["repo"], row["weight"]) == (retrieved, repo, 3)
    assert {row["about"]: row["criterion"]} == name


def test_broken_criteria_of_former_verdicts() -> None:
    """Verdicts of earlier versions hold a criterion's words alone."""
    about = shown({"must": "names login"}, {"must_not": "raw SQL: none", "weight": 2})
    done = judged(CRITERIA, about, said(True, True))
    assert done.verdict is not None
    assert done.verdict.verdict is not None
    told = [
        {name: row[name] for name in ("criterion", "weight", "holds", "reason")}
        for row in done.verdict.verdict["criteria"]
    ]
    [row] = broken_criteria(done.verdict.model_copy(update={"verdict": {"criteria": told}}))
    assert row == broken_criteria(done.verdict)[0]
    assert (row["rule"], row["criterion"], row["weight"]) == ("must_not", "raw SQL: none", 2)


def test_the_page_shows_each_criterion() -> None:
    """The verdict on the page names what must be, its weight, and whether it holds."""
    about = shown({"must": "names login", "weight": 2}, {"must_not": {"repository": "web"}})
    done = judged(CRITERIA, about, said(True))
    assert done.verdict is not None
    [field] = verdict_view.judged(done.verdict)["fields"]
    assert '"must: names login", "weight": 2, "holds": true' in field["text"]
    assert '"must not: repository web", "weight": 1, "holds": false' in field["text"]
