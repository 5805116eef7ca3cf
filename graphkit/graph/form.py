"""The form of what graphkit writes into the graph."""

from __future__ import annotations

#: The number of the form. What was written in another form counts as changed, and is loaded anew.
FORM = "10"

#: A digest of cypher/schema.cypher, cypher/load/ and rows.py: the test that compares it says what a change of it asks.
FORM_DIGEST = "b261f6faa78e568a9392f49255a6f3da"
