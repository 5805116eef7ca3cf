"""The fixtures of the tests of loading: what is cared for was loaded."""

from tests.graph.conftest import dataset as dataset
