"""The tests as pytest sees them: an item for each question, and one for each threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import one_line
from graphkit.plugins.testing.node_names import unique_names
from graphkit.plugins.testing.suites import Suite
from graphkit.plugins.testing.thresholds import Threshold
from graphkit.plugins.testing.verdict_record import FAILED, SKIPPED


class SuiteTest(pytest.Item):
    """A test of a suite, which was decided before it runs.

    Parameters
    ----------
    line
        Where it is written, counted from 0.
    body
        A function to call after a passed test of a question.
    """

    def __init__(
        self,
        *,
        suite: Suite,
        line: int,
        subject: str | Threshold,
        body: Callable[[], Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.suite = suite
        self.subject = subject
        self._line = line
        self._body = body
        self.extra_keyword_matches.add("question" if isinstance(subject, str) else "threshold")

    @property
    def question(self) -> str | None:
        """The id of its question; None for the test of a threshold."""
        return self.subject if isinstance(self.subject, str) else None

    def decided(self) -> tuple[str, str]:
        """Return the outcome and the message."""
        one = self.subject
        outcome, text = self.suite.verdict(one) if isinstance(one, str) else self.suite.held(one)
        # The record may come from elsewhere, such as the cache of a CI job.
        return outcome, "\n".join(map(one_line, text.split("\n")))

    def settle(self) -> None:
        """Mark the test as skipped if it is; pytest then says so with the place of the test."""
        outcome, text = self.decided()
        if outcome == SKIPPED:
            self.add_marker(pytest.mark.skip(reason=text))

    def runtest(self) -> None:
        """Fail with the message if the test failed."""
        outcome, text = self.decided()
        if outcome == FAILED:
            pytest.fail(text, pytrace=False)
        if self._body is not None and self.question is not None:
            self._body()

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the file, the line and the name."""
        return self.path, self._line, self.name


def suite_tests(
    suite: Suite,
    parent: pytest.Collector,
    *,
    question: str,
    threshold: str,
    line: int | None = None,
    body: Callable[[], Any] | None = None,
) -> Iterator[SuiteTest]:
    """Yield the tests of a suite, named ``question[ID]`` and ``threshold[GATE]``.

    Parameters
    ----------
    question, threshold
        The names before the brackets.
    line
        Where all tests are written; by default each where its question is.
    """
    subjects: list[tuple[str, str | Threshold, int]] = [(name, name, at - 1) for at, name in suite.questions]
    subjects += [(one.name, one, 0) for one in suite.thresholds]
    names = unique_names(name for name, _, _ in subjects)
    for name, (_, subject, at) in zip(names, subjects, strict=True):
        whole = f"{question if isinstance(subject, str) else threshold}[{name}]"
        yield SuiteTest.from_parent(
            parent,
            name=whole,
            nodeid=f"{parent.nodeid}::{whole}",  # as text: pytest then finds what is in the brackets, as --lf needs
            suite=suite,
            line=at if line is None else line,
            subject=subject,
            body=body,
        )


class QuestionsFile(pytest.File):
    """The file of a dataset's questions, whose tests judge the run of the command line."""

    def __init__(self, *, suite: Suite, **options: Any) -> None:
        super().__init__(**options)
        self.suite = suite

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the tests of the questions and the thresholds."""
        for one in suite_tests(self.suite, self, question="question", threshold="threshold"):
            one.own_markers.append(pytest.mark.graphkit.mark)
            one.keywords["graphkit"] = True
            yield one
