"""The options of the plugin: the command line, the settings in pytest's configuration, and the mark of a test."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from graphkit.errors import InputError, did_you_mean, missing_file
from graphkit.files.assets import command_text, located
from graphkit.files.dataset import Dataset
from graphkit.plugins.systems.importing import System, load_system, run_name, system_of
from graphkit.plugins.systems.runner import Limits
from graphkit.plugins.systems.session import DEFAULT_K, source_of
from graphkit.plugins.testing.recorded_answers import SystemUnderTest
from graphkit.plugins.testing.recorded_grades import AskedJudge, asked_judge
from graphkit.plugins.testing.suites import GivenRun, Suite
from graphkit.plugins.testing.thresholds import GivenThresholds
from graphkit.records.option_values import bound
from graphkit.records.unanswered import FailedAs

#: How a system is asked, each with its least value.
_LIMITS: Mapping[str, float] = {"concurrency": 1, "timeout": 0.001, "retries": 0, "backoff": 0}
_THRESHOLDS = ("fail_under", "fail_over", "sure", "max_failed", "min_scored", "fail_on_severe", "fail_on_stale")

#: The arguments of the mark beside the dataset.
ARGUMENTS = (
    *("system", "run", "name", "version", "judge", "graders", "k"),
    *(*_LIMITS, *_THRESHOLDS, "allow_stale", "config", "failed_as", "missing_as", "untyped"),
)


def marked_suite(config: pytest.Config, mark: pytest.Mark) -> Suite:
    """Return the suite of a mark, whose paths start at pytest's root folder.

    Raises
    ------
    InputError
        An argument or the dataset can't be used.
    """
    for name in mark.kwargs:
        if name not in ARGUMENTS:
            hint = did_you_mean(name, ARGUMENTS)
            what = f"the mark has no argument {name!r}"
            raise InputError(what, remedy=f"{hint}There are: {', '.join(ARGUMENTS)}.")
    if len(mark.args) != 1 or not isinstance(mark.args[0], str | Path):
        raise InputError(
            "the mark takes one dataset", remedy='Write @pytest.mark.graphkit("my-dataset", system=answer).'
        )
    system, run = mark.kwargs.get("system"), mark.kwargs.get("run")
    if (system is None) == (run is None):
        raise InputError("the mark takes either a system or a run", remedy="Give system=answer, or run=PATH.")
    dataset = Dataset(_place(config.rootpath, mark.args[0]))
    answers = GivenRun(_existing(_place(config.rootpath, run))) if run is not None else _tested(system, mark.kwargs)
    judge = _judge(mark.kwargs, answers)
    given, records = _given(config, mark.kwargs), _records(config)
    return Suite(dataset, config.rootpath, answers, given, records, judge, _notifying(config))


def named_suite(config: pytest.Config) -> Suite:
    """Return the suite of ``--graphkit`` and ``--graphkit-run``, whose paths start at the working folder.

    Raises
    ------
    InputError
        An option, the dataset or the run can't be used.
    """
    folder, run = config.getoption("graphkit"), config.getoption("graphkit_run")
    if run is None:
        remedy = "Name one by --graphkit-run RUN.jsonl, or mark a test: @pytest.mark.graphkit(DATASET, system=answer)."
        raise InputError("--graphkit names a dataset without a run", remedy=remedy)
    here = config.invocation_params.dir
    file = _existing(_place(here, run))
    dataset = Dataset(_place(here, folder)) if folder is not None else Dataset.of_run(file)
    given, records = _given(config, {}), _records(config)
    return Suite(dataset, config.rootpath, GivenRun(file), given, records, notify=_notifying(config))


def _place(start: Path, given: str | Path) -> Path:
    """Return the place of a path; one below the folder of a process stays relative, as messages show it."""
    found = start / located(given)
    return found.relative_to(Path.cwd()) if found.is_relative_to(Path.cwd()) else found


def _existing(file: Path) -> Path:
    if not file.exists():
        raise missing_file(file)
    return file


def _tested(given: Any, arguments: Mapping[str, Any]) -> SystemUnderTest:
    system = _system(given, arguments.get("name"))
    numbers = {"k": DEFAULT_K, **{name: arguments[name] for name in ("k", *_LIMITS) if name in arguments}}
    for name, value in numbers.items():
        kind, least = (float, _LIMITS[name]) if name in ("timeout", "backoff") else (int, _LIMITS.get(name, 1))
        if isinstance(value, bool) or not isinstance(value, kind | int) or not least <= value < math.inf:
            whole = "number" if kind is float else "whole number"
            raise InputError(f"{name} must be a {whole} of at least {least:g}, not {value!r}")
    return SystemUnderTest(system, str(arguments.get("version", "")), numbers.pop("k"), Limits(**numbers))


def _judge(arguments: Mapping[str, Any], answers: SystemUnderTest | GivenRun) -> AskedJudge | None:
    if (given := arguments.get("judge")) is None:
        return None
    if isinstance(answers, GivenRun):
        remedy = f"Grade the run by `{command_text('grade', answers.file)}`: the verdicts beside it count."
        raise InputError("a judge grades the answers of a system, and the mark names a run", remedy=remedy)
    return asked_judge(given, arguments.get("graders"))


def _notifying(config: pytest.Config) -> Callable[[str], None]:
    """Return a function that prints a note on the terminal, if this process has it."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput"):
        return lambda _: None
    return lambda text: reporter.write_line(f"graphkit: {text}")


def _system(given: Any, name: Any) -> System:
    if name is not None and not isinstance(name, str):
        raise InputError(f"name must be a text, not {name!r}")
    if isinstance(given, str):
        return load_system(given if name is None else f"{name}={given}")
    if not callable(given):
        remedy = "Give a function that takes a question, or the text package.module:callable."
        raise InputError(f"a value of type {type(given).__name__} is no system", remedy=remedy)
    own = getattr(given, "__name__", type(given).__name__).strip("<>_")
    return system_of(run_name(name or own), given, source_of(given))


def _records(config: pytest.Config) -> Path:
    """Return the folder of the records: the given one, else one in pytest's cache."""
    if (given := config.getoption("graphkit_record")) is not None:
        return _place(config.invocation_params.dir, given)
    if setting := config.getini("graphkit_record"):
        return _place(config.rootpath, str(setting))
    cache: pytest.Cache | None = getattr(config, "cache", None)
    if cache is None:
        what = "pytest has no cache to record answers in"
        raise InputError(what, remedy="Name a folder by --graphkit-record DIR.")
    return _place(config.rootpath, cache.mkdir("graphkit"))


def _given(config: pytest.Config, arguments: Mapping[str, Any]) -> GivenThresholds:
    """Return the thresholds; the command line replaces the mark, and the mark the settings."""

    def bounds(name: str) -> dict[str, float]:
        read = bound(f"--graphkit-{name.replace('_', '-')}")
        found = dict(map(read, config.getini(f"graphkit_{name}")))
        marked = arguments.get(name, {})
        if not isinstance(marked, Mapping):
            raise InputError(f"{name} must map measures to numbers", remedy=f'Write {name}={{"EdgeF1": 0.7}}.')
        found |= dict(read(f"{measure}={value}") for measure, value in marked.items())
        return found | dict(map(read, config.getoption(f"graphkit_{name}")))

    def single(name: str, read: Callable[[str], Any]) -> Any:
        found = config.getoption(f"graphkit_{name}")
        if found is None:
            found = arguments.get(name)
        if found is None:
            found = config.getini(f"graphkit_{name}") or None
        return None if found is None else _read(f"graphkit_{name}", found, read)

    def chosen(name: str) -> bool:
        return bool(config.getoption(f"graphkit_{name}") or arguments.get(name, config.getini(f"graphkit_{name}")))

    under, over, sure = bounds("fail_under"), bounds("fail_over"), chosen("sure")
    if sure and not (under or over):
        what, remedy = "--graphkit-sure holds the interval to a bound, and there is none", "Add --graphkit-fail-under."
        raise InputError(what, remedy=remedy)
    return GivenThresholds(
        under=under,
        over=over,
        sure=sure,
        max_failed=single("max_failed", _count),
        min_scored=single("min_scored", _share),
        severe=chosen("fail_on_severe"),
        stale=chosen("fail_on_stale"),
        allow_stale=single("allow_stale", _count) or 0,
        untyped=chosen("untyped"),
        config=_config(config, arguments),
        failed_as=single("missing_as", _failed_as) or single("failed_as", _failed_as) or "worst",
    )


def _config(config: pytest.Config, arguments: Mapping[str, Any]) -> Path | None:
    if (given := config.getoption("graphkit_config")) is not None:
        return _place(config.invocation_params.dir, given)
    setting = arguments.get("config") or config.getini("graphkit_config")
    return _place(config.rootpath, setting) if setting else None


def _read(name: str, value: Any, read: Callable[[str], Any]) -> Any:
    try:
        return read(str(value))
    except ValueError as error:
        raise InputError(f"{name} is {value!r}: {error}") from None


def _count(text: str) -> int:
    if (found := int(text)) < 0:
        raise ValueError("it must be at least 0")
    return found


def _share(text: str) -> float:
    if not 0 <= (found := float(text)) <= 1:
        raise ValueError("it must be a share of the questions, from 0 to 1")
    return found


def _failed_as(text: str) -> str:
    if text not in (allowed := get_args(FailedAs)):
        raise ValueError(f"it must be {', '.join(allowed[:-1])} or {allowed[-1]}")
    return text
