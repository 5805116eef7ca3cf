"""The hooks of the pytest plugin. All that is slow to import is imported when a test of graphkit is collected."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from graphkit.errors import GraphkitError, InputError, one_line

if TYPE_CHECKING:
    from graphkit.plugins.testing.suites import Suite

MARK = "graphkit"

#: What a worker of xdist tells the process that started it.
_REFUSED = "graphkit_refused"

_OPTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("fail-under", "Add a test that a mean is at least VALUE; may be repeated.", {"metavar": "MEASURE=VALUE"}),
    ("fail-over", "Add a test that a mean is at most VALUE; may be repeated.", {"metavar": "MEASURE=VALUE"}),
    ("sure", "Hold the nearer end of the mean's interval to the bounds.", {"action": "store_true"}),
    ("max-failed", "Add a test that at most N questions failed or are missing.", {"metavar": "N"}),
    (
        "min-scored",
        "Add a test that measures have a value on this share of the questions that they could score.",
        {"metavar": "SHARE"},
    ),
    ("fail-on-severe", "Add a test for each severe threshold of the layers.", {"action": "store_true"}),
    ("fail-on-stale", "Add a test that no gold is stale, as every threshold asks.", {"action": "store_true"}),
    ("allow-stale", "Accept stale gold of up to N questions at thresholds.", {"metavar": "N"}),
    ("untyped", "Compare edges without their relations.", {"action": "store_true"}),
    ("config", "Add a test for each target and severe threshold in this graphkit.toml.", {"metavar": "FILE"}),
    (
        "missing-as",
        "Count failed, missing and unlogged questions as worst (default), only failed and missing ones (failed), or "
        "none (unscored).",
        {"metavar": "HOW"},
    ),
    ("failed-as", "Another name of --graphkit-missing-as.", {"metavar": "HOW"}),
    ("record", "Keep answers and verdicts in DIR. [default: in pytest's cache]", {"metavar": "DIR"}),
)


@dataclass
class _State:
    """The suites of a test run, and what is wrong with them."""

    named: Suite | None = None
    named_path: Path | None = None
    named_collected: bool = False
    suites: list[Suite] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


_STATE = pytest.StashKey[_State]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options and the settings."""
    group = parser.getgroup("graphkit", "graphkit: a test for each question of a dataset, and for each threshold")
    group.addoption("--graphkit", metavar="DATASET", help="Test the questions of this dataset.")
    group.addoption("--graphkit-run", metavar="RUN.jsonl", help="Test the answers of this run.")
    for name, text, settings in _OPTIONS:
        repeated = name in ("fail-under", "fail-over")
        flag = settings.get("action") == "store_true"
        more: dict[str, Any] = {"action": "append", "default": []} if repeated else {}
        group.addoption(f"--graphkit-{name}", help=text, **settings, **more)
        kind: Any = "linelist" if repeated else "bool" if flag else "string"
        parser.addini(f"graphkit_{name.replace('-', '_')}", text, type=kind, default=[] if repeated else None)
    group.addoption("--graphkit-record-again", action="store_true", help="Ask the questions of the chosen tests again.")
    group.addoption(
        "--graphkit-retry-failed", action="store_true", help="Ask those of them again that the system failed on."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark, and check the options."""
    config.addinivalue_line(
        "markers", "graphkit(dataset, system=callable): test each question of a graphkit dataset, and each threshold"
    )
    state = config.stash[_STATE] = _State()
    if config.getoption("graphkit") is None and config.getoption("graphkit_run") is None:
        return
    from graphkit.plugins.testing.suite_options import named_suite

    with _refusing():
        state.named = named_suite(config)
        _ = state.named.questions, state.named.thresholds
    state.named_path = state.named.dataset.questions_file.resolve()
    state.suites.append(state.named)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the tests of the command line's dataset in the file of its questions."""
    state = parent.config.stash[_STATE]
    if state.named is None or file_path.resolve() != state.named_path:
        return None
    from graphkit.plugins.testing.question_tests import QuestionsFile

    state.named_collected = True
    return QuestionsFile.from_parent(parent, path=file_path, suite=state.named)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, name: str, obj: object) -> Any:
    """Collect the tests of a marked function."""
    function = getattr(obj, "__func__", obj)
    if not inspect.isfunction(function):
        return None
    marks = [mark for mark in getattr(function, "pytestmark", ()) if mark.name == MARK]
    if not marks or not collector.istestfunction(obj, name):
        return None
    state = collector.config.stash[_STATE]
    try:
        from graphkit.plugins.testing.marked_tests import marked_tests

        tests = marked_tests(collector, name, function, marks)
    except GraphkitError as error:
        state.errors.append(f"{collector.nodeid}::{name}: {error}")
        return []
    state.suites += [tests[0].suite] if tests else []
    return tests


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the tests of the command line's dataset, unless a path named it."""
    state = session.config.stash[_STATE]
    if state.named is not None and not state.named_collected:
        from graphkit.plugins.testing.question_tests import QuestionsFile

        path = state.named.dataset.questions_file.resolve()
        items.extend(session.genitems(QuestionsFile.from_parent(session, path=path, suite=state.named)))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Decide the chosen tests: record what is missing, once for all processes, before any test runs."""
    config = session.config
    state = config.stash[_STATE]
    try:
        if state.errors:
            raise pytest.UsageError("\n".join(state.errors))
        _refuse_other_marks(session.items)
        stopped = session.testsfailed and not config.option.continue_on_collection_errors
        if state.suites and not config.option.collectonly and not stopped:
            with _refusing():
                _decide(session)
    except pytest.UsageError as error:
        # A worker can't end the test run: it has no tests, and the process that started it says why.
        output = getattr(config, "workeroutput", None)
        if output is None:
            raise
        output[_REFUSED] = str(error)
        session.items.clear()


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """Say how many answers come from the record."""
    notes = [(suite, suite.note) for suite in config.stash[_STATE].suites if suite.note]
    return [one_line(f"graphkit: {suite.dataset.name}: {note} ({suite.folder})") for suite, note in notes]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker refused."""
    refused = getattr(node, "workeroutput", {}).get(_REFUSED)
    errors = node.config.stash[_STATE].errors
    if refused is not None and refused not in errors:
        errors.append(refused)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Turn what the workers refused into the exit code of a usage error."""
    if session.config.stash[_STATE].errors and not hasattr(session.config, "workerinput"):
        session.exitstatus = pytest.ExitCode.USAGE_ERROR


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what the workers refused."""
    for error in config.stash[_STATE].errors:
        terminalreporter.write_line(f"ERROR: {error}", red=True)


def _decide(session: pytest.Session) -> None:
    from graphkit.plugins.testing.question_tests import SuiteTest
    from graphkit.plugins.testing.recorded_answers import Again

    chosen: dict[int, tuple[Suite, list[SuiteTest]]] = {}
    for item in session.items:
        if isinstance(item, SuiteTest):
            chosen.setdefault(id(item.suite), (item.suite, []))[1].append(item)
    option = session.config.option
    run = getattr(session.config, "workerinput", {}).get("testrunuid") or uuid4().hex
    again = Again(option.graphkit_record_again, option.graphkit_retry_failed, run)
    for suite, tests in chosen.values():
        questions = {test.question for test in tests}
        wanted = None if None in questions else {one for one in questions if one is not None}
        with contextlib.redirect_stdout(sys.stderr):
            suite.decide(wanted, again)
        for test in tests:
            test.settle()


def _refuse_other_marks(items: list[pytest.Item]) -> None:
    """Refuse the mark on a class or a module, whose tests would otherwise run without a question."""
    for item in items:
        if item.get_closest_marker(MARK) is not None and not hasattr(item, "suite"):
            error = InputError("the mark graphkit belongs on a test function", where=item.nodeid)
            raise pytest.UsageError(str(error))


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    """Turn errors of graphkit into those by which pytest ends with exit code 4 and no traceback."""
    try:
        yield
    except GraphkitError as error:
        raise pytest.UsageError(str(error)) from None
