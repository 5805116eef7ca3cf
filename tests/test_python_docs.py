"""The page on Python and the notebook: each block and each cell runs, the notebook's in a kernel of its own."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import ROOT
from tests.helpers.cli import Graph, environment
from tests.helpers.datasets import STOREFRONT

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def blocks() -> list[str]:
    """Return the blocks of Python of the page, in their order."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.slow("runs loaded, compared, judged and written as a page")
def test_blocks_of_the_page_run(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The blocks run one after another in an empty folder, and print what the page is about."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHKIT_HOME", graph.env["GRAPHKIT_HOME"])
    names: dict[str, Any] = {}
    assert len(blocks()) == 8
    for number, block in enumerate(blocks()):
        exec(compile(ast.parse(block), f"docs/python.md, block {number}", "exec"), names)
    printed = capsys.readouterr().out
    assert "api:api/sessions.py#open_session -CALLS-> api:api/sessions.py#sweep" in printed
    assert "storefront-graph is better on 2 of 2 measures" in printed
    assert "storefront-graph-v2 beats storefront-bm25: nDCG@10 0.62 to 0.36" in printed
    assert (
        "storefront-bm25: walked no edge; broke at step 1: read `api` at `v2.1.0`; the question is about `v1.1.0`"
        in printed
    )
    assert "<silent: 5 of 5 questions answered, 0 failed, 0 missing" in printed
    assert printed.splitlines()[-1].startswith("no measure is called 'EdgeRecal' Did you mean EdgeRecall?")
    # Three difficulties; of 39 questions the run failed on two, which have no traversal.
    assert (len(names["values"]), len(names["rows"])) == (3, 37)
    assert names["stored"].divergence == names["reason"].divergence
    # Nothing is kept beside the fixture, which may lie in an installed package.
    assert not (STOREFRONT / "runs" / "silent.jsonl").exists()
    assert not (STOREFRONT / "runs" / "storefront-graph.grades").exists()


def test_the_notebook_is_kept_without_outputs() -> None:
    """The notebook holds code that is Python and no output, which would name a machine and change with each figure."""
    cells = [one for one in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if one["cell_type"] == "code"]
    assert len(cells) > 5
    assert all((one["outputs"], one["execution_count"]) == ([], None) for one in cells)
    for one in cells:
        ast.parse("".join(one["source"]))


@pytest.mark.slow("a kernel, and three runs loaded and drawn")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_notebook_runs_in_a_kernel(graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real kernel executes the notebook from an empty folder, and each result draws itself."""
    import nbformat
    from nbclient import NotebookClient

    kept = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(kept)
    # The client writes the kernel's addresses into these folders, too.
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    env = environment({**graph.env, "IPYTHONDIR": str(tmp_path / "ipythondir")})
    client = NotebookClient(kept, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env=env)
    cells = [cell for cell in kept.cells if cell.cell_type == "code"]
    html = [output.data.get("text/html", "") for cell in cells for output in cell.outputs if "data" in output]
    texts = [re.sub("<style>.*</style>", "", one, flags=re.DOTALL).partition("</p>")[0] for one in html if one]
    verdicts = [re.sub("<[^>]+>", "", one).strip() for one in texts]
    # The result, its scorecard, the board of three runs, a question, an explanation, the spine in three runs, failures
    # and a comparison; rows of Cypher are plain.
    assert [re.split(": | is |, which", verdict)[0] for verdict in verdicts] == [
        "storefront-graph",
        "storefront-graph",
        "storefront-graph-v2 beats storefront-bm25",
        "sf-04 in storefront-graph",
        "&quot;sf-04&quot; in &quot;storefront-graph&quot;",
        "sf-04 On the 1.x line",
        "storefront-graph",
        "storefront-graph beats storefront-bm25",
    ]
    assert all("<svg" in one for one in (html[0], html[1], html[2], html[3], html[7]))
    # In the explanation and in its spine; of three runs two share a sentence.
    assert [one.count("broke at step 1") for one in html[4:6]] == [2, 2]
    assert "sf-08" in cells[-2].outputs[0].data["text/plain"]
