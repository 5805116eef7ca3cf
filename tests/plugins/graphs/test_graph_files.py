"""Graphs in files become the artifacts and edges of a dataset: GraphML, node-link JSON, and tables."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import networkx
import pytest

import graphkit as package
from graphkit.errors import InputError
from graphkit.files.jsonl import create_binary, raw_lines
from graphkit.files.problems import Problems
from graphkit.plugins.graphs.graph_records import AT_SKIPPED, NO_RECORD, UNNAMED
from tests.helpers.cli import inside, tiny
from tests.helpers.datasets import read_jsonl

X, Y, Z, W = "a:m.py#x", "a:m.py#y", "b:n.py#z", "a:m.py#w"

GRAPHML = """<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="kind" attr.type="string"><default>function</default></key>
  <key id="d1" for="edge" attr.name="relation" attr.type="string"/>
  <key id="d2" for="node" attr.name="line" attr.type="int"/>
  <graph edgedefault="directed">{}</graph>
</graphml>
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The dataset whose gold is x -CALLS-> y -CALLS-> z and x -CALLS-> w."""
    tiny(tmp_path / "data")
    return tmp_path / "data"


def records(data: Path, graph: str = "") -> tuple[list[dict[str, Any]], list[tuple[str, str, str]]]:
    """Return the artifacts and the edges that were written, in their order."""
    ending = f"-{graph}" if graph else ""
    edges = read_jsonl(data / f"edges{ending}.jsonl")
    return read_jsonl(data / f"artifacts{ending}.jsonl"), [(e["source"], e["relation"], e["target"]) for e in edges]


def write(path: Path, text: str) -> Path:
    """Write a file as it is."""
    path.write_text(text, encoding="utf-8")
    return path


def test_graphml(data: Path, tmp_path: Path) -> None:
    """Keys, defaults and ends are read; an edge may stand before its nodes, and what the id says isn't repeated."""
    text = GRAPHML.format(
        f'<edge source="{X}" target="{Y}"><data key="d1">CALLS</data></edge>'
        f'<node id="{X}"><data key="d2">7</data></node><node id="{Y}"><data key="d0">class</data></node>'
        f'<edge source="{Y}" target="{Z}"><data key="d1">USES &amp; reads</data></edge><node id="{Z}"/>'
    )
    made = package.import_graph(data, write(tmp_path / "g.graphml", text))
    artifacts, edges = records(data)
    assert artifacts == [
        {"id": X, "kind": "function", "line": 7},
        {"id": Y, "kind": "class"},
        {"id": Z, "kind": "function"},
    ]
    assert sorted(edges) == [(X, "CALLS", Y), (Y, "USES & reads", Z)]
    # Gold: x -> y is there; y -> z by another relation; x -> w not; of x, y, z, w three ids.
    assert made.figures["gold"]["edges"] == {"all": 3, "forward": 1, "reversed": 0, "other": 1, "unknown": 1}
    assert made.figures["gold"]["ids"] == {"all": 4, "known": 3}
    assert (made.artifacts, made.edges, made.figures["relations"]) == (3, 2, {"CALLS": 1, "USES & reads": 1})
    assert "gold: 1 of 3 edges are in it, 0 reversed, 1 by another relation, 1 not; 3 of 4 ids" in made.summary


def test_graphml_as_networkx_reads_it(data: Path, tmp_path: Path) -> None:
    """A file of networkx is read as networkx reads it, with hostile names and a multigraph's parallel edges."""
    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    names = [X, Y, "a:ü/<&>\"'.py", "a:]]>.py"]
    graph.add_nodes_from(names, kind="function")
    for source, target, relation in [(0, 1, "CALLS"), (0, 1, "USES"), (2, 3, "läuft & <b>"), (3, 3, "CALLS")]:
        graph.add_edge(names[source], names[target], relation=relation)
    path = tmp_path / "g.graphml"
    networkx.write_graphml(graph, path)
    package.import_graph(data, path)
    artifacts, edges = records(data)
    peer = networkx.read_graphml(path)
    assert [one["id"] for one in artifacts] == list(peer.nodes)
    assert sorted(edges) == sorted((s, d["relation"], t) for s, t, d in peer.edges(data=True))


def test_made_up_ids_of_a_file(data: Path, tmp_path: Path) -> None:
    """If a file numbers its nodes (APOC, yEd), a property names them; APOC's labels are the kind."""
    text = GRAPHML.format(
        '<node id="n0" labels=":Function:__Old__"><data key="qname">a:m.py#x</data></node>'
        '<node id="n1"><data key="y"><y:Shape><y:NodeLabel> b:n.py#z </y:NodeLabel></y:Shape></data></node>'
        '<edge id="e0" source="n0" target="n1" label="CALLS"><data key="label">CALLS</data></edge>'
    )
    made = package.import_graph(data, write(tmp_path / "g.graphml", text))
    artifacts, edges = records(data)
    assert [one["id"] for one in artifacts] == [X, Z]
    assert edges == [(X, "CALLS", Z)]
    assert made.figures["ids"] == {"by the property qname": 1, "by the property label": 1}


BOMB = "<!DOCTYPE g [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;'>]>"
OUTSIDE = "<!DOCTYPE g [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>"
PARAMETER = "<!DOCTYPE g [<!ENTITY % a SYSTEM 'http://127.0.0.1:1/x'> %a;]>"


@pytest.mark.parametrize("declaration", [BOMB, OUTSIDE, PARAMETER], ids=["bomb", "outside", "parameter"])
def test_entities_are_refused(declaration: str, data: Path, tmp_path: Path) -> None:
    """No entity is expanded and no file opened: a file that declares one is refused with its line."""
    body = f'<node id="{X}"><data key="d0">&a;</data></node>' if "%" not in declaration else ""
    text = GRAPHML.format(body).replace("<graphml", f"{declaration}\n<graphml", 1)
    with pytest.raises(InputError, match="declares an entity") as caught:
        package.import_graph(data, write(tmp_path / "g.graphml", text))
    assert caught.value.where == f"{tmp_path / 'g.graphml'}:2"
    assert not (data / "edges.jsonl").exists()


@pytest.mark.parametrize(
    ("text", "reported", "line"),
    [
        ("<gexf><node/></gexf>", "begins with <gexf>", ""),
        ("<graphml>\n<graph>\n<node id='a'>\n</graph></graphml>", "isn't XML: mismatched tag", ":4"),
        ("<graphml>\n<graph>", "isn't XML", ":2"),
    ],
)
def test_other_xml(text: str, reported: str, line: str, data: Path, tmp_path: Path) -> None:
    """Another format is named, and damage reported with its line."""
    with pytest.raises(InputError, match=reported) as caught:
        package.import_graph(data, write(tmp_path / "g.xml", text))
    assert caught.value.where == f"{tmp_path / 'g.xml'}{line}"


@pytest.mark.slow("a file of many nodes")
def test_large_graphml_in_little_memory(data: Path, tmp_path: Path) -> None:
    """Edges pass by: 40 000 of them take less than 6 MB beyond the artifacts that they are between."""
    path = tmp_path / "g.graphml"
    with path.open("w") as file:
        begin, end = GRAPHML.split("{}")
        file.write(begin)
        for number in range(200):
            file.write(f'<node id="a:{number}.py"/>')
        for number in range(40_000):
            file.write(
                f'<edge source="a:{number // 200}.py" target="a:{number % 200}.py"><data key="d1">CALLS</data></edge>\n'
            )
        file.write(end)
    tracemalloc.start()
    made = package.import_graph(data, path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (made.artifacts, made.edges) == (200, 40_000)
    assert peak < 6e6


@pytest.mark.parametrize("spelling", ["links", "edges"])
def test_node_link(spelling: str, data: Path, tmp_path: Path) -> None:
    """Both spellings of networkx are read; the key of a multigraph is a relation where it is a text."""
    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    graph.add_node(X, kind="function", line=3, commit="c1")
    graph.add_edge(X, Y, key="CALLS")
    graph.add_edge(Y, Z, relation="USES", weight=2)
    path = write(tmp_path / "g.json", json.dumps(networkx.node_link_data(graph, edges=spelling)))
    made = package.import_graph(data, path)
    artifacts, edges = records(data)
    assert artifacts[0] == {"id": X, "kind": "function", "commit": "c1", "line": 3}
    assert edges == [(X, "CALLS", Y), (Y, "USES", Z)]
    # The key of the second edge is the number 0.
    assert made.figures["unread"] == {"weight of edges": 1, "key of edges": 1}


def test_node_link_of_numbers(data: Path, tmp_path: Path) -> None:
    """Numbered nodes are named by a property, --columns names other keys, and an undirected graph is reported."""
    value = {
        "directed": False,
        "nodes": [{"id": 0, "title": X}, {"id": 1, "title": Y}],
        "links": [{"from": 0, "what": "CALLS", "to": 1}],
    }
    path = write(tmp_path / "g.json", json.dumps(value))
    made = package.import_graph(data, path, columns=("from", "what", "to"))
    assert records(data) == ([{"id": X}, {"id": Y}], [(X, "CALLS", Y)])
    assert [note for note in made.figures["notes"] if "without a direction" in note]
    with pytest.raises(InputError, match="no column 'form'") as caught:
        package.import_graph(data, path, columns=("form", "what", "to"), replace=True)
    assert "Did you mean from?" in str(caught.value)


def test_json_that_is_no_graph(data: Path, tmp_path: Path) -> None:
    """Another object is refused with what it has instead."""
    with pytest.raises(InputError, match="it has elements, style"):
        package.import_graph(data, write(tmp_path / "g.json", '{"elements": [], "style": []}'))


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_a_table_of_edges(delimiter: str, data: Path, tmp_path: Path) -> None:
    """Columns are known by common names, cells may hold ends of lines, and ids are kept as they are."""
    rows = [["subject", "predicate", "object"], [X, "CALLS", Y], [X, '"two\nlines"', "a:ö.py"], [X, "CALLS", Y]]
    text = "\ufeff" + "".join(delimiter.join(row) + "\r\n" for row in rows)
    made = package.import_graph(data, write(tmp_path / "g.csv", text))
    artifacts, edges = records(data)
    assert edges == [(X, "CALLS", Y), (X, "two\nlines", "a:ö.py")]
    assert artifacts == [{"id": X}, {"id": Y}, {"id": "a:ö.py"}]
    assert made.figures["notes"] == {"repeated edges, each written once": 1}


def test_tables_of_nodes_and_edges(data: Path, tmp_path: Path) -> None:
    """The nodes give the edges their names, whichever file comes first; a table with starts and ends is of nodes."""
    nodes = write(tmp_path / "nodes.csv", f"id,qname,type,start,end\n1,{X},function,4,9\n2,{Y},function,,\n")
    edges = write(tmp_path / "edges.csv", "from,to,how\n1,2,CALLS\n2,7,CALLS\n")
    package.import_graph(data, [edges, nodes], columns=("from", "how", "to"), id_property="qname")
    artifacts, found = records(data)
    assert artifacts == [{"id": X, "kind": "function"}, {"id": Y, "kind": "function"}, {"id": "7"}]
    assert found == [(X, "CALLS", Y), (Y, "CALLS", "7")]


def test_headers_of_neo4j_admin(data: Path, tmp_path: Path) -> None:
    """:ID, :START_ID, :END_ID, :TYPE and :LABEL say what the columns are; ids count within their space."""
    one = write(
        tmp_path / "f.csv",
        ":ID(F),qname,line:int,:LABEL,x:IGNORE,alias:string[]\n"
        f"1,{X},5,Function;Old,-,ex; the x;ex\n2,{Y},,Function,-,\n",
    )
    two = write(tmp_path / "t.csv", f"nr:ID(T),qname,:LABEL\n1,{Z},Table\n")
    edges = write(tmp_path / "e.csv", ":START_ID(F),:END_ID(T),:TYPE\n1,1,READS\n2,1,READS\n")
    package.import_graph(data, [one, two, edges])
    artifacts, found = records(data)
    assert artifacts == [
        {"id": X, "kind": "Function:Old", "line": 5, "aliases": ["ex", "the x"]},
        {"id": Y, "kind": "Function"},
        {"id": Z, "kind": "Table"},
    ]
    assert found == [(X, "READS", Z), (Y, "READS", Z)]


def test_a_table_without_relations(data: Path, tmp_path: Path) -> None:
    """Edges that say no relation are refused with the way to give one, and get it by it."""
    path = write(tmp_path / "g.csv", f"source,target,weight\n{X},{Y},1\n")
    with pytest.raises(InputError, match="edges without a relation") as caught:
        package.import_graph(data, path)
    assert "--relation" in str(caught.value)
    package.import_graph(data, path, relation="LINKED")
    assert records(data)[1] == [(X, "LINKED", Y)]


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        (f"{X}\tCALLS\t{Y}\n{Y}\tCALLS\t{Z}\n", [(X, "CALLS", Y), (Y, "CALLS", Z)]),
        (f"{X},calls,{Y}\n{Y},calls,{Z}\n", [(X, "calls", Y), (Y, "calls", Z)]),  # it stands in another row, too
        (f"{X}\tCALLS\t{Y}\n", [(X, "CALLS", Y)]),
    ],
)
def test_triples_without_a_header(text: str, edges: list[tuple[str, str, str]], data: Path, tmp_path: Path) -> None:
    """The first line is an edge like the others."""
    package.import_graph(data, write(tmp_path / "g.tsv", text))
    assert records(data)[1] == edges


@pytest.mark.parametrize("header", ["FILE,KIND,OWNER", "file,kind,owner"])
def test_a_table_of_nodes_is_no_triples(header: str, data: Path, tmp_path: Path) -> None:
    """Names of columns in capitals are no relation."""
    with pytest.raises(InputError, match="no edge"):
        package.import_graph(data, write(tmp_path / "g.csv", f"{header}\n{X},file,web\n"))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("# a\n# b\ngraph [\n  directed 1\n]\n", None),  # GML has no such comments
        ('Creator "x"\nVersion 1\ngraph\n[\n node [ id 1 ] ]\n', "GML"),
        ("// c\nstrict digraph G {\n a -> b;\n}\n", "DOT"),
        ("PREFIX x: <http://x/>\nx:a x:b x:c .\n", "Turtle"),
        ('# c\n_:a <http://x/b> "c" .\n', "N-Triples"),
        ("// c\nCREATE (a:File {id: 'x'});\n", "Cypher"),
        ("call id,source,target\n1,a,b\n", None),
        ("# " * 20_000, None),
        ("#\n" * 20_000, None),
    ],
)
def test_forms_that_are_not_read(text: str, form: str | None, data: Path, tmp_path: Path) -> None:
    """A form is refused by its name, and anything else for another reason."""
    with pytest.raises(InputError) as refused:
        package.import_graph(data, write(tmp_path / "g.txt", text))
    assert (f"{form} isn't read" in refused.value.what) is (form is not None)


def test_ids_that_are_numbers_are_no_places(data: Path, tmp_path: Path) -> None:
    """Nodes whose ids are 0 and 1 are meant by these, also in another order than that of the list."""
    nodes = [{"id": 1, "name": Y}, {"id": 0, "name": X}]
    graph = {"nodes": nodes, "links": [{"source": 0, "target": 1, "type": "CALLS"}]}
    package.import_graph(data, write(tmp_path / "g.json", json.dumps(graph)))
    assert records(data)[1] == [(X, "CALLS", Y)]


def test_unknown_columns(data: Path, tmp_path: Path) -> None:
    """A column that isn't there is reported with the closest one."""
    path = write(tmp_path / "g.csv", f"caller,kind,callee\n{X},CALLS,{Y}\n")
    for columns in (("caler", "kind", "callee"), ("caler", "sort", "cale")):
        with pytest.raises(InputError, match=r"no .*column 'caler'") as caught:
            package.import_graph(data, path, columns=columns)
        assert "Did you mean caller?" in str(caught.value)
    package.import_graph(data, path, columns=("caller", "kind", "callee"))
    assert records(data)[1] == [(X, "CALLS", Y)]


def test_ids_by_table_and_pattern(data: Path, tmp_path: Path) -> None:
    """Names of another form become ids as in logs; what isn't in the table is made by the pattern."""
    path = write(tmp_path / "g.csv", "source,relation,target\na.m.x,CALLS,a.m.y\na.m.x,CALLS,a.m.w\n")
    pattern = r"(?P<r>\w)\.(?P<f>\w)\.(?P<s>\w) => {r}:{f}.py#{s}"
    made = package.import_graph(data, path, ids={"a.m.w": "elsewhere"}, id_pattern=pattern, commits={"a": "c1"})
    assert made.figures["names"] == {"by the pattern": 2, "by the table": 1}
    artifacts, edges = records(data)
    assert edges == [(X, "CALLS", Y), (X, "CALLS", "elsewhere")]
    assert artifacts == [{"id": X, "commit": "c1"}, {"id": Y, "commit": "c1"}, {"id": "elsewhere"}]


def test_ids_that_the_gold_does_not_know(data: Path, tmp_path: Path) -> None:
    """If no id of the gold is in the graph, an example of either side tells how they differ."""
    made = package.import_graph(data, write(tmp_path / "g.csv", "source,relation,target\nM.X,CALLS,M.Y\n"))
    assert made.summary[-1].startswith(
        "hardly any id of the gold is in the graph: the gold has 'a:m.py#w', the graph has"
    )
    assert made.figures["gold"]["ids"] == {"all": 4, "known": 0}


def test_two_nodes_of_one_id(data: Path, tmp_path: Path) -> None:
    """Two nodes of one name are refused, unless one said by what nodes are named: then the first is kept."""
    nodes = [{"id": number, "name": "main", "path": f"{number}.py"} for number in (1, 2)]
    value = {"nodes": nodes, "edges": [{"source": 1, "target": 2, "relation": "CALLS"}]}
    path = write(tmp_path / "g.json", json.dumps(value))
    with pytest.raises(InputError, match="two nodes have the id 'main'") as caught:
        package.import_graph(data, path)
    assert "(there are: id, name, path)" in str(caught.value)
    made = package.import_graph(data, path, id_property="name")
    assert records(data) == ([{"id": "main", "path": "1.py"}], [("main", "CALLS", "main")])
    assert made.figures["left_out"] == {"nodes with the id of an earlier node, which is kept": 1}
    package.import_graph(data, path, id_property="path", replace=True)
    assert records(data)[1] == [("1.py", "CALLS", "2.py")]
    with pytest.raises(InputError, match="no node has the property 'nam'") as caught:
        package.import_graph(data, path, id_property="nam", replace=True)
    assert "Did you mean name?" in str(caught.value)


def test_names_that_no_record_holds(data: Path, tmp_path: Path) -> None:
    """A name that is too long or half a character is left out and reported, with what hangs on it."""
    long = "a:" + "x" * 1000
    value = {
        "nodes": [{"id": long}, {"id": X}, {"id": Y}, {"id": ["a", 1]}],
        "edges": [
            {"source": X, "target": long, "relation": "CALLS"},
            {"source": X, "target": Y, "relation": "y" * 1001},
            {"source": X, "target": Y, "relation": "CALLS"},
        ],
    }
    made = package.import_graph(data, write(tmp_path / "g.json", json.dumps(value)))
    assert records(data) == ([{"id": X}, {"id": Y}], [(X, "CALLS", Y)])
    assert made.figures["left_out"] == {NO_RECORD: 2, AT_SKIPPED: 1, UNNAMED: 1}


def test_nothing_is_overwritten_in_silence(data: Path, tmp_path: Path) -> None:
    """A knowledge graph that is there stays unless it is to be replaced; another one stands beside it."""
    path = write(tmp_path / "g.csv", f"source,relation,target\n{X},CALLS,{Y}\n")
    (data / "edges.jsonl").write_text("mine\n")
    with pytest.raises(InputError, match="already has this knowledge graph") as caught:
        package.import_graph(data, path)
    assert "--replace" in str(caught.value)
    assert not (data / "artifacts.jsonl").exists()
    package.import_graph(data, path, graph="v2")
    assert records(data, "v2")[1] == [(X, "CALLS", Y)]
    assert (data / "edges.jsonl").read_text() == "mine\n"
    package.import_graph(data, path, replace=True)
    assert records(data)[1] == [(X, "CALLS", Y)]


def test_nothing_is_left_of_a_failed_import(data: Path, tmp_path: Path) -> None:
    """A file that is cut short in the middle leaves both files as they were."""
    good = write(tmp_path / "good.csv", f"source,relation,target\n{X},CALLS,{Y}\n")
    package.import_graph(data, good)
    before = {path.name: path.read_bytes() for path in data.iterdir() if path.is_file()}
    bad = write(tmp_path / "bad.csv", "source,relation,target\n" + "a,b,c\n" * 50_000 + '"open,b,c\n')
    with pytest.raises(InputError, match="can't be read as CSV"):
        package.import_graph(data, bad, replace=True)
    assert {path.name: path.read_bytes() for path in data.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_compressed_as_the_dataset_is(suffix: str, data: Path, tmp_path: Path) -> None:
    """The files of a compressed dataset are compressed, and a compressed graph is read."""

    def pack(path: Path, content: bytes) -> None:
        with create_binary(path) as file:
            file.write(content)

    pack(data / f"questions.jsonl{suffix}", (data / "questions.jsonl").read_bytes())
    (data / "questions.jsonl").unlink()
    pack(tmp_path / f"g.csv{suffix}", f"source,relation,target\n{X},CALLS,{Y}\n".encode())
    made = package.import_graph(data, tmp_path / f"g.csv{suffix}")
    assert (made.artifacts_file.name, made.edges_file.name) == (f"artifacts.jsonl{suffix}", f"edges.jsonl{suffix}")
    [edge] = package.Dataset(data).edges(made.edges_file, Problems())
    assert (edge.source, edge.relation, edge.target) == (X, "CALLS", Y)
    assert list(raw_lines(made.artifacts_file)) == [b'{"id":"%s"}' % X.encode(), b'{"id":"%s"}' % Y.encode()]


def test_the_graph_comes_before_the_questions(tmp_path: Path) -> None:
    """A folder without questions takes a graph, and what becomes a dataset later is checked against it."""
    (tmp_path / "new").mkdir()
    write(tmp_path / "g.csv", f"source,relation,target\n{X},CALLS,{Y}\n")
    words = ("import", "graph", "g.csv", "--dataset", "new")
    reported = inside(*words, cwd=tmp_path, code=0)
    assert "1 edge: CALLS (1)\n" in reported.out
    assert "gold" not in reported.out
    assert records(tmp_path / "new") == ([{"id": X}, {"id": Y}], [(X, "CALLS", Y)])
    figures = inside(*words, "--graph", "b", "--json", cwd=tmp_path, code=0).object()
    assert figures["gold"]["edges"]["all"] == figures["gold"]["ids"]["all"] == 0
    assert "already has this knowledge graph" in inside(*words, cwd=tmp_path, code=2).err
    assert "no such folder" in inside(*words[:-1], "none", cwd=tmp_path, code=2).err
    # Other commands still need questions.
    assert "holds no questions.jsonl" in inside("check", "new", cwd=tmp_path, code=2).err


def test_where_a_graph_comes_from(data: Path, tmp_path: Path) -> None:
    """A graph comes from files or from a database, which is read by a query."""
    path = write(tmp_path / "g.csv", f"source,relation,target\n{X},CALLS,{Y}\n")
    with pytest.raises(InputError, match="no graph to import"):
        package.import_graph(data)
    with pytest.raises(InputError, match="not from both"):
        package.import_graph(data, path, uri="bolt://127.0.0.1:1", query="RETURN 1")
    with pytest.raises(InputError, match="read by a query"):
        package.import_graph(data, uri="bolt://127.0.0.1:1")
    with pytest.raises(InputError, match="aren't read by a query"):
        package.import_graph(data, path, query="RETURN 1")
    with pytest.raises(InputError, match="the graph has no edge") as caught:
        package.import_graph(data, write(tmp_path / "nodes.csv", f"id,kind\n{X},function\n"))
    assert "a file of edges beside" in str(caught.value)
