"""Databases that hold every run on which the engines are compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import graphkit
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.scoring.cypher_scoring import score_run
from tests.helpers import FAST, engines
from tests.helpers.datasets import STOREFRONT, find_data, generate, without_graph
from tests.helpers.engines import ENGINES, NEWEST
from tests.scoring.compared_runs import MEASURED, SEEDS, Run, Values, loaded, values


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Every run: of storefront, of pallets without its knowledge graph, and of datasets that tests write."""
    folder = tmp_path_factory.mktemp("datasets")
    real = None if FAST else find_data("pallets")
    datasets = [STOREFRONT] if real is None else [STOREFRONT, without_graph(real, folder)]
    datasets += [generate(folder, seed) for seed in SEEDS]
    return [Run(dataset, file) for dataset in datasets for file in sorted((dataset / "runs").glob("*.jsonl"))]


@pytest.fixture(scope="module")
def embedded_store(embedded_dir: Path, runs: list[Run]) -> Iterator[Store]:
    """The embedded database with every run."""
    yield from loaded(Settings(data=embedded_dir), runs)


@pytest.fixture(scope="module")
def neo4j_store(neo4j_server: engines.Neo4jServer, runs: list[Run]) -> Iterator[Store]:
    """A real Neo4j with every run."""
    yield from loaded(neo4j_server.settings, runs)


@pytest.fixture(scope="module")
def newest_neo4j_store(newest_neo4j_server: engines.Neo4jServer, runs: list[Run]) -> Iterator[Store]:
    """The newest Neo4j with every run."""
    yield from loaded(newest_neo4j_server.settings, runs)


@pytest.fixture(scope="module", params=[*ENGINES, NEWEST])
def full_store(request: pytest.FixtureRequest) -> Store:
    """Each database in turn, with every run."""
    store: Store = request.getfixturevalue(f"{request.param}_store")
    return store


@pytest.fixture(scope="module")
def scored(runs: list[Run]) -> dict[Run, graphkit.Evaluation]:
    """What the Python engine gives for each run, without a database."""
    return {run: graphkit.evaluate(run.file, run.dataset, measures=MEASURED) for run in runs}


@pytest.fixture(scope="module")
def by_python(scored: dict[Run, graphkit.Evaluation]) -> dict[Run, Values]:
    """The values that the Python engine gives each question of each run."""
    return {run: values(result) for run, result in scored.items()}


@pytest.fixture(scope="module")
def by_cypher(full_store: Store, runs: list[Run]) -> dict[Run, graphkit.Evaluation]:
    """What the Cypher engine gives for each run, on each database in turn."""
    return {run: score_run(full_store, run.dataset.name, run.name, MEASURED) for run in runs}
