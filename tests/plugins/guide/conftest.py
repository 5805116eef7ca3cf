"""The fixtures of the graph's tests."""

from tests.graph.conftest import dataset, empty_store

__all__ = ["dataset", "empty_store"]
