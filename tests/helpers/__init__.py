"""The shared parts of tests: small worlds, command lines, databases and servers."""

import os
from pathlib import Path

#: The checkout.
ROOT = Path(__file__).resolve().parents[2]
#: Whether this is the fast suite.
FAST = os.environ.get("GRAPHKIT_TESTS") == "fast"
