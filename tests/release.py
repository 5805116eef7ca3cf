"""Checks what a release needs, writes the message of its tag, and says what a person does: ``make release``.

Without arguments it checks the checkout; ``make release`` builds the documentation and the distributions then, and
calls it again with their folder.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path

from tests.helpers import ROOT
from tests.versions import say

#: How many lines the entry of a version has in the changelog at most, each of at most so many characters: a screen.
LINES, WIDTH = 40, 200

#: How many characters the subject of a commit has at most.
SUBJECT = 72

#: What a person does once everything is checked.
BY_HAND = """\
By hand:
  git tag -a v{version} -F {message}
  git push origin v{version}
  .venv-docs/bin/python -m twine upload dist/*
  publish build/docs as the site, and a release of the tag with the files of dist/ and the same text
  add the heading "## Unreleased" to CHANGELOG.md, and raise the version in pyproject.toml and graphkit/__init__.py"""


def version(root: Path) -> str:
    """Return the version that ``pyproject.toml`` states."""
    return str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def entry(root: Path, number: str) -> str:
    """Return the lines of a version in the changelog, without its heading; "" if it has none."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(number)}\b[^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def in_checkout(root: Path) -> Iterator[str]:
    """Yield what forbids a release of a checkout: its tree, its version here and there, its entry in the changelog."""
    number = version(root)
    if changed := _git(root, "status", "--porcelain"):
        yield f"the tree isn't clean:\n{changed}"
    if _git(root, "tag", "--list", f"v{number}"):
        yield f"the tag v{number} is there already"
    text = (root / "graphkit" / "__init__.py").read_text("utf-8")
    found = re.search(r"""^__version__\b[^=\n]*=\s*["'](.*?)["']""", text, re.MULTILINE)
    stated = found[1] if found else "no version"
    if stated != number:
        yield f"graphkit/__init__.py says {stated}, and pyproject.toml {number}"
    for page in (root / "README.md", *sorted((root / "docs").rglob("*.md"))):
        for named in re.findall(r"graphkit_eval-([\d.]+\d\w*)-", page.read_text(encoding="utf-8")):
            if named != number:
                yield f"{page.relative_to(root)} names the wheel of {named}"
    yield from _in_changelog(root, number)


def _in_changelog(root: Path, number: str) -> Iterator[str]:
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    if entry(root, "Unreleased"):
        yield "CHANGELOG.md has lines under Unreleased: put those that a user gains into the entry of the version"
    dated = [one for one in headings if re.fullmatch(rf"{re.escape(number)} \(\d{{4}}-\d\d-\d\d\)", one)]
    if not dated:
        yield f"CHANGELOG.md has no heading '## {number} (YYYY-MM-DD)'"
    lines = entry(root, number).splitlines()
    if dated and not lines:
        yield f"the entry of {number} in CHANGELOG.md is empty"
    if len(lines) > LINES or any(len(line) > WIDTH for line in lines):
        yield f"the entry of {number} in CHANGELOG.md is more than a screen: {LINES} lines of {WIDTH} characters"


def in_subjects(root: Path) -> Iterator[str]:
    """Yield what a reader of the git log may mind: subjects of commits since the last tag that are too long."""
    tags = _git(root, "tag", "--list", "v*", "--merged", "HEAD", "--sort=-version:refname").splitlines()
    since = [f"{tags[0]}..HEAD"] if tags else ["HEAD"]
    subjects = _git(root, "log", "--format=%s", *since).splitlines()
    if long := [one for one in subjects if len(one) > SUBJECT]:
        yield f"{len(long)} of {len(subjects)} commits have a subject of over {SUBJECT} characters, such as: {long[0]}"


def in_distributions(folder: Path, number: str) -> Iterator[str]:
    """Yield what forbids a release of the files in a folder: others than a wheel and a source distribution of it."""
    expected = {f"graphkit_eval-{number}-py3-none-any.whl", f"graphkit_eval-{number}.tar.gz"}
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if there != expected:
        yield f"{folder} holds {', '.join(sorted(there)) or 'nothing'} instead of {', '.join(sorted(expected))}"
        return
    for path in sorted(folder.iterdir()):
        stated = HeaderParser().parsestr(_metadata(path))["Version"]
        if stated != number:
            yield f"the metadata of {path.name} say {stated}"


def _metadata(path: Path) -> str:
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            [name] = [one for one in wheel.namelist() if one.endswith(".dist-info/METADATA")]
            return wheel.read(name).decode()
    with tarfile.open(path) as source:
        [member] = [one for one in source if one.name.count("/") == 1 and one.name.endswith("/PKG-INFO")]
        content = source.extractfile(member)
        return content.read().decode() if content is not None else ""


def tag_message(root: Path, number: str) -> str:
    """Return the message of the tag: a subject, and the entry of the version without links and marks of Markdown."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", entry(root, number)).replace("**", "")
    # Git takes lines that begin with # for comments.
    lines = [line.removeprefix("### ") for line in text.splitlines()]
    return "\n".join([f"graphkit-eval {number}", "", *lines, ""])


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.rstrip()


def main(arguments: list[str]) -> int:
    """Check the checkout, or with the folder of its distributions these as well; return the exit code."""
    number = version(ROOT)
    found = list(in_checkout(ROOT))
    if arguments:
        found += in_distributions(Path(arguments[0]), number)
    for doubt in in_subjects(ROOT):
        say(f"warning: {doubt}")
    for problem in found:
        say(f"not ready: {problem}")
    if arguments and not found:
        message = ROOT / "build" / f"tag-{number}.txt"
        message.parent.mkdir(exist_ok=True)
        message.write_text(tag_message(ROOT, number), encoding="utf-8")
        say(f"{number} is ready.\n{BY_HAND.format(version=number, message=message.relative_to(ROOT))}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
