"""The other distribution called graphkit: the first command reports it, and no other does."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from graphkit.files.other_package import unreported_package
from tests.helpers.cli import Process

NOTE = (
    "note: graphkit 1.2.2 is another project, and its files mix with those of graphkit-eval in the folder graphkit: "
    "pip uninstall graphkit, then install graphkit-eval again\n"
)


@pytest.fixture
def other(tmp_path: Path) -> dict[str, str]:
    """The variables of a process that finds the other distribution, installed as pip does, and a state folder."""
    info = tmp_path / "packages" / "graphkit-1.2.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: graphkit\nVersion: 1.2.2\n")
    return {"PYTHONPATH": str(info.parent), "XDG_STATE_HOME": str(tmp_path / "state")}


def test_first_command_reports_the_other_package(process: Process, other: dict[str, str], tmp_path: Path) -> None:
    """One line on standard error, from the first command that does something; its results stay as they are."""
    for quiet in (("--help",), ("schema", "--help"), ("--version",)):
        assert process(*quiet, cwd=tmp_path, env=other, code=0).err == ""
    alone = process("schema", "question", "--json", cwd=tmp_path, code=0)
    first = process("schema", "question", "--json", cwd=tmp_path, env=other, code=0)
    assert (alone.err, first.err) == ("", NOTE)
    assert first.out == alone.out
    assert process("schema", "question", "--json", cwd=tmp_path, env=other, code=0).err == ""


def test_another_installation_is_reported_again(
    other: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installing the other package once more is news; without a writable state folder, each time is the first."""
    monkeypatch.setattr(sys, "path", [other["PYTHONPATH"], *sys.path])
    monkeypatch.setenv("XDG_STATE_HOME", other["XDG_STATE_HOME"])
    assert [unreported_package(), unreported_package()] == ["graphkit 1.2.2", None]
    os.utime(Path(other["PYTHONPATH"]) / "graphkit-1.2.2.dist-info", (1, 1))
    assert [unreported_package(), unreported_package()] == ["graphkit 1.2.2", None]
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert [unreported_package(), unreported_package()] == ["graphkit 1.2.2"] * 2


@pytest.mark.parametrize(
    ("record", "named"),
    [
        ("graphkit-1.2.2-py3.8.egg-info", "graphkit 1.2.2"),  # as setup.py install records it
        ("graphkit_eval-0.1.0.dist-info", None),
        ("graphkit-eval-0.1.0.egg-info", None),
        ("graphkit-tools", None),
    ],
)
def test_records_of_installers(record: str, named: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a record of the distribution called graphkit counts, whichever installer wrote it."""
    (tmp_path / record).mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert unreported_package() == named


def test_the_name_of_this_distribution() -> None:
    """The package graphkit comes with the distribution graphkit-eval."""
    import graphkit

    assert version("graphkit-eval") == graphkit.__version__
