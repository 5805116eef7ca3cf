"""The declaration of the graph: each property is written somewhere, each index belongs to what it is of.

That all that a load writes is declared, and that look-ups use the indexes, is in tests/scoring/test_named_queries.py.
"""

from __future__ import annotations

import re

from graphkit.graph.queries import schema_statements
from tests.helpers import ROOT
from tests.helpers.graph_schema import graph_schema

SCHEMA = (ROOT / "cypher" / "schema.cypher").read_text()


def test_everything_declared_is_written() -> None:
    """Each declared property is one that a query of loading, or a row for one, names."""
    sources = [*(ROOT / "cypher" / "load").glob("*.cypher"), *(ROOT / "graphkit" / "graph").glob("*.py")]
    sources += (ROOT / "graphkit" / "plugins").glob("*/*_nodes.py")
    sources.append(ROOT / "graphkit" / "records" / "usage.py")
    written = "\n".join(path.read_text() for path in sources)
    for one in graph_schema():
        if not one.starts:
            assert re.search(rf":{one.name}\b|\"{one.name}\"", written), one.name
        for each in one.properties:
            name = each.name
            assert re.search(rf"\.{name} = |\b{name}: |\"{name}\"|\b{name}=", written), (one.name, name)


def test_every_statement_belongs_to_a_declaration() -> None:
    """Each constraint and index stands below its label or type, and is of properties that are declared."""
    statements = [text for text in schema_statements() if not text.startswith("DROP ")]  # of former versions
    assert all(text.startswith("CREATE ") for text in statements)
    elements = graph_schema()
    assert sum(len(one.keys) + len(one.indexes) for one in elements) == len(statements)
    for one in elements:
        names = {each.name for each in one.properties}
        assert len(names) == len(one.properties), one.name
        assert {name for some in [*one.keys, *one.indexes] for name in some} <= names, one.name
    for section in re.split(r"\n(?=// \(:)", SCHEMA)[1:]:
        [name, *others] = re.findall(r"^// .*?\[:(\w+)\]|^// \(:(\w+)\)", section, re.MULTILINE)[0]
        own = name or others[0]
        assert {*re.findall(r"FOR (?:\(\)-\[)?\(?\w+:(\w+)", section)} <= {own}, section
    # No line of a declaration is one that the table would lack.
    lines = [line for line in SCHEMA.splitlines() if re.match(r"// +\(|//  ", line)]
    assert len(lines) == len(elements) + sum(len(one.properties) for one in elements)
