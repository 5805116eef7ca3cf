"""The commands of docs/published.md reproduce the published tables, wherever the public files are."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT
from tests.helpers.absent import absent
from tests.helpers.readme import Shell

#: By title, the repository of each section, its commands, and lines of what they print.
TABLES: dict[str, tuple[str, str, str]] = {
    title: (repository, commands, lines)
    for title, repository, commands, lines in re.findall(
        r"^## ([^\n]+)\n\n\[[\w-]+/([\w-]+)\](?:(?!^## ).)*?^```bash\n(.*?)^```\n\n```text\n(.*?)^```$",
        (ROOT / "docs" / "published.md").read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
}


def test_each_section_is_a_table() -> None:
    """No section lacks its commands or their output."""
    titles = re.findall(r"^## (.+)$", (ROOT / "docs" / "published.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert list(TABLES) == titles


@pytest.mark.slow("commands over the public files")
@pytest.mark.parametrize("title", TABLES)
def test_table_is_reproduced(title: str, published: Path, tmp_path: Path) -> None:
    """The commands print each line that the page shows, as they stand in an empty folder."""
    repository, commands, lines = TABLES[title]
    if not (published / repository).is_dir():
        absent("GRAPHKIT_REQUIRE_PUBLISHED", f"the published files of {repository}")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    printed = Shell(tmp_path, os.environ | {"PATH": path, "GRAPHKIT_PUBLISHED": str(published)})(commands)
    found = {" ".join(line.split()) for line in printed.splitlines()}
    assert [line for line in lines.splitlines() if " ".join(line.split()) not in found] == []
