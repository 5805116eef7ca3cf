"""The version of a judge: its text holds every setting that can change a grade, and parses back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.plugins.judging.judge_versions import JudgeVersion
from graphkit.plugins.judging.judges.citations import citation_pattern, pattern_text

VERSIONS = st.builds(
    JudgeVersion,
    judge=st.none() | st.from_regex(r"[a-z][a-z0-9. -]{0,20}[a-z0-9]", fullmatch=True),
    prompt=st.from_regex(r"[0-9a-f]{8}", fullmatch=True),
    effort=st.none() | st.sampled_from(["low", "medium", "high"]),
    context_tokens=st.none() | st.integers(0, 10**9),
    citations=st.none() | st.text(st.characters(exclude_categories=["Cs"])),
)


@given(VERSIONS)
def test_the_text_is_read_back(version: JudgeVersion) -> None:
    """Every version prints to a text that parses to the same version."""
    assert JudgeVersion.parse(str(version)) == version


def test_settings_stand_behind_the_prompt() -> None:
    """A version without settings has the text of earlier scores."""
    assert str(JudgeVersion("m", "0a1b2c3d")) == "m prompt 0a1b2c3d"
    whole = JudgeVersion("m", "0a1b2c3d", "high", 100, r"<(?P<target>\w+)>")
    assert str(whole) == r'm prompt 0a1b2c3d effort=high context-tokens=100 citations="<(?P<target>\\w+)>"'


@pytest.mark.parametrize(
    "text",
    [None, 3, "", "gpt-5", "m prompt 0a1b", "m prompt 0a1b2c3d more", 'm prompt 0a1b2c3d citations="', "m citations=1"],
)
def test_other_texts_are_no_version_of_a_judge(text: object) -> None:
    """The version of another tool isn't parsed."""
    assert JudgeVersion.parse(text) is None


@pytest.mark.parametrize(
    "pattern",
    [
        re.compile(r"<(?P<target>\w+)>"),
        re.compile(r"<(?P<target>[a-z]+)>", re.IGNORECASE | re.DOTALL),
        re.compile(r"(?i)<(?P<target>[a-z]+)>", re.MULTILINE),
        re.compile("<(?P<target>[a-z]+)>  # (a comment", re.VERBOSE),
    ],
)
def test_a_pattern_is_compiled_anew(pattern: re.Pattern[str]) -> None:
    """The text of a compiled pattern has its flags."""
    again = citation_pattern(pattern_text(pattern))
    assert again.flags == pattern.flags
    assert bool(again.search("<ABC>")) is bool(pattern.search("<ABC>"))
