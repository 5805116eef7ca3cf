"""The checks of ``make release``: each names its problem, and a release without any has none."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import release
from tests.helpers import ROOT

CHANGELOG = """\
# Changelog

## 0.2.0 (2026-12-01)

### Runs

- **Logs** are read ([docs](docs/a.md)).

## 0.1.0 (2026-11-29)

- Old.
"""


def git(folder: Path, *words: str) -> None:
    """Run git in a folder, without the settings of the machine."""
    who = (
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "tag.gpgsign=false",
    )
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of 0.2.0 that is ready."""
    for folder in ("graphkit", "docs"):
        (tmp_path / folder).mkdir()
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.2.0"\n')
    (tmp_path / "graphkit" / "__init__.py").write_text('__version__ = "0.2.0"\n')
    (tmp_path / "README.md").write_text("pip install graphkit_eval-0.2.0-py3-none-any.whl\n")
    (tmp_path / "docs" / "a.md").write_text("# A\n")
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "All")
    return tmp_path


def edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    """Return what changes a file of a checkout, and commits it."""

    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))
        git(folder, "commit", "-qam", "Changed")

    return change


PROBLEMS: dict[str, tuple[Callable[[Path], object], str]] = {
    "tree": (lambda folder: (folder / "new.txt").touch(), "the tree isn't clean:\n?? new.txt"),
    "tag": (lambda folder: git(folder, "tag", "v0.2.0"), "the tag v0.2.0 is there already"),
    "package": (
        edit("graphkit/__init__.py", "0.2.0", "0.1.0"),
        "graphkit/__init__.py says 0.1.0, and pyproject.toml 0.2.0",
    ),
    "readme": (edit("README.md", "0.2.0", "0.1.0"), "README.md names the wheel of 0.1.0"),
    "page": (edit("docs/a.md", "# A", "# graphkit_eval-0.1.0-py3"), "docs/a.md names the wheel of 0.1.0"),
    "undated": (
        edit("CHANGELOG.md", "0.2.0 (2026-12-01)", "0.2.0 (unreleased)"),
        "CHANGELOG.md has no heading '## 0.2.0 (YYYY-MM-DD)'",
    ),
    "unreleased": (
        edit("CHANGELOG.md", "# Changelog\n", "# Changelog\n\n## Unreleased\n\n- New.\n"),
        "CHANGELOG.md has lines under Unreleased: put those that a user gains into the entry of the version",
    ),
    "empty": (
        edit("CHANGELOG.md", "### Runs\n\n- **Logs** are read ([docs](docs/a.md)).\n", ""),
        "the entry of 0.2.0 in CHANGELOG.md is empty",
    ),
    "long": (
        edit("CHANGELOG.md", "### Runs\n", "- More.\n" * 41),
        "the entry of 0.2.0 in CHANGELOG.md is more than a screen: 40 lines of 200 characters",
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_each_problem_is_named(name: str, checkout: Path) -> None:
    """A checkout that is ready has no problem; one thing changed, it has just that one."""
    assert list(release.in_checkout(checkout)) == []
    change, problem = PROBLEMS[name]
    change(checkout)
    assert list(release.in_checkout(checkout)) == [problem]


@pytest.mark.parametrize("line", ['__version__ = "0.2.0"  # raised by hand', "__version__: str = '0.2.0'"])
def test_the_version_stands_in_any_form(line: str, checkout: Path) -> None:
    """A comment behind the version, a type and other quotes change nothing; without the line it has no version."""
    edit("graphkit/__init__.py", '__version__ = "0.2.0"', line)(checkout)
    assert list(release.in_checkout(checkout)) == []
    edit("graphkit/__init__.py", line, "")(checkout)
    assert list(release.in_checkout(checkout)) == ["graphkit/__init__.py says no version, and pyproject.toml 0.2.0"]


def test_long_subjects_are_doubts(checkout: Path) -> None:
    """Since the last tag, a subject of 73 characters is named and one of 72 isn't; older ones don't count."""
    git(checkout, "commit", "--allow-empty", "-qm", "a" * 73)
    assert list(release.in_subjects(checkout)) == [
        f"1 of 2 commits have a subject of over 72 characters, such as: {'a' * 73}"
    ]
    git(checkout, "tag", "v0.1.0")
    git(checkout, "commit", "--allow-empty", "-qm", "b" * 72)
    assert list(release.in_subjects(checkout)) == []
    git(checkout, "commit", "--allow-empty", "-qm", "c" * 73)
    assert list(release.in_subjects(checkout)) == [
        f"1 of 2 commits have a subject of over 72 characters, such as: {'c' * 73}"
    ]


def distributions(folder: Path, name: str, stated: str) -> None:
    """Write a wheel and a source distribution that are called by one version and state another."""
    folder.mkdir()
    text = f"Metadata-Version: 2.4\nName: graphkit-eval\nVersion: {stated}\n\nVersion: 9\n"
    with zipfile.ZipFile(folder / f"graphkit_eval-{name}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"graphkit_eval-{name}.dist-info/METADATA", text)
    with tarfile.open(folder / f"graphkit_eval-{name}.tar.gz", "w:gz") as source:
        member = tarfile.TarInfo(f"graphkit_eval-{name}/PKG-INFO")
        member.size = len(text)
        source.addfile(member, io.BytesIO(text.encode()))


def test_distributions_are_of_the_version(tmp_path: Path) -> None:
    """A folder holds the wheel and the source of the version alone, and both state it."""
    distributions(tmp_path / "ready", "0.2.0", "0.2.0")
    assert list(release.in_distributions(tmp_path / "ready", "0.2.0")) == []
    [wrong] = release.in_distributions(tmp_path / "ready", "0.3.0")
    assert "graphkit_eval-0.2.0.tar.gz" in wrong
    assert "instead of graphkit_eval-0.3.0-py3-none-any.whl" in wrong
    distributions(tmp_path / "stated", "0.2.0", "0.1.0")
    assert list(release.in_distributions(tmp_path / "stated", "0.2.0")) == [
        "the metadata of graphkit_eval-0.2.0-py3-none-any.whl say 0.1.0",
        "the metadata of graphkit_eval-0.2.0.tar.gz say 0.1.0",
    ]
    [nothing] = release.in_distributions(tmp_path / "absent", "0.2.0")
    assert "holds nothing" in nothing


def test_message_of_the_tag(checkout: Path) -> None:
    """The message is the entry of the version alone, in plain text, of which git takes no line for a comment."""
    assert release.tag_message(checkout, "0.2.0") == "graphkit-eval 0.2.0\n\nRuns\n\n- Logs are read (docs).\n"


def test_the_entry_of_this_version_fits_a_screen() -> None:
    """The changelog has the entry of the version that pyproject.toml states, and it is short."""
    number = release.version(ROOT)
    assert re.search(rf"^## {re.escape(number)} \(", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert 0 < len(release.entry(ROOT, number).splitlines()) <= release.LINES
