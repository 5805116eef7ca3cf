"""A user's measure is found, scored, kept, exported, compared and reported like graphkit's own."""

from __future__ import annotations

import csv
import json
import re
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import graphkit as package
from graphkit.analysis.config import load_config
from graphkit.analysis.layers import score_layers
from graphkit.database.store import Store
from graphkit.errors import InputError, MeasureError
from graphkit.files.dataset import Dataset
from graphkit.graph.opening import prepared
from graphkit.measures.registry import (
    known_measure,
    lower_is_better,
    measure_class,
    measure_kinds,
    parse_measure,
    resolve_measures,
)
from graphkit.plugins.compare.score_file_pairs import compare_scores
from graphkit.records import plugins
from graphkit.records.commits import CommitGraph
from graphkit.records.gold import gold_hash
from graphkit.records.models import Question
from graphkit.records.structs import QuestionStruct, struct_of
from graphkit.scoring import batches
from graphkit.scoring.export import write_results
from graphkit.scoring.file_scoring import score_file
from graphkit.scoring.scorer import Job
from tests.helpers import forked
from tests.helpers.cli import ANSWERS, QUESTIONS, inside, tiny, write_lines
from tests.helpers.pages import Page

#: Words over the words allowed: less is better, and there is no upper bound.
MODULE = '''
"""Measures of a team's own."""

from dataclasses import dataclass

import graphkit


@dataclass(frozen=True)
class Words(graphkit.Measure):
    """Words of the answer over the words allowed.

    More is told here.
    """

    allowed: int = 4
    layer = "generation"
    higher_is_better = False
    highest = None

    def value(self, case):
        text = case.answer.answer
        return len(text.split()) / self.allowed if text else graphkit.Unscored("no answer text")


class Retrieved(graphkit.Measure):
    """1 if anything was retrieved."""

    def value(self, case):
        return bool(case.chunks)


@dataclass(frozen=True)
class Share(graphkit.Measure):
    """A share that must be given."""

    share: float

    def value(self, case):
        return self.share


class Broken(graphkit.Measure):
    """Fails on q2."""

    def value(self, case):
        return {"q1": 1.0}[case.question.id]


class Forgetful(graphkit.Measure):
    """Returns nothing."""

    def value(self, case):
        pass


class Beyond(graphkit.Measure):
    """Is not within its bounds."""

    def value(self, case):
        return 1.5


@dataclass(frozen=True)
class Named(graphkit.Measure):
    """Has a parameter that hides the name of the measure."""

    name: str = "x"

    def value(self, case):
        return 1.0


class Unfinished(graphkit.Measure):
    """Says no value."""


class Lost(graphkit.Measure):
    """Of a layer that isn't there."""

    layer = "retreival"

    def value(self, case):
        return 1.0


class Swift(graphkit.CutMeasure):
    """1 if no more than k chunks were retrieved."""

    target = 0.5

    def value(self, case):
        return float(len(case.chunks) <= self.cutoff(case))


class Recall2(graphkit.parse_measure("EdgeRecall").__class__):
    """A recall of its own, made from graphkit's."""

    def value(self, case):
        return 0.0


def words(case):
    return 1.0
'''

#: Three words and six: 3/4 and 6/4, mean 1.125.
SPOKEN = (
    {**ANSWERS[0], "answer": "y calls z"},
    {**ANSWERS[1], "answer": "it is w that x calls"},
)


#: Prints where its module is imported, and for each question.
LOUD = """
from dataclasses import dataclass
import graphkit
print("imported")

@dataclass(frozen=True)
class Loud(graphkit.Measure):
    definition = "1"
    def value(self, case):
        print("computed")
        return 1.0
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with the module own_words, which is forgotten afterwards."""
    (tmp_path / "own_words.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("own_words", None)


def test_its_text_is_read_and_printed_alike(folder: Path) -> None:
    """Parameters and cut-offs work as for graphkit's own measures; parsing the text gives an equal measure."""
    for text in ("own_words:Words", "own_words:Words(allowed=3)", "own_words:Share(share=0.5)", "own_words:Swift@3"):
        measure = parse_measure(text)
        assert str(measure) == text
        assert parse_measure(str(measure)) == measure
    assert str(parse_measure(" own_words:Words( allowed = 4 ) ")) == "own_words:Words"
    # Where a float is meant, a whole number is one.
    assert str(parse_measure("Completeness(threshold=1)")) == "Completeness(threshold=1.0)"
    assert [str(one) for one in resolve_measures(["own_words:Swift"], k=7)] == ["own_words:Swift@7"]


def test_what_it_says_of_itself(folder: Path) -> None:
    """The definition is the docstring's first line, the source its module; a cut-off has the target whatever it is."""
    words = parse_measure("own_words:Words")
    assert words.definition == "Words of the answer over the words allowed"
    assert (words.source, words.layer, words.higher_is_better, words.highest) == (
        "own_words",
        "generation",
        False,
        None,
    )
    assert parse_measure("own_words:Swift@3").thresholds().target == 0.5
    # A value of its own isn't computed by the Cypher of the measure that it was made from, nor found by its aliases.
    assert parse_measure("own_words:Recall2").engines() == ("python",)
    assert parse_measure("traversal_accuracy").name == "EdgeRecall"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("own_word:Words", "Did you mean own_words?"),
        ("own_words:Wordz", "Did you mean Words?"),
        ("own_words:words", "is no measure: it is a function"),
        ("own_words:dataclass", "is no measure"),
        ("own_words:Unfinished", "doesn't define value"),
        ("own_words:Lost", "no layer is called 'retreival'"),
        ("own_words:Named", "a parameter of the measure is called 'name'"),
        ("own_words:Words(allow=3)", "Words has no parameter 'allow'"),
        ("own_words:Words(allowed='a')", "allowed must be a int"),
        ("own_words:Words@5", "Words has no parameter 'k'"),
        ("own_words:Share", "Share needs a value for share"),
        ("own_words:Share(share=[{}])", "can't be made: TypeError"),
        ("own_words:", "no measure is called"),
        ("graphkit.measures.base:Measure", "doesn't define value"),
    ],
)
def test_a_mistake_in_it_is_reported(folder: Path, text: str, message: str) -> None:
    """A module that can't be imported, another class and wrong parameters are MeasureErrors with a remedy."""
    with pytest.raises(MeasureError) as caught:
        parse_measure(text)
    assert message in str(caught.value)


def test_data_imports_nothing(folder: Path) -> None:
    """A module that a text of data names isn't imported; it is known once the user has named it."""
    assert measure_class("own_words:Words(allowed=3)") is None
    assert not lower_is_better("own_words:Words")
    assert "own_words" not in sys.modules
    parse_measure("own_words:Words")
    assert lower_is_better("own_words:Words(allowed=3)")
    assert known_measure("own_words:Words(allowed=3)") == parse_measure("own_words:Words(allowed=3)")
    assert known_measure("own_words:Nothing") is None


def test_a_registered_name(folder: Path) -> None:
    """A registered measure is read and printed by the name of its class, without regard to case, and by its aliases."""

    @package.register
    @dataclass(frozen=True)
    class Brevity(package.Measure):
        """Return 1 / number of words."""

        least: int = 1
        aliases = ("short",)
        higher_is_better = False

        def value(self, case: package.Case) -> float:
            return 0.5

    assert [str(parse_measure(one)) for one in ("brevity", "SHORT(least=2)")] == ["Brevity", "Brevity(least=2)"]
    assert lower_is_better("Brevity(least=2)")
    assert package.register(Brevity) is Brevity
    assert Brevity in measure_kinds()[0]


@pytest.mark.parametrize("name", ["EdgeRecall", "edgerecall", "hit"])
def test_names_of_graphkit_are_refused(folder: Path, name: str) -> None:
    """No measure takes the name or an alias of graphkit's, in whatever case."""
    kind = type(name, (package.Measure,), {"value": lambda self, case: 1.0, "__module__": "elsewhere"})
    with pytest.raises(MeasureError, match=r"is taken by the measure (EdgeRecall|Success) \(graphkit's own\)"):
        package.register(kind)
    assert parse_measure(name).__class__.__module__.startswith("graphkit")


def test_what_is_no_measure_is_not_registered(folder: Path) -> None:
    """A function, another class, a measure without ``value`` and an unreadable name are refused."""
    unreadable = type("My-Measure", (package.Measure,), {"value": lambda self, case: 1.0})
    for kind, message in (
        (len, "it is a builtin_function"),
        (int, "is a class, but no measure"),
        (package.Measure, "doesn't define value"),
        (unreadable, "can't be the name of a measure"),
    ):
        with pytest.raises(MeasureError, match=message):
            package.register(kind)  # type: ignore[arg-type, type-var]


def _install(folder: Path, monkeypatch: pytest.MonkeyPatch, points: str) -> None:
    """Put a distribution with entry points on the path, as pip does."""
    info = folder / "own_words-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-words\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[graphkit.measures]\n{points}\n")
    monkeypatch.syspath_prepend(str(folder))
    plugins.all_installed.cache_clear()


def test_an_entry_point_is_found_by_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A measure of an installed package's entry point is parsed, printed and listed by that name."""
    _install(folder, monkeypatch, "Terseness = own_words:Words")
    try:
        assert lower_is_better("Terseness(allowed=3)")
        assert str(parse_measure("terseness(allowed=3)")) == "Terseness(allowed=3)"
        rows = inside("measures", "--json", cwd=folder, code=0).objects()
        assert [row["layer"] for row in rows if row["measure"] == "Terseness(allowed=4)"] == ["generation"]
    finally:
        plugins.all_installed.cache_clear()


def test_a_broken_entry_point_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point that clashes with graphkit's, or is broken, is skipped with a note and hides nothing."""
    _install(folder, monkeypatch, "EdgeRecall = own_words:Words\nGone = own_words:Gone\nGood = own_words:Retrieved")
    try:
        done = inside("measures", "--json", cwd=folder, code=0)
        assert "is taken by the measure EdgeRecall (graphkit's own)" in done.err
        assert "the entry point 'Gone' of own-words (own_words:Gone): there is no 'Gone'" in done.err
        assert "Good" in [row["measure"] for row in done.objects()]
        assert str(parse_measure("EdgeRecall").name) == "EdgeRecall"
        with pytest.raises(MeasureError, match="there is no 'Gone'"):
            parse_measure("Gone")
    finally:
        plugins.all_installed.cache_clear()


def test_it_is_scored_and_exported(folder: Path) -> None:
    """evaluate accepts its text, in a separate process, and every export holds it with its parameters."""
    run = tiny(folder, answers=SPOKEN)
    outs = [folder / f"out{ending}" for ending in (".jsonl", ".csv", ".json", ".xml", ".md")]
    options = [word for out in outs for word in ("--out", out)]
    asked = ("-m", "own_words:Words", "-m", "own_words:Words(allowed=3)", "-m", "own_words:Retrieved")
    out, err = forked.command("evaluate", run, "--no-store", "--json", *asked, *options, cwd=folder).communicate()
    assert out, err
    measures = json.loads(out)["measures"]
    # 3/4 and 6/4; 3/3 and 6/3; both retrieved something: True counts as 1.
    assert {name: one["mean"] for name, one in measures.items()} == {
        "own_words:Words": 1.125,
        "own_words:Words(allowed=3)": 1.5,
        "own_words:Retrieved": 1.0,
    }
    lines = [json.loads(line) for line in outs[0].read_text().splitlines()]
    assert lines[1] == {
        "run": "r",
        "question": "q1",
        "measure": "own_words:Words(allowed=3)",
        "value": 1.0,
        "reason": None,
        "version": package.__version__,
        "computed": None,
        "parameters": {"allowed": 3},
        "grader": "graphkit",
        **dict.fromkeys(("grade", "label", "confidence", "explanation", "cost", "prompt_tokens", "output_tokens")),
        "gold_hash": gold_hash(struct_of(QuestionStruct, Question.model_validate(QUESTIONS[0]))),
        "strict_value": None,
        "missed_edges": None,
        "absent_edges": None,
        "untyped": None,
    }
    rows = list(csv.DictReader(outs[1].read_text().splitlines()))
    assert (rows[0]["measure"], rows[0]["value"], rows[0]["parameters"]) == (
        "own_words:Words",
        "0.75",
        '{"allowed": 4}',
    )
    assert json.loads(outs[2].read_text())["runs"][0]["values"]["q2"]["own_words:Words"] == 1.5
    assert "own_words:Words" in outs[3].read_text()
    assert "own\\_words:Words(allowed=3) | 1.5000 (2/2)" in outs[4].read_text()


def test_a_class_within_a_function_is_exported(folder: Path) -> None:
    """A measure that no text can import is still exported with its parameters."""

    @dataclass(frozen=True)
    class Local(package.Measure):
        half: float = 0.5

        def value(self, case: package.Case) -> float:
            return self.half

    result = package.evaluate(tiny(folder), measures=[Local(0.25)])
    write_results(folder / "out.jsonl", [result])
    line = json.loads((folder / "out.jsonl").read_text().splitlines()[0])
    assert (line["value"], line["parameters"]) == (0.25, {"half": 0.25})
    assert line["measure"].endswith(".<locals>.Local(half=0.25)")
    with pytest.raises(MeasureError, match="not its class"):
        package.evaluate(tiny(folder), measures=[Local])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Broken", "own_words:Broken raised KeyError: 'q2'"),
        ("Forgetful", "own_words:Forgetful returned None, no finite number"),
        ("Beyond", "own_words:Beyond returned 1.5, not within its bounds, 0.0 to 1.0"),
        ("Share(share=1e999)", "own_words:Share(share=inf) returned inf, no finite number"),
    ],
)
def test_its_bug_is_reported_with_the_question(folder: Path, name: str, message: str) -> None:
    """Its exceptions and wrong values are reported with measure and question, without a traceback."""
    done = inside("evaluate", tiny(folder), "--no-store", "-m", f"own_words:{name}", cwd=folder, code=2)
    assert message in done.err
    assert f"question {'q2' if name == 'Broken' else 'q1'}: " in done.err
    if name == "Broken":
        line = MODULE.splitlines().index('        return {"q1": 1.0}[case.question.id]') + 1
        assert f"own_words.py:{line}: " in done.err


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_it_is_scored_by_other_processes(folder: Path, monkeypatch: pytest.MonkeyPatch, start: str) -> None:
    """Forked and spawned processes find the class, and report its errors with the question."""
    monkeypatch.setattr(batches, "SIZE", 1)
    run = tiny(folder, answers=SPOKEN)
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    if start == "spawn":  # which is what is done beside other threads
        thread.start()
    try:
        measures = resolve_measures(["own_words:Words", "EdgeRecall"])
        job = Job(Dataset(folder).questions_file, run, measures, CommitGraph())
        result = score_file(job, workers=2)
        assert {name: one.mean for name, one in result.measures.items()} == {
            "own_words:Words": 1.125,
            "EdgeRecall": 0.75,
        }
        broken = Job(job.questions_file, run, resolve_measures(["own_words:Broken"]), CommitGraph())
        with pytest.raises(MeasureError, match="question q2: own_words:Broken raised KeyError"):
            score_file(broken, workers=2)
    finally:
        stop.set()
        if start == "spawn":
            thread.join()


def test_what_it_prints_does_not_mix_with_json(folder: Path) -> None:
    """With --json, standard output holds only JSON; a measure's own output goes to standard error."""
    (folder / "loud.py").write_text(LOUD)
    run = tiny(folder, answers=SPOKEN)
    done = inside("evaluate", "--no-store", "--json", "-m", "loud:Loud", run, cwd=folder, code=0)
    assert done.object()["measures"]["loud:Loud"]["mean"] == 1
    assert done.unasked.split() == ["imported", "computed", "computed"]


def test_what_it_prints_in_other_processes_is_beside(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Spawned processes import the measure again; its output there goes to standard error too."""
    (folder / "loud.py").write_text(LOUD)
    monkeypatch.setattr(batches, "SIZE", 1)
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()  # so that processes are spawned
    try:
        run = tiny(folder, answers=SPOKEN)
        job = Job(Dataset(folder).questions_file, run, resolve_measures(["loud:Loud"]), CommitGraph())
        capfd.readouterr()
        score_file(job, workers=2)
    finally:
        stop.set()
        thread.join()
        sys.modules.pop("loud", None)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.split().count("computed") == 2


def test_it_is_kept_in_the_graph(folder: Path, store: Store) -> None:
    """The graph holds its values by its text, and the Cypher engine computes it in Python."""
    prepared(store)
    result = package.evaluate(
        tiny(folder, answers=SPOKEN), store=store, measures=["own_words:Words", "EdgeRecall"], engine="cypher"
    )
    assert result.measures["own_words:Words"].mean == 1.125
    _, rows = store.query_readonly(
        "MATCH (s:Score {run: 'r'}) WHERE s.measure = 'own_words:Words' RETURN s.value AS value ORDER BY value"
    )
    assert rows == [[0.75], [1.5]]


def test_it_is_compared_in_its_own_direction(folder: Path) -> None:
    """A run with more words is a regression if the user names the measure."""
    lines = [
        {"run": run, "question": f"q{number}", "measure": "own_words:Words", "value": number / 10 + more}
        for run, more in (("a", 0.0), ("b", 1.0))
        for number in range(10)
    ]
    file = write_lines(folder / "graded.jsonl", lines)
    compared = compare_scores([file], "a", "b", measures=["own_words:Words"])
    # Each of 10 questions has one more: as random signs go, p = 2 / 2**10 < 0.05.
    assert [one.measure for one in compared.regressions()] == ["own_words:Words"]
    assert compare_scores([file], "b", "a", measures=["own_words:Words"]).regressions() == []


def test_it_is_gated(folder: Path) -> None:
    """--fail-over checks its mean, 1.125, whatever the other measures."""
    run = tiny(folder, answers=SPOKEN)
    gate = ("--fail-over", "own_words:Words=1")
    done = inside("evaluate", run, "--no-store", "-m", "EdgeRecall", *gate, cwd=folder, code=1)
    assert "r: own_words:Words is 1.1250, over 1" in done.err


def test_it_is_a_component_of_a_layer(folder: Path) -> None:
    """A layer names it by its text: inverted within its bounds if lower is better, with the file's threshold."""
    (folder / "scale_of_ten.py").write_text(
        "import graphkit\n\n\nclass Slips(graphkit.Measure):\n"
        "    higher_is_better, highest, layer = False, 10, 'generation'\n\n"
        "    def value(self, case):\n        return {'q1': 2, 'q2': 5}[case.question.id]\n"
    )
    (folder / "g.toml").write_text(
        '[weights.generation]\n"scale_of_ten:Slips" = 1.0\n[severe]\n"scale_of_ten:Slips" = 3\n'
    )
    config = load_config(folder / "g.toml")
    assert "scale_of_ten:Slips" in config.measures()
    result = package.evaluate(tiny(folder), measures=config.measures())
    card = score_layers(result, config)
    # The mean of 2 and 5 is 3.5 slips of 10: (10 - 3.5) / 10; above 3 is severe.
    assert card.layers[2].score == pytest.approx(0.65)
    assert [one.measure for one in card.alerts if one.measure.startswith("scale")] == ["scale_of_ten:Slips"]


def test_a_layer_takes_no_measure_without_bounds(folder: Path) -> None:
    """A measure without an upper bound can't be in a layer, and a threshold beyond the bounds is refused."""
    (folder / "g.toml").write_text('[weights.generation]\n"own_words:Words" = 1.0\n')
    with pytest.raises(InputError, match="own_words:Words has no bounds, so it can't be weighed"):
        load_config(folder / "g.toml")
    (folder / "g.toml").write_text('[severe]\n"own_words:Words" = -1\n')
    with pytest.raises(InputError, match="must be a number of at least 0"):
        load_config(folder / "g.toml")
    (folder / "g.toml").write_text('[severe]\n"own_words:Words" = 3\n')
    assert load_config(folder / "g.toml").thresholds("own_words:Words").severe == 3


def test_it_is_reported(folder: Path) -> None:
    """The page shows a requested one with its mean and its direction."""
    run = tiny(folder, answers=SPOKEN)
    inside("report", run, "-o", "r.html", "-m", "own_words:Words", cwd=folder, code=0)
    page = (folder / "r.html").read_text()
    [shown] = [one for one in Page(page).json("summary")["measures"] if one["name"] == "own_words:Words"]
    assert (shown["definition"], shown["lower"]) == ("Words of the answer over the words allowed", True)
    # On the board: the mean of 3/4 and 6/4 is 1.125, in two decimals 1.13.
    assert re.search(r'own_words:Words <span class="dim" title="lower is better">.*?>1\.13<', page, re.DOTALL)
    # Without an upper bound the distribution reaches as far as the values, 3/4 and 6/4.
    assert shown["range"] == [0.0, 1.5]
    assert len(QUESTIONS) == 2
