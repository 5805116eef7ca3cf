"""The pytest plugin on a project of 60 questions: what passes, fails and is skipped, and when the system is asked."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

import numpy  # noqa: F401
import pytest
import scipy.stats  # noqa: F401
import tree_sitter  # noqa: F401

# pytester forgets what is imported inside a test run; these stay, and some can't be loaded twice.
from graphkit.plugins.testing.suite_options import ARGUMENTS
from tests.helpers import ROOT
from tests.helpers.cli import environment, inside, write_lines
from tests.plugins.testing.sample import HOSTILE, NAMES, asked, write_dataset, write_project

#: A checkout whose installation is older than the plugin has no entry point for it.
PLUGIN = () if "graphkit" in entry_points(group="pytest11").names else ("-p", "graphkit.plugins.testing.pytest_plugin")

#: What other plugins take to start, in each worker.
WITHOUT_OTHERS = ("-p", "no:hypothesispytest", "-p", "no:anyio")

OUTCOMES = {"passed": 41, "failed": 14, "skipped": 5}


class Project:
    """A project in pytester's folder, whose tests run in this process."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.folder = pytester.path

    def write(self, arguments: str = "") -> Project:
        """Write the project of 60 questions."""
        write_project(self.folder, arguments)
        return self

    def __call__(self, *options: str, process: bool = False, allow_stale: int = 3) -> pytest.RunResult:
        if allow_stale:  # the gold of so many questions of the sample is stale, which every threshold would say
            options = (*options, f"--graphkit-allow-stale={allow_stale}")
        for name in ("system", "test_qa", "conftest"):
            sys.modules.pop(name, None)
        if process:
            return self.pytester.runpytest_subprocess(*PLUGIN, *WITHOUT_OTHERS, *options)
        return self.pytester.runpytest_inprocess(*PLUGIN, *options)

    @property
    def asked(self) -> list[str]:
        """The questions that the system was asked."""
        return asked(self.folder)


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """An empty project."""
    return Project(pytester)


def test_each_question_is_a_test(project: Project) -> None:
    """Questions pass, fail and are skipped as the table of the sample says, each asked once."""
    result = project.write()("-rs")
    result.assert_outcomes(**OUTCOMES)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert project.asked == sorted(NAMES)
    said = result.stdout.str()
    assert len(re.findall(r"^SKIPPED \[1\] test_qa.py.*: not scored: .*", said, re.MULTILINE)) == 3
    assert re.search(r"^SKIPPED \[2\] test_qa.py.*: nothing could be judged: ", said, re.MULTILINE)


def test_message_is_that_of_why(project: Project) -> None:
    """A failed question says what `graphkit why` says of the recorded run, line by line."""
    result = project.write()("test_qa.py::test_answers[q41]", "--graphkit-record", "record")
    result.assert_outcomes(failed=1)
    [run] = project.folder.glob("record/*/answer.jsonl")
    shown = run.relative_to(project.folder)
    why = inside("why", shown, "q41", "--dataset", "my-dataset", cwd=project.folder).out
    assert "took another edge at step 2" in why
    assert why.strip() in result.stdout.str()
    assert "Traceback" not in result.stdout.str()


def test_crash_fails_with_its_error(project: Project) -> None:
    """A question that the system crashed on is a failed test with the error."""
    result = project.write()("-k", "q52")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ['"q52" in "answer": gave no answer: the record holds an error', 'error: "*no connection for q52"']
    )


def test_wrong_answer_fails(project: Project) -> None:
    """A wrong answer by the right path fails, and its first line says so."""
    result = project.write()("-k", "q59")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["FAILED *q59* - *the answer is wrong*"])


def test_only_the_chosen_questions_are_asked(project: Project) -> None:
    """A test run of one question asks one; a later one of all asks the others."""
    project.write()("test_qa.py::test_answers[q07]").assert_outcomes(passed=1)
    assert project.asked == ["q07"]
    project().assert_outcomes(**OUTCOMES)
    assert project.asked == sorted(NAMES)


def test_hostile_id(project: Project) -> None:
    """An id with control characters and pytest's own separators is escaped, on one line, and can be chosen."""
    project.write()
    name = r"test_qa.py::test_answers[q60::a[b]\n\x1b[31m/../x]"
    listed = project("--collect-only", "-q").stdout
    assert name in listed.lines
    assert project.asked == []  # nothing is asked for a list
    project(name).assert_outcomes(passed=1)
    assert project.asked == [HOSTILE]


THRESHOLDS = 'fail_under={"EdgeRecall": 0.85}, max_failed=2, min_scored=0.9'


def test_each_threshold_is_a_test(project: Project) -> None:
    """Bounds of the mark, the settings and the command line are tests, with the sentences of evaluate.

    EdgeRecall: 40 + 2 questions have 1, 10 have 0.5, 3 crashed: 47/55 = 0.8545 is over 0.85, and without the crashes
    47/52 = 0.9038 is under 0.91. All 55 that could be scored have a value, the
    crashes included, so 0.9 of them do; 3 crashes are more than 2.
    """
    (project.folder / "pytest.ini").write_text("[pytest]\ngraphkit_fail_over = EdgeRecall=0.8\n")
    result = project.write(THRESHOLDS)("--graphkit-fail-over", "EdgeRecall=0.91", "-v")
    said = re.findall(r"^test_qa.py::test_answers\[(fail|max|min)(-[^\]]*)\] (\w+)", result.stdout.str(), re.MULTILINE)
    assert [(f"{gate}{rest}", outcome) for gate, rest, outcome in said] == [
        ("fail-under EdgeRecall=0.85", "PASSED"),
        ("fail-over EdgeRecall=0.91", "PASSED"),
        ("max-failed 2", "FAILED"),
        ("min-scored 0.9", "PASSED"),
    ]
    lines = "\n".join(result.outlines)
    assert "answer: 3 questions failed or missing, 2 allowed" in lines
    result.assert_outcomes(passed=41 + 3, failed=14 + 1, skipped=5)
    assert '14 questions failed; the first:\n"q41" in "answer"' in lines
    project("--graphkit-fail-over", "EdgeRecall=0.91", "-k", "threshold").assert_outcomes(passed=3, failed=1)


def test_stale_gold_fails_each_threshold(project: Project) -> None:
    """The gold of three questions is stale: each threshold fails by it, unless three are allowed.

    EdgeRecall is 0.8545 over the other questions, and 3 questions failed.
    """
    thresholds = ("--graphkit-fail-under", "EdgeRecall=0.85", "--graphkit-max-failed", "3", "-k", "threshold")
    result = project.write()(*thresholds, allow_stale=0)
    result.assert_outcomes(failed=2)
    what = "answer: 3 of 60 questions left out, since their gold is stale: q54, q55, q56; mend the gold, or accept it"
    result.stdout.fnmatch_lines([f"{what} by --graphkit-allow-stale 3"])
    project(*thresholds, allow_stale=2).assert_outcomes(failed=2)
    project(*thresholds, allow_stale=3).assert_outcomes(passed=2)
    project.write('fail_under={"EdgeRecall": 0.85}, allow_stale=3')("-k", "threshold", allow_stale=0).assert_outcomes(
        passed=1
    )


@pytest.mark.slow("several sessions of pytest")
def test_sure_holds_the_interval(project: Project) -> None:
    """The lower end of the interval fails a bound that the mean passes, with the figures and words of evaluate."""
    bound = ("--graphkit-fail-under", "EdgeRecall=0.85", "-k", "threshold", "--graphkit-record", "record")
    project.write()(*bound).assert_outcomes(passed=1)
    asked = project.asked
    result = project(*bound, "--graphkit-sure")
    result.assert_outcomes(failed=1)
    [run] = project.folder.glob("record/*/answer.jsonl")
    evaluated = ("evaluate", run, "--dataset", "my-dataset", "--no-store", "--allow-stale", "3", "-m", "EdgeRecall")
    said = inside(*evaluated, "--fail-under", "EdgeRecall=0.85", "--sure", cwd=project.folder, code=1).err
    found = re.search(r"surely at least (0\.\d+)", said)
    assert found is not None
    result.stdout.fnmatch_lines([f"*surely at least {found[1]}, under 0.85*"])
    # It needs no answer anew, and passes below the lower end.
    project(
        "--graphkit-fail-under", f"EdgeRecall={float(found[1]) - 0.01}", *bound[2:], "--graphkit-sure"
    ).assert_outcomes(passed=1)
    assert project.asked == asked
    project.write('fail_under={"EdgeRecall": 0.85}, sure=True')(*bound[2:]).assert_outcomes(failed=1)
    done = project.write()("--graphkit-sure", process=True)
    assert "--graphkit-sure holds the interval to a bound, and there is none" in done.stdout.str() + done.stderr.str()


@pytest.mark.slow("several sessions of pytest")
def test_gates_on_percentiles_and_figures_of_the_run(project: Project) -> None:
    """Four questions take 0.1, 0.2, 0.3 and 0.4 s: the 75th percentile is 0.3, the 76th 0.4. Only q4 is declined.

    The second session decides by the record of the first, and both in the words of evaluate.
    """
    small = project.folder / "small"
    questions = [{"id": f"q{number}", "question": "?", "gold_answer": "yes"} for number in (1, 2, 3)]
    write_lines(small / "questions.jsonl", [*questions, {"id": "q4", "question": "?", "answerable": False}])
    answers = [{"question_id": f"q{number}", "answer": "yes", "latency_ms": 100 * number} for number in (1, 2, 3)]
    write_lines(small / "run.jsonl", [*answers, {"question_id": "q4", "abstained": True, "latency_ms": 400}])
    bounds = ("--graphkit-fail-over", "latency_p75=300ms", "--graphkit-fail-over", "Latency_p76=0.3")
    words = (*bounds, "--graphkit-fail-under", "AbstentionF1=1", "-k", "threshold")
    for _ in range(2):
        result = project("--graphkit", "small", "--graphkit-run", "small/run.jsonl", *words, allow_stale=0)
        result.assert_outcomes(passed=2, failed=1)
        result.stdout.fnmatch_lines(["*Latency_p76 of 4 values is 0.4000, over 0.3*"])


def test_an_unlogged_walk_is_no_reason_for_a_wrong_answer(project: Project) -> None:
    """The message says that the answer is wrong, and that the record doesn't say where."""
    write_dataset(project.folder / "my-dataset")
    records = [{"run": "bare", "question_id": name, "answer": "nobody", "retrieved": []} for name in NAMES]
    write_lines(project.folder / "bare.jsonl", records)
    result = project("--graphkit", "my-dataset", "--graphkit-run", "bare.jsonl", "-k", "q59")
    result.assert_outcomes(failed=1)
    shown = result.stdout.str()
    assert "the answer is wrong; where it went wrong isn't known, since the record has no traversal" in shown
    assert "(not logged: a gate counts it as the worst value)" in shown


def test_relations_that_were_never_logged(project: Project) -> None:
    """A threshold of a typed measure fails on a run without relations, unless edges are compared without them."""
    write_dataset(project.folder / "my-dataset")
    walk = [{"source": "web:a.ts#a", "target": "api:b.py#b"}]
    records = [{"run": "bare", "question_id": name, "answer": "?", "traversal": walk} for name in NAMES]
    write_lines(project.folder / "bare.jsonl", records)
    options = ("--graphkit", "my-dataset", "--graphkit-run", "bare.jsonl", "-k", "threshold")
    bound = ("--graphkit-fail-under", "EdgeRecall=0")
    result = project(*options, *bound)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["bare: EdgeRecall: never logged relations; `--graphkit-untyped` compares without them*"]
    )
    project(*options, *bound, "--graphkit-untyped").assert_outcomes(passed=1)


def test_other_thresholds_ask_nothing(project: Project) -> None:
    """A second run by other thresholds decides by the record: the system isn't even importable without its network."""
    project.write()("--graphkit-fail-under", "EdgeRecall=0.85").assert_outcomes(passed=42, failed=14, skipped=5)
    (project.folder / "asked.txt").unlink()
    result = project("--graphkit-fail-under", "EdgeRecall=0.86")
    result.assert_outcomes(passed=41, failed=15, skipped=5)
    assert project.asked == []
    result.stdout.fnmatch_lines(["graphkit: my-dataset: 60 questions, all from the record (*)"])


def test_record_again(project: Project) -> None:
    """Recorded questions are asked again on request: the chosen ones, or those that failed."""
    project.write()("-k", "q01 or q02 or q51")
    (project.folder / "asked.txt").unlink()
    project("-k", "q01 or q51", "--graphkit-retry-failed").assert_outcomes(passed=1, failed=1)
    assert project.asked == ["q51"]
    (project.folder / "asked.txt").unlink()
    project("-k", "q01 or q51", "--graphkit-record-again").assert_outcomes(passed=1, failed=1)
    assert project.asked == ["q01", "q51"]


@pytest.mark.slow("a session is interrupted")
def test_record_stays_until_the_new_one_is_whole(project: Project) -> None:
    """A test run that is killed while it records again leaves the former record, and nothing of its own.

    The system waits at its second question, q02, until it is killed.
    """
    project.write()("-k", "q01 or q02", "--graphkit-record", "record")
    [record] = project.folder.glob("record/*/answer.jsonl")
    before = {path.name: path.read_bytes() for path in record.parent.iterdir()}
    (project.folder / "asked.txt").unlink()
    system = project.folder / "system.py"
    text = system.read_text()
    system.write_text(
        text.replace("    number =", "    if question.id == 'q02': import time; time.sleep(600)\n    number =")
    )
    command = [
        *(sys.executable, "-m", "pytest", *PLUGIN, *WITHOUT_OTHERS, "-q", "-k", "q01 or q02"),
        *("--graphkit-record", "record", "--graphkit-record-again"),
    ]
    killed = subprocess.Popen(command, cwd=project.folder, stdout=subprocess.DEVNULL, env=environment())
    deadline = time.monotonic() + 120
    while not (project.folder / "asked.txt").exists() or "q02" not in project.asked:
        assert killed.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    killed.kill()
    killed.wait()
    files = [path for path in record.parent.iterdir() if path.is_file() and path.name != "lock"]
    assert {path.name: path.read_bytes() for path in files} == before
    system.write_text(text)
    (project.folder / "asked.txt").unlink()
    project("-k", "q01 or q02", "--graphkit-record", "record", "--graphkit-record-again").assert_outcomes(passed=2)
    assert project.asked == ["q01", "q02"]
    assert not [path for path in record.parent.iterdir() if path.is_dir()]
    project("-k", "q01 or q02", "--graphkit-record", "record").assert_outcomes(passed=2)
    assert project.asked == ["q01", "q02"]


def test_changed_question_is_asked_again(project: Project) -> None:
    """A changed dataset has only its changed and new questions asked; changed gold asks nothing."""
    project.write()()
    (project.folder / "asked.txt").unlink()
    file = project.folder / "my-dataset" / "questions.jsonl"
    text = file.read_text().replace("Whom does a3 call in the end?", "Whom does a3 call at last?")
    file.write_text(text.replace('"expected_output": "c59"', '"expected_output": "nobody"'))
    project().assert_outcomes(passed=42, failed=13, skipped=5)
    assert project.asked == ["q03"]


def test_version_has_a_record_of_its_own(project: Project) -> None:
    """Another version of the system is asked everything, and the record of the first one stays."""
    project.write()("-k", "q01")
    project.write('version="2"')("-k", "q01")
    project.write()("-k", "q01")
    assert project.asked == ["q01", "q01"]


def test_named_run(project: Project) -> None:
    """`--graphkit DATASET --graphkit-run RUN` tests a run without a line of Python, and its node ids can be chosen."""
    write_dataset(project.folder / "my-dataset")
    run = project.folder / "mine.jsonl"
    walk = '[["web:src/a1.ts", "CALLS", "web:src/b1.ts"], ["web:src/b1.ts", "CALLS", "web:src/c1.ts"]]'
    run.write_text(f'{{"run": "mine", "question_id": "q01", "answer": "c1", "retrieved": [], "traversal": {walk}}}\n')
    options = ("--graphkit", "my-dataset", "--graphkit-run", "mine.jsonl")
    result = project(*options, "--graphkit-max-failed", "60")
    # q01 passes, and so does the threshold; the run has no record of the others, which is never skipped.
    result.assert_outcomes(passed=2, failed=59)
    project(*options, "my-dataset/questions.jsonl::question[q01]").assert_outcomes(passed=1)
    assert project(*options, "-m", "graphkit", "-k", "q02").ret == pytest.ExitCode.TESTS_FAILED


def test_last_failed(project: Project) -> None:
    """`--lf` runs the 14 failed questions, and asks nothing."""
    project.write()()
    (project.folder / "asked.txt").unlink()
    project("--lf").assert_outcomes(failed=14)
    assert project.asked == []


def test_junit(project: Project) -> None:
    """The JUnit file that pytest writes has a case for each question, with the message of why."""
    project.write()("--junitxml=out.xml")
    cases = {case.get("name"): case for case in ElementTree.parse(project.folder / "out.xml").iter("testcase")}
    assert len(cases) == 60
    failure = cases["test_answers[q41]"].find("failure")
    assert failure is not None
    assert 'first divergence: "web:src/b41.ts -CALLS-> web:src/c41.ts"' in (failure.text or "")
    skipped = cases["test_answers[q54]"].find("skipped")
    assert skipped is not None


@pytest.mark.slow("sessions with workers of their own")
def test_workers_record_once(project: Project) -> None:
    """Two workers of xdist ask each question once, also again, and give the same outcomes; `--lf` works with them."""
    project.write()
    project("-n", "2", process=True).assert_outcomes(**OUTCOMES)
    assert project.asked == sorted(NAMES)
    (project.folder / "asked.txt").unlink()
    project("-n", "2", "--lf", "--graphkit-record-again", process=True).assert_outcomes(failed=14)
    assert project.asked == [*(f"q{number}" for number in range(41, 54)), "q59"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('fail_under={"EdgeRecal": 0.5}', "Did you mean EdgeRecall?"),
        ("fail_undr={}", "Did you mean fail_under?"),
        ('run="none.jsonl"', "the mark takes either a system or a run"),
        ("max_failed=-1", "it must be at least 0"),
        ("concurrency=0", "concurrency must be a whole number of at least 1, not 0"),
        ('timeout="soon"', "timeout must be a number of at least 0.001, not 'soon'"),
        ("k=True", "k must be a whole number of at least 1, not True"),
        ("name=1", "name must be a text, not 1"),
        ("name='a/b'", "can't be the name of a run"),
        ('judge="lexicl"', "lexicl"),
        ('judge="lexical", graders=["x"]', "'x'"),
        ('config="none.toml"', "none.toml: there is no such file"),
    ],
)
def test_bad_mark(arguments: str, said: str, project: Project) -> None:
    """A mark that can't be used ends the test run with graphkit's message and exit code 4."""
    result = project.write(arguments)()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: test_qa.py::test_answers: " in result.stderr.str()
    assert said in result.stderr.str()
    assert "Traceback" not in result.stderr.str() + result.stdout.str()
    assert project.asked == []


def test_missing_dataset(project: Project) -> None:
    """A missing dataset is a usage error, also with workers."""
    project.write()
    (project.folder / "my-dataset").rename(project.folder / "other")
    result = project()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "my-dataset: no such folder" in result.stderr.str()
    result = project("-n", "2", process=True)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "my-dataset: no such folder" in result.stdout.str()


def test_bad_record(project: Project) -> None:
    """A run with a bad record is a usage error that names the line."""
    write_dataset(project.folder / "my-dataset")
    (project.folder / "mine.jsonl").write_text('{"run": "mine", "question_id": "q01"\n')
    result = project("--graphkit", "my-dataset", "--graphkit-run", "mine.jsonl")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "mine.jsonl:1" in result.stderr.str()
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


def test_function_with_arguments(project: Project) -> None:
    """A marked function with a fixture, and a marked class, are refused: their tests would lose their questions."""
    project.write()
    file = project.folder / "test_qa.py"
    file.write_text(file.read_text().replace("test_answers()", "test_answers(tmp_path)"))
    result = project()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "takes no arguments, and this one takes tmp_path" in result.stderr.str()
    file.write_text(
        'import pytest\n\n@pytest.mark.graphkit("d", run="r")\nclass TestIt:\n    def test_one(self): pass\n'
    )
    result = project()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "the mark graphkit belongs on a test function" in result.stderr.str()


def test_body_and_other_marks(project: Project) -> None:
    """The body runs after a passed question, in a class too; marks of pytest count."""
    project.write()
    file = project.folder / "test_qa.py"
    head, _, _ = file.read_text().partition("@pytest")
    mark = '@pytest.mark.graphkit("my-dataset", system=answer)\n'
    file.write_text(
        f"{head}class TestIt:\n    {mark}    def test_body(self):\n        assert 1 == 2\n\n"
        f"{mark}@pytest.mark.skip(reason='later')\ndef test_later():\n    pass\n"
    )
    project("-k", "q01").assert_outcomes(failed=1, skipped=1)


def test_corrupt_record(project: Project) -> None:
    """A damaged record of verdicts is made anew from the answers."""
    project.write()("--graphkit-record", "record").assert_outcomes(**OUTCOMES)
    [verdicts] = project.folder.glob("record/*/verdicts-*.json")
    text = verdicts.read_text()
    verdicts.write_text(text.replace("no connection", "no \\u001b[31mconnection"))  # nor does it reach the terminal
    said = project("--graphkit-record", "record", "--color=no").stdout.str()
    assert 'error: "no \\u001b[31mconnection for q51"' in said
    assert "\x1b" not in said
    verdicts.write_text('{"key": ')
    (project.folder / "asked.txt").unlink()
    project("--graphkit-record", "record").assert_outcomes(**OUTCOMES)
    assert project.asked == []


def test_without_cache(project: Project) -> None:
    """Without pytest's cache the record needs a folder."""
    result = project.write()("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "Name a folder by --graphkit-record DIR." in result.stderr.str()
    project("-p", "no:cacheprovider", "--graphkit-record", "record", "-k", "q01").assert_outcomes(passed=1)


def test_bare_pytest_stays_fast(pytester: pytest.Pytester) -> None:
    """A test run without tests of graphkit imports none of its rooms but the plugin's own module."""
    pytester.makepyfile(
        "import sys\ndef test_it():\n    print(sorted(one for one in sys.modules if one.startswith('graphkit')))\n"
    )
    result = pytester.runpytest_subprocess(*PLUGIN, *WITHOUT_OTHERS, "-s")
    result.assert_outcomes(passed=1)
    names = ["graphkit", "graphkit.errors", "graphkit.plugins", "graphkit.plugins.testing"]
    assert str([*names, "graphkit.plugins.testing.pytest_plugin"]) in result.stdout.str()


def test_path_of_record(project: Project, tmp_path: Path) -> None:
    """A record elsewhere is found again by its dataset and system."""
    project.write()("-k", "q01", "--graphkit-record", str(tmp_path / "kept"))
    assert (tmp_path / "kept").is_dir()
    project("-k", "q01", "--graphkit-record", str(tmp_path / "kept"))
    assert project.asked == ["q01"]


JUDGE = """
from pathlib import Path
from graphkit.plugins.judging.judges.lexical import LexicalJudge

class Noting(LexicalJudge):
    async def judge(self, prompt, schema):
        with Path("judged.txt").open("a") as file:
            file.write("1")
        return await super().judge(prompt, schema)
"""


def test_judge_is_asked_once(project: Project) -> None:
    """A judge grades the recorded answers; other thresholds on its measures ask neither it nor the system.

    It calls the five answers that have a reference partially correct: a grade of 0.5, and five failed questions more.
    """
    project.write('judge=Noting(), graders=["rubric"]')
    file = project.folder / "test_qa.py"
    file.write_text(f"from judging import Noting\n{file.read_text()}")
    (project.folder / "judging.py").write_text(JUDGE)
    result = project("--graphkit-fail-under", "RubricGrade=0.5")
    result.assert_outcomes(passed=41 - 5 + 1, failed=14 + 5, skipped=5)
    told = '"q01" in "answer": walked both required steps; a judge does not call the answer fully correct'
    result.stdout.fnmatch_lines([told])
    assert (project.folder / "judged.txt").stat().st_size
    (project.folder / "judged.txt").unlink()
    (project.folder / "asked.txt").unlink()
    result = project("--graphkit-fail-under", "RubricGrade=0.6")
    result.assert_outcomes(passed=41 - 5, failed=14 + 5 + 1, skipped=5)
    result.stdout.fnmatch_lines(
        [
            # Five of the 57 questions with valid gold have a gold answer.
            "answer: RubricGrade is 0.5000, under 0.6; 55 of 60 questions left out (3 stale gold, 52 neither a gold "
            "answer nor facts)"
        ]
    )
    assert project.asked == []
    assert not (project.folder / "judged.txt").exists()


def test_judge_of_a_run(project: Project) -> None:
    """A measure of a judge without scores is a usage error that says how to get them."""
    result = project.write()("--graphkit-fail-under", "FactualCorrectness=0.1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "FactualCorrectness isn't computed from records: a judge gives it" in result.stderr.str()
    assert project.asked == []


def test_configuration(project: Project) -> None:
    """Each line under [targets] and [severe] of a graphkit.toml is a test, also of a measure that no layer weighs.

    EdgeRecall is 0.8545, EdgePrecision over the same steps too; no answer names chunks, so RR has no value.
    """
    (project.folder / "graphkit.toml").write_text(
        "[targets]\nEdgePrecision = 0.86\nRR = 0.5\n[severe]\nEdgeRecall = 0.8\n"
    )
    result = project.write('config="graphkit.toml"')("-v", "-k", "target or severe", "-rs")
    found = re.findall(r"^test_qa.py::test_answers\[(.*)\] (\w+)", result.stdout.str(), re.MULTILINE)
    assert found == [
        ("target EdgePrecision=0.86", "FAILED"),
        ("target RR=0.5", "SKIPPED"),
        ("fail-on-severe EdgeRecall=0.8", "PASSED"),
    ]
    assert "the measure was scored on no question" in result.stdout.str()


def test_severe_thresholds(project: Project) -> None:
    """Each severe threshold of the layers is a test, and one without a scored measure is skipped."""
    result = project.write("fail_on_severe=True")("-v", "-k", "severe")
    found = dict(
        re.findall(r"^test_qa.py::test_answers\[fail-on-severe (.*)=.*\] (\w+)", result.stdout.str(), re.MULTILINE)
    )
    assert found["EdgeRecall"] == "PASSED"
    assert found["FactualCorrectness"] == "SKIPPED"


def test_removed_question(project: Project) -> None:
    """A question that left the dataset leaves the record, and nothing is asked."""
    project.write()()
    (project.folder / "asked.txt").unlink()
    file = project.folder / "my-dataset" / "questions.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[1:]))
    project().assert_outcomes(passed=40, failed=14, skipped=5)
    assert project.asked == []


def test_moved_project(project: Project, tmp_path: Path) -> None:
    """A record in the project goes with it to another place."""
    (project.folder / "pytest.ini").write_text("[pytest]\ngraphkit_record = records\n")
    project.write()("-k", "q01")
    moved = tmp_path / "moved"
    shutil.copytree(project.folder, moved)
    (moved / "asked.txt").unlink()
    project("-k", "q01", "--rootdir", str(moved), "-c", str(moved / "pytest.ini"), str(moved)).assert_outcomes(passed=1)
    assert asked(moved) == []


def test_bundled_dataset(project: Project) -> None:
    """A dataset outside the project is tested by its address."""
    run = "@storefront/runs/storefront-graph"
    result = project("--graphkit=@storefront", f"--graphkit-run={run}", "-k", "sf-04")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(['"sf-04" in "storefront-graph": broke at step 1: read `api` at `v2.1.0`; *'])


def test_hostile_texts(project: Project) -> None:
    """Control characters in a run's name and in the error of a system don't reach the terminal."""
    write_dataset(project.folder / "my-dataset")
    record = {"run": "a\x1b[31mb", "question_id": "q54", "error": "x\x1b]0;y", "retrieved": []}
    write_lines(project.folder / "mine.jsonl", [record, {**record, "question_id": "q55", "error": None, "answer": "?"}])
    options = ("--graphkit", "my-dataset", "--graphkit-run", "mine.jsonl", "--graphkit-max-failed", "1")
    result = project(*options, "-k", "q54 or q55 or max", "-rs", "--color=no")
    result.assert_outcomes(failed=2, skipped=1)
    assert "\x1b" not in result.stdout.str() + result.stderr.str()


def test_folder_that_cannot_be_written(project: Project) -> None:
    """A record that can't be written is a usage error."""
    (project.folder / "taken").write_text("")
    result = project.write()("--graphkit-record", "taken")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "can't be written" in result.stderr.str()


@pytest.mark.slow("a session is interrupted")
def test_interrupted(project: Project) -> None:
    """Ctrl-C while the system is asked keeps the answers so far; the next test run asks the others."""
    project.write("concurrency=1")
    file = project.folder / "system.py"
    slow = file.read_text().replace("    number =", "    time.sleep(0.05)\n    number =")
    file.write_text(f"import time\n{slow}")
    command = [sys.executable, "-m", "pytest", *PLUGIN, *WITHOUT_OTHERS]
    with subprocess.Popen(command, cwd=project.folder, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and len(project.asked) < 3:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    before = project.asked
    assert 3 <= len(before) < 60
    project().assert_outcomes(**OUTCOMES)
    # The question under way is asked again, no other.
    assert len(project.asked) <= 61
    assert {*project.asked} == {*NAMES}


def test_page_names_each_option(project: Project) -> None:
    """docs/pytest.md has a row for each option, each setting and each argument of the mark."""
    page = (ROOT / "docs" / "pytest.md").read_text("utf-8")
    said = project("--help").stdout.str()
    names = {
        *re.findall(r"^  (--graphkit[\w-]*)", said, re.MULTILINE),
        *re.findall(r"^  (graphkit_\w+)", said, re.MULTILINE),
    }
    assert {"--graphkit", "--graphkit-fail-under", "graphkit_fail_under", "graphkit_record"} <= names
    assert [name for name in names if not re.search(rf"{name}(?![\w-])", page)] == []
    assert [name for name in ARGUMENTS if name not in page] == []
