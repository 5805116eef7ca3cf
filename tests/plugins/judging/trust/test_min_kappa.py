"""The gate on kappa: it looks at the lower end, and at who was checked in which version."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.plugins.judging.trust.kappa_gate import min_kappa
from graphkit.plugins.judging.trust.spot_check_files import KeptCheck, file_of, keep, kept_checks
from graphkit.records.scores import Score
from tests.helpers.judged import values

SCORES = values("Correct", {"a": 1.0, "b": 0.0}, judge="j", version="m p1")


def kept(low: float | None = 0.65, **fields: object) -> KeptCheck:
    """Return a spot check of what is scored above."""
    known = {"run": "r", "measure": "Correct", "judge": "j", "version": "m p1", "n": 40, "kappa": 0.8}
    return KeptCheck.model_validate(known | {"kappa_low": low, "kappa_high": 0.9} | fields)


def broken(*checks: KeptCheck, floor: float = 0.6, scores: list[Score] = SCORES, **more: list[str]) -> list[str]:
    """Return the sentences of the gate."""
    return [str(one) for one in min_kappa(["r"], scores, checks, floor, **more) if not one.passed]


def test_the_lower_end_counts() -> None:
    """A kappa of .8 whose interval begins at .55 doesn't pass .6, and one that begins at .6 does."""
    assert broken(kept()) == []
    assert broken(kept(0.6)) == []
    what = "r: j by Correct: kappa is 0.800, its interval over 40 answers begins at 0.550, under 0.6"
    assert broken(kept(0.55)) == [what]


def test_an_unchecked_judge_does_not_pass() -> None:
    """Nor does one that another person's check is of, nor one whose check gave no kappa."""
    assert broken() == ["r: nobody checked the judge j: run `graphkit judge spot-check`"]
    assert broken(kept(judge="k")) == broken()
    assert broken(kept(run="other")) == broken()
    [sentence] = broken(kept(None, kappa=None, reason="both gave only '1'"))
    assert sentence == "r: j by Correct: the spot check has no interval of kappa (both gave only '1')"


def test_another_version_is_another_judge() -> None:
    """A check of another model or prompt doesn't count, and says so."""
    [sentence] = broken(kept(version="m p0"))
    assert "the spot check is of version m p0, the scores are of m p1: repeat the check" in sentence
    [sentence] = broken(kept(version=None))
    assert "version None" in sentence
    two = [*SCORES, *values("Correct", {"c": 1.0}, judge="j", version="m p2")]
    assert len(broken(kept(), scores=two)) == 1


def test_named_measures_have_to_be_checked() -> None:
    """Without names, what was checked is held; a named measure needs its own check, and a score."""
    more = [*SCORES, *values("Faithful", {"a": 1.0}, judge="j", version="m p1")]
    assert broken(kept(), scores=more) == []
    [sentence] = broken(kept(), scores=more, measures=["Correct", "Faithful"])
    assert sentence == "r: j by Faithful: nobody checked it: run `graphkit judge spot-check`"
    assert broken(kept(), measures=["Relevant"]) == ["r: no judge gave it a score by Relevant"]


def test_each_judge_is_held() -> None:
    """Two judges, of which one was checked."""
    two = [*SCORES, *values("Correct", {"a": 1.0}, judge="k")]
    assert broken(kept(), scores=two) == ["r: nobody checked the judge k: run `graphkit judge spot-check`"]


def test_what_tests_say_needs_no_check() -> None:
    """Scores of executed code are nobody's opinion: they break no gate, and are no judge's scores either."""
    executed = values("FactualCorrectness", {"a": 1.0}, judge="execution", version="1 bubblewrap")
    assert broken(kept(), scores=[*SCORES, *executed]) == []
    assert broken(scores=executed) == ["r: no judge gave it a score"]


def test_only_the_asked_runs_are_held() -> None:
    """Scores of a run that isn't asked about break no gate, as they count in no figure; those of r are held still."""
    other = [one.model_copy(update={"run": "s"}) for one in SCORES]
    assert broken(kept(), scores=[*SCORES, *other]) == []
    assert broken(kept(), scores=other) == ["r: no judge gave it a score"]


def test_what_is_no_number_passes_no_gate() -> None:
    """NaN is neither under a floor nor over it: as the floor, or as the lower end in a file, it lets nobody pass."""
    assert len(broken(kept(), floor=float("nan"))) == 1
    assert len(broken(kept(float("nan")))) == 1


def test_no_judge_at_all() -> None:
    """A run without a judge's score passes no gate on judges; graphkit itself, and nobody, are no judges."""
    own = [one.model_copy(update={"grader": name}) for one in SCORES for name in ("graphkit", None)]
    failed = values("Correct", {"a": None}, judge="j")
    for scores in ([], own, failed):
        assert broken(kept(), scores=scores) == ["r: no judge gave it a score"]


def test_checks_are_kept_beside_the_grades(tmp_path: Path) -> None:
    """A check replaces a former one of the same judge and measure, and no other."""
    run = tmp_path / "runs" / "r.jsonl"
    for check in (kept(0.1), kept(0.2, measure="Faithful"), kept(0.3), kept(0.4, judge="my:judge")):
        keep(run, check)
    found = {(one.judge, one.measure): one.kappa_low for one in kept_checks([run, tmp_path / "none.jsonl"])}
    assert found == {("j", "Correct"): 0.3, ("j", "Faithful"): 0.2, ("my:judge", "Correct"): 0.4}
    assert sorted(path.name for path in (tmp_path / "runs" / "r.grades").iterdir()) == [
        "j.spot-check.json",
        "my-judge.spot-check.json",
    ]
    assert file_of(run, "j").is_file()


@pytest.mark.parametrize("text", ["", "[]", '{"checks": [1]}', '{"checks": [{"run": "r"}]}', '{"checks": 3}'])
def test_a_file_that_is_none(text: str, tmp_path: Path) -> None:
    """A damaged file is refused with what to do, and not taken for no check."""
    run = tmp_path / "r.jsonl"
    place = file_of(run, "j")
    place.parent.mkdir()
    place.write_text(text)
    with pytest.raises(InputError, match=r"spot-check.json: not a (file of )?spot check(.|\n)*Delete the file"):
        kept_checks([run])
