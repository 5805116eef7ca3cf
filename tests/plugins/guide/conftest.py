"""The fixtures of the tests of loading."""

from tests.graph.conftest import dataset as dataset
