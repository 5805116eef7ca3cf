"""The reading of Cypher: what is taken off, the parts and their places, what isn't Cypher, and graphglot as a peer."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from graphkit.plugins.cypher.cypher_text import (
    CypherSyntaxError,
    GroupPattern,
    NodePattern,
    ParsedQuery,
    RelationshipPattern,
    cleaned,
    parsed,
)
from graphkit.plugins.cypher.expression_parts import compared_properties, comparisons, placed_literals, properties
from tests.helpers.suites import one_fast
from tests.plugins.cypher.random_queries import Drawing
from tests.plugins.cypher.test_provenance import FORMS, SEVEN


@pytest.mark.parametrize(
    ("text", "query", "taken"),
    [
        ("MATCH (n) RETURN n", "MATCH (n) RETURN n", ()),
        ("MATCH (n) RETURN n ; ", "MATCH (n) RETURN n", ("a semicolon at the end",)),
        ("```cypher\nMATCH (n) RETURN n\n```", "MATCH (n) RETURN n", ("a code fence",)),
        ("```\nMATCH (n) RETURN n", "MATCH (n) RETURN n", ("a code fence",)),
        ("```MATCH (n) RETURN n```", "MATCH (n) RETURN n", ("a code fence",)),
        (
            "Sure:\n```Cypher\nMATCH (n)\nRETURN n;\n```\nDone.",
            "MATCH (n)\nRETURN n",
            ("text around a code fence", "a code fence", "a semicolon at the end"),
        ),
        ("cypher\nMATCH (n) RETURN n", "MATCH (n) RETURN n", ("the word cypher before it",)),
        ("Cypher query: MATCH (n) RETURN n", "MATCH (n) RETURN n", ("the word cypher before it",)),
        ("CYPHER 5 MATCH (n) RETURN n", "CYPHER 5 MATCH (n) RETURN n", ()),
        ("MATCH (n) RETURN ';'", "MATCH (n) RETURN ';'", ()),
        ("", "", ()),
    ],
)
def test_what_models_write_around_a_query(text: str, query: str, taken: tuple[str, ...]) -> None:
    """Fences, the word cypher and semicolons are taken off and named; a query without them stays as it is."""
    assert cleaned(text) == (query, taken)


def test_parts_and_places() -> None:
    """Every part of a query has its place, by which it can be changed."""
    query = parsed(
        "MATCH p = (a:File|Table {id: 'x', `n m`: 2})<-[r:CALLS|READS*1..3]-(b) "
        "WHERE a.size >= 10 AND NOT b.id STARTS WITH 'w' AND (a.x = 1 OR b.y = 2) "
        "WITH DISTINCT b AS c, count(*) AS n ORDER BY n DESC, c.id SKIP 1 LIMIT $k WHERE n > 1 "
        "RETURN c.id"
    )
    match, passing, returning = query.clauses
    (path,) = match.patterns
    first, relation, last = path.parts
    assert isinstance(first, NodePattern)
    assert isinstance(relation, RelationshipPattern)
    assert isinstance(last, NodePattern)
    assert path.variable is not None
    assert path.variable.text == "p"
    assert [one.text for one in first.labels] == ["File", "Table"]
    assert query.at(first.labels_span or (0, 0)) == ":File|Table"
    assert [(one.name.text, one.literal and one.literal.value) for one in first.properties] == [("id", "x"), ("n m", 2)]
    assert query.at(relation.span) == "<-[r:CALLS|READS*1..3]-"
    assert (relation.direction, [one.text for one in relation.types]) == ("<-", ["CALLS", "READS"])
    assert relation.length is not None
    assert (relation.length.least, relation.length.most) == (1, 3)
    assert query.at(last.span) == "(b)"

    assert match.where is not None
    assert [(query.at(term.expression.span), term.negated) for term in match.where.terms] == [
        ("a.size >= 10", False),
        ("NOT b.id STARTS WITH 'w'", True),
        ("(a.x = 1 OR b.y = 2)", False),
    ]

    projection = passing.projection
    assert projection is not None
    assert projection.distinct_span is not None
    assert projection.aggregates
    assert [(item.name, query.at(item.expression.span)) for item in projection.items] == [("c", "b"), ("n", "count(*)")]
    assert [(query.at(sort.span), sort.descending) for sort in projection.order] == [("n DESC", True), ("c.id", False)]
    assert projection.page_span is not None
    assert query.at(projection.page_span) == "SKIP 1 LIMIT $k"
    assert passing.where is not None
    assert query.at(passing.where.span) == "WHERE n > 1"
    assert returning.projection is not None
    assert [item.name for item in returning.projection.items] == ["c.id"]
    assert not query.ordered

    turned = query.replaced((relation.span, "-[r:CALLS|READS*1..3]->"), (projection.distinct_span, ""))
    assert "-[r:CALLS|READS*1..3]->(b)" in turned
    assert "WITH  b AS c" in turned
    changed = parsed(turned)
    again = changed.clauses[0].patterns[0].parts[1]
    assert isinstance(again, RelationshipPattern)
    assert again.direction == "->"
    assert changed.clauses[1].projection is not None
    assert changed.clauses[1].projection.distinct_span is None


def test_order_writes_and_literals() -> None:
    """A result has an order by the last ORDER BY alone; writes are seen in subqueries too."""
    assert parsed("MATCH (a) RETURN a ORDER BY a.id").ordered
    assert not parsed("MATCH (a) WITH a ORDER BY a.id LIMIT 1 RETURN a").ordered
    assert parsed("MATCH (a) CALL (a) { CREATE (b) RETURN b } RETURN b").writes
    assert parsed("MATCH (n) SET n.x = 1").writes
    assert not parsed("MATCH (n) RETURN n.set, n.create AS delete").writes
    assert parsed("\\u0043REATE (n)").writes


def test_literals_wherever_they_stand() -> None:
    """Each with the property that it is compared with or that its map names; lengths and pages have none."""
    text = (
        "MATCH (a {id: 'i'})-[r:R*1..3]->(b)-[:S {w: -2}]-(c) WHERE a.x = -1.5 AND 'it\\'s' = a.y AND a.z = true "
        "AND a.w IN [1, null] AND a.v IS NOT NULL AND size([1, a]) > 0 AND a.list[7] - 8 < 9 "
        "AND toLower(a.t) CONTAINS toLower('T') AND b.`n m` STARTS WITH 's' "
        "WITH a, count(r) AS n ORDER BY n SKIP 4 LIMIT 5 WHERE n >= 6 "
        "UNWIND [] AS none RETURN CASE a.c WHEN 'c' THEN 10 ELSE date('2024-01-01') END, {key: 'k'} LIMIT 11"
    )
    query = parsed(text)
    found = placed_literals(query)
    assert [(one.literal.value, one.key) for one in found if one.kind != "list"] == [
        ("i", "id"),
        (-2, "w"),
        (-1.5, "x"),
        ("it's", "y"),
        (True, "z"),
        (1, "w"),
        (None, "w"),
        (1, None),
        (0, None),
        (7, None),
        (8, None),
        (9, None),
        ("T", None),
        ("s", "n m"),
        (6, None),
        ("c", None),
        (10, None),
        ("2024-01-01", None),
        ("k", "key"),
    ]
    lists = [
        (parsed(text).at(one.literal.span), one.key) for one in placed_literals(parsed(text)) if one.kind == "list"
    ]
    assert lists == [("[1, null]", "w"), ("[]", None)]


def test_comparisons_and_properties() -> None:
    """An arrow, the name of a path and the variable of a comprehension are no comparison, a map's key no property."""
    query = parsed(
        "MATCH p = (a)<-[r:R {w: 1}]-(b)-[s WHERE s.w >= 2]->(c) WHERE a.x starts  with 'x' AND NOT (a)-->(b) "
        "AND COUNT { (b)--() WHERE b.z <> 1 } > 3 AND any(one IN a.list WHERE one = 4) "
        "WITH a, [x IN a.l WHERE x IN [1] | x] AS l, {k: 1} AS m "
        "RETURN m.k, a.y < 5, apoc.text.join(l, ''), a {.name}"
    )
    assert [one.text for one in comparisons(query)] == [">=", "STARTS WITH", "<>", ">", "=", "IN", "<"]
    assert [query.at(one.span) for one in comparisons(query)][1] == "starts  with"
    assert [one.text for one in properties(query)] == ["w", "x", "z", "list", "l", "y"]
    assert [one.text for one in compared_properties(query)] == ["x", "z", "list"]


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("", "the query is empty", 1, 1),
        ("MATCH (n)\nRETURN n, (", "'(' isn't closed", 2, 11),
        ("MATCH (n]) RETURN n", "']' closes nothing", 1, 9),
        ("MATCH (n) RETURN 'n", "a text doesn't end", 1, 18),
        ("MATCH (n) /* RETURN n", "a comment doesn't end", 1, 11),
        ("SELECT * FROM files", "expected a clause, such as MATCH, found 'SELECT'", 1, 1),
        ("MATCH n RETURN n", "expected a node in parentheses, found 'n'", 1, 7),
        ("MATCH (n)-[:X](m) RETURN n", "expected the end of the pattern, found '-'", 1, 10),
        ("MATCH (n)-[:X]-> RETURN n", "expected a node, found 'RETURN'", 1, 18),
        pytest.param(
            f"MATCH (n)-[*{'9' * 5000}]->(m) RETURN n", "expected a whole number, found '999", 1, 13, id="digits"
        ),
        ("MATCH (n:) RETURN n", "expected a label or type, found ')'", 1, 10),
        ("MATCH (n) RETURN", "expected a column, found the end", 1, 17),
        ("MATCH (n) RETURN n; MATCH (m) RETURN m", "several statements: graphkit reads one", 1, 19),
        ("RETURN 1 AS a UNION RETURN 2 AS a UNION ALL RETURN 3 AS a", "UNION and UNION ALL are mixed", 1, 35),
        ("MATCH (n) RETURN \\u0027x\\u0027", "an escape stands for a sign that changes where a text ends", 1, 18),
        ("RETURN " + "(" * 70 + "1" + ")" * 70, "brackets are nested more than 60 deep", 1, 68),
    ],
)
def test_what_is_no_cypher(text: str, message: str, line: int, column: int) -> None:
    """An error says what is wrong, and where."""
    with pytest.raises(CypherSyntaxError) as caught:
        parsed(text)
    assert caught.value.message.startswith(message)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_nested_patterns_take_no_exponential_time() -> None:
    """Fifty subqueries within each other are read at once: what is nested is read once."""
    text = "MATCH (a) WHERE " + "EXISTS { MATCH (a)-->(b) WHERE " * 50 + "a.x = 1 AND b.x = 1" + " }" * 50 + " RETURN a"
    assert len(list(parsed(text).paths())) == 51


# graphglot reads the same patterns


def _mine(query: ParsedQuery) -> Counter[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for path in query.paths():
        for element in path.elements():
            name = element.variable.text if element.variable is not None else None
            if isinstance(element, NodePattern):
                found.append(("node", name, *sorted(one.text for one in element.labels)))
            else:
                found.append((element.direction, name, *sorted(one.text for one in element.types)))
    return Counter(found)


def _peer(tree: Any) -> Iterator[tuple[Any, ...]]:
    """The nodes and relationships of a tree of graphglot."""
    from graphglot import ast

    directions = {
        "FullEdgePointingLeft": "<-",
        "FullEdgePointingRight": "->",
        "FullEdgeAnyDirection": "--",
        "LEFT_ARROW": "<-",
        "RIGHT_ARROW": "->",
        "MINUS_SIGN": "--",
    }
    for part in tree.dfs():
        kind = type(part).__name__
        if kind == "AbbreviatedEdgePattern":
            yield (directions[part.pattern.name], None)
        elif kind == "NodePattern" or kind in directions:
            filler = part.element_pattern_filler
            declared = filler.element_variable_declaration
            labels = filler.is_label_expression
            names = [] if labels is None else [one.identifier.name for one in labels.find_all(ast.LabelName)]
            name = None if declared is None else declared.element_variable.name
            yield (directions.get(kind, "node"), name, *sorted(names))


@one_fast("count", [5, 300], "graphglot takes a quarter of a second for a query")
def test_graphglot_reads_the_same_patterns(count: int) -> None:
    """What graphglot, a parser by others, reads of a query agrees in every node, relationship, label and direction."""
    from graphglot.dialect.base import Dialect
    from graphglot.error import GraphGlotError

    dialect = Dialect.get_or_raise("neo4j")
    drawing = Drawing(random.Random(7))
    texts = [drawing.whole().text() for _ in range(count)]
    texts += [cypher for cypher, _ in SEVEN[:3]] if count < 10 else [cypher for cypher, *_ in FORMS.values()]
    read = 0
    for text in texts:
        query = parsed(text)
        if any(isinstance(part, GroupPattern) for path in query.paths() for part in path.parts):
            continue
        try:
            (tree,) = dialect.parse(text)
        except GraphGlotError:  # it lacks WITH *, x and COUNT {}, among others
            continue
        read += 1
        assert _mine(query) == Counter(_peer(tree)), text
    assert read > len(texts) * 0.6
