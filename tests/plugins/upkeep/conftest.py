"""The fixtures of the tests of loading: what is cared for was loaded."""

from tests.graph.conftest import dataset as dataset
from tests.graph.conftest import empty_store as empty_store
