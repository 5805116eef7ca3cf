"""One default of measures: the library, the command, the page and an agent give one overall value."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

import graphkit
from graphkit.analysis.config import WEIGHTS, Config
from graphkit.measures.registry import DEFAULT_MEASURES, measure_class
from graphkit.plugins.agents.workspace import Workspace
from graphkit.report.data import PageOptions
from graphkit.report.gathering import gather
from tests.helpers import ROOT
from tests.helpers.cli import inside

FOLDER = ROOT / "fixtures/storefront/runs"
RUNS = sorted(FOLDER.glob("*.jsonl"))


def test_the_defaults_hold_what_the_weights_weigh() -> None:
    """Each computed measure with a weight is among the defaults, so that no layer lacks one."""
    weighed = [name for weights in WEIGHTS.values() for name in weights]
    computed = [name for name in weighed if (kind := measure_class(name)) is not None and kind.computed]
    assert {*computed} <= {*DEFAULT_MEASURES}
    assert Config().default_measures() == list(DEFAULT_MEASURES)
    assert Config(weights={**WEIGHTS, "retrieval": {"P@7": 1.0}}).default_measures() == [*DEFAULT_MEASURES, "P@7"]


@pytest.mark.parametrize("run", RUNS, ids=lambda path: path.stem)
def test_overall_is_the_same_at_every_door(run: Path) -> None:
    """A notebook's scorecard and board, the command, the page and an agent's report weigh the same measures."""
    result = graphkit.evaluate(run)
    card = graphkit.score_layers(result)
    told = inside("evaluate", run, "--no-store", "--json", cwd=ROOT, code=0).object()
    assert list(result.measures) == list(told["measures"])
    assert told["scorecard"]["overall"] == pytest.approx(card.overall)
    with ExitStack() as spools:
        [page] = gather([run], spools, PageOptions()).runs
    assert page.card.overall == pytest.approx(card.overall)
    assert card.overall is not None
    assert f"{card.overall:.2f}" in graphkit.board(result)._repr_html_()
    agents = json.loads(Workspace(FOLDER.parent, None).report(f"runs/{run.name}"))
    assert agents["overall"] == pytest.approx(card.overall)
