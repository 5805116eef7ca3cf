"""Paths written as text: ``A -CALLS-> B -IMPORTS-> C``, also as Cypher, and as spreadsheets change their arrows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Any, Literal

#: A dash, also one that a spreadsheet made of hyphens, and the heads of arrows that one makes: those of Unicode that
#: point right or left, and those of Wingdings, which Word uses.
_DASH = "\\-\u2010-\u2015\u2212"
_HEAD = (
    "\u2192\u219d\u21a0\u21a3\u21a6\u21aa\u21ac\u21c9\u21d2\u21db\u21dd\u21e2\u21e5\u21e8\u21f0\u21f6\u21fe\u2794"
    "\u2799\u279b-\u27a4\u27a7-\u27a9\u27ab-\u27af\u27b1-\u27b3\u27b5\u27b8\u27ba-\u27be\u27f6\u27f9\u27fc\u27fe\u27ff"
    "\u2b62\u2b95\u2b9e\U0001f802\U0001f806\U0001f80a\U0001f812\U0001f816\U0001f81a\U0001f81e\U0001f852\U0001f862"
    "\U0001f86a\U0001f872\uf0e0\uf0e8"
)
_TAIL = (
    "\u2190\u219c\u219e\u21a2\u21a4\u21a9\u21ab\u21c7\u21d0\u21da\u21dc\u21e0\u21e4\u21e6\u21fd\u27f5\u27f8\u27fb\u27fd"
    "\u2b05\u2b60\u2b9c\U0001f800\U0001f804\U0001f808\U0001f810\U0001f814\U0001f818\U0001f81c\U0001f850\U0001f860"
    "\U0001f868\U0001f870\uf0df\uf0e7"
)
#: Every arrow of Unicode, also those that point up, both ways or nowhere.
_ARROWS = (
    f"\u2190-\u21ff\u2794\u2798-\u27be\u27f0-\u27ff\u2900-\u297f\u2b00-\u2b11\u2b30-\u2b4f\u2b5a-\u2bb9"
    f"\U0001f800-\U0001f8ff{_HEAD}{_TAIL}"
)
_ONE, _LONG = f"[{_DASH}]", f"[{_DASH[2:]}]"
_LINE, _MAYBE = f"{_ONE}{{1,4}}", f"{_ONE}{{0,4}}"
_TO, _FROM = f"(?:{_LINE}>|{_MAYBE}[{_HEAD}])", f"(?:<{_LINE}|[{_TAIL}]{_MAYBE})"
_WORDS = rf"[^\s<>\[\](){_DASH}{_HEAD}{_TAIL}][^<>\[\]{_HEAD}{_TAIL}]{{0,100}}?"
_INSIDE = r"\[(?P<{}>[^\[\]]{{1,200}})\]"
#: What stands before and after an arrow that has no relation in capitals or brackets.
_BEFORE, _AFTER = r"(?:\s|(?<=[\])]))", r"(?:\s|(?=[\[(]))"

#: An arrow. Without spaces around it, only a relation in capitals or brackets, a head that no name contains, or an id
#: with a repository or a folder behind it tells it from a name with hyphens.
_ARROW = re.compile(
    rf"{_FROM}{_INSIDE.format('back_in')}{_LINE}"
    rf"|{_LINE}{_INSIDE.format('in')}{_TO}"
    rf"|{_FROM}(?P<back_plain>[A-Z][A-Z0-9_]*){_LINE}"
    rf"|{_LINE}(?P<plain>[A-Z][A-Z0-9_]*)(?:{_LINE}>|{_LINE}[{_HEAD}])"
    rf"|{_LONG}(?P<typed>[A-Z][A-Z0-9_]*)[{_HEAD}]"
    rf"|\s{_ONE}{{1,2}}\s(?P<apart>[A-Z][A-Z0-9_]+)\s(?:{_LINE}>{_AFTER}|{_MAYBE}[{_HEAD}])"
    rf"|(?:{_BEFORE}<{_LINE}|[{_TAIL}]{_MAYBE})\s(?P<back_apart>[A-Z][A-Z0-9_]+)\s{_ONE}{{1,2}}\s"
    rf"|{_BEFORE}{_FROM}(?P<back>{_WORDS}){_LINE}{_AFTER}"
    rf"|{_BEFORE}{_LINE}(?P<spaced>{_WORDS})(?:{_LINE}>{_AFTER}|{_MAYBE}[{_HEAD}])"
    rf"|{_BEFORE}(?:-{{2,3}}|={{2,3}})\s(?P<mermaid>{_WORDS})\s(?:[-=]{{2,3}}>{_AFTER}|[{_HEAD}])"
    rf"|(?P<back_bare>{_BEFORE}<{_LINE}(?:\s|(?=\())|\s?[{_TAIL}]{_MAYBE}\s?)"
    rf"|{_BEFORE}(?:{_LINE}|={{1,3}})>{_AFTER}"
    rf"|\s?{_MAYBE}[{_HEAD}]\s?"
    r"|(?P<tight>(?<=\S)(?:-{1,2}|=)>(?=[\w.@-]+(?:/|:(?!:))\S))"
)

#: Separates the paths in one text; those of Cypher also a comma.
_PATHS = re.compile(r"[;\n]|(?<=\)),\s*(?=\()")

#: A part of an arrow in a name, where an arrow wasn't understood: heads, dashes at an end, a relation between dashes,
#: and other signs that stand for an arrow.
_LEFT = re.compile(
    rf"--?>|=>(?=\s)|<--?(?=\S)|[{_ARROWS}]|\]-|-\[|\A{_ONE}+\s|\s{_ONE}+\Z|\A>\s"
    rf"|\s{_ONE}{{1,4}}\s?[A-Z][A-Z0-9_]+\s?{_ONE}{{1,4}}(?:\s|\Z)|\s[|~=]?>+\s|\s[\u00bb\u203a\u25b6\u25ba]\s"
)

#: A dash that may be that of the arrow beside its name.
_DOUBT = re.compile(rf"\s{_ONE}{{1,3}}\s")

#: An arrow that points both ways, as far as :data:`_ARROW` leaves it in a text or in a name.
_BOTH = re.compile(rf"\A>\s|<[{_DASH}=]+>|[\u2194\u21d4\u21ff\u27f7\u27fa\u2b0c\u2b64]")

#: The longest name in which the end of a step is looked for.
_LONGEST = 1000

#: The end of a step and the begin of the next one in a list of steps: ``b`` in ``a -> b, b -> c``.
_JOINT = re.compile(r"(?P<name>\S.*?)\s*(?:[,|&]\s*(?:and|then)?|\s(?:and|then))\s+(?P=name)", re.DOTALL)

#: Spaces that don't break; and what has no width, or chooses how the sign before it is drawn.
_SPACES = re.compile("[\u00a0\u2007\u202f]")
_NOTHING = re.compile("[\u200b\u2060\ufe0e\ufe0f\ufeff]")

#: What may enclose all names of a path, besides brackets.
_QUOTES = ('""', "\u0027\u0027", "``", "\u201c\u201d")

#: A node and a relation of Cypher.
_NODE = re.compile(r"(?P<variable>\w*)\s*(?P<labels>(?:\s*:\s*(?:\w+|`[^`]+`))*)\s*(?P<map>\{.*\})?\Z", re.DOTALL)
_TYPE = re.compile(r"\w*\s*:\s*(?:(?P<name>\w+)|`(?P<quoted>[^`]+)`)\s*(?:\{.*\})?\Z", re.DOTALL)
_PROPERTY = re.compile(r"""(?P<key>\w+|`[^`]+`)\s*:\s*(?:'(?P<one>[^']*)'|"(?P<two>[^"]*)"|(?P<number>-?[\w.]+))""")

#: The properties that name a node, the best first.
_NAMES = ("id", "artifact_id", "qname", "qualified_name", "fqn", "uid", "uri", "key", "path", "name", "title")

#: What only the ids of files, symbols and other parts of a path contain; and what may be one id.
_PATH_LIKE = re.compile(r"[/\\#]|::|\S:\S|\w\.\w")
_ONE_ID = re.compile(r"[^\s()\[\],]+")

_NO_NAME = "an arrow of the path has no name before or behind it"

FORM = (
    "Write a path as A -CALLS-> B -IMPORTS-> C, with spaces around the arrows; put names that contain dashes in "
    "brackets: [A - B] -> [C]."
)

#: What the second, fourth, ... name of paths such as ``A -> b -> C`` is.
SecondNames = Literal["relations", "nodes"]


@dataclass(frozen=True, slots=True)
class WrittenPath:
    """Names and the arrows between them: the relation of each, if it has one, and whether it points back.

    Attributes
    ----------
    listed
        Whether the names were a list of three, which may be one of several triples.
    stated
        Whether its column says that it holds triples.
    """

    names: tuple[str, ...]
    arrows: tuple[tuple[str | None, bool], ...]
    listed: bool = False
    stated: bool = False

    @property
    def may_alternate(self) -> bool:
        """Whether every second name may be a relation: no arrow has one, and the first and the last name are nodes."""
        return len(self.names) % 2 == 1 and not any(relation or back for relation, back in self.arrows)

    def steps(self, second: SecondNames = "nodes") -> list[dict[str, Any]]:
        """Return its steps."""
        if second == "relations" and self.may_alternate:
            nodes, relations = self.names[::2], self.names[1::2]
            triples = zip(nodes, relations, nodes[1:], strict=False)
            return [{"source": one, "target": other, "relation": relation} for one, relation, other in triples]
        steps = []
        for ends, (relation, back) in zip(pairwise(self.names), self.arrows, strict=True):
            source, target = reversed(ends) if back else ends
            step = {"source": source, "target": target}
            steps.append({**step, "relation": relation} if relation else step)
        return steps


def path_of_text(text: str, *, stated: bool = False) -> WrittenPath:
    """Return a path that is written as text.

    An arrow may have a relation (``-CALLS->``, ``--calls-->``, ``-[:CALLS]->``) or none (``->``, ``=>``), and may point
    back (``<-CALLS-``). Dashes and heads may be those that spreadsheets make of them. Nodes may stand in brackets, all
    of them in quotes, or be nodes of Cypher, whose id is that of their properties, else what stands in the parentheses.
    Commas may separate steps each of which begins where the one before it ends.

    Raises
    ------
    ValueError
        The text has no arrow, an arrow lacks an end, a part of an arrow isn't understood, or a node has no id.
    """
    plain = _NOTHING.sub("", _SPACES.sub(" ", text)).strip()
    padded = f" {plain} "
    names: list[str] = []
    arrows = list(_ARROW.finditer(padded))
    begin = 0
    for arrow in arrows:
        names.append(padded[begin : arrow.start()].strip())
        begin = arrow.end()
    names.append(padded[begin:].strip())
    if not arrows and not _BOTH.search(plain):
        raise ValueError(f"the path has no arrow: {plain[:60]!r}")
    names = [joint["name"] if len(name) <= _LONGEST and (joint := _JOINT.fullmatch(name)) else name for name in names]
    _refuse_doubts(names, arrows)
    is_cypher = all(name[0] == "(" and name[-1] == ")" for name in names)
    if is_cypher:
        names = [_node(name[1:-1].strip()) for name in names]
    else:
        names = [name[1:-1].strip() if _is_within(name, "[]") else name for name in names]
        quotes = next((one for one in _QUOTES if all(_is_within(name, one) for name in names)), None)
        names = [name[1:-1].strip() for name in names] if quotes else names
    if not all(names):
        raise ValueError(_NO_NAME)
    found = []
    for arrow in arrows:
        relation = _relation(arrow)
        if relation is not None:
            relation = _type(relation.strip()) if is_cypher or relation.lstrip()[:1] == ":" else relation.strip(": ")
        found.append((relation or None, _is_back([arrow])))
    return WrittenPath(tuple(names), tuple(found), stated=stated)


def _refuse_doubts(names: Sequence[str], arrows: Sequence[re.Match[str]]) -> None:
    """Refuse names that are empty, contain a part of an arrow, or are several ids."""
    for place, name in enumerate(names):
        before, after = ([*arrows[place - 1 : place]], [*arrows[place : place + 1]])
        if not name:
            raise ValueError(_NO_NAME)
        both = _is_back(before) and after and not _is_back(after) and re.fullmatch("[A-Z][A-Z0-9_]+", name)
        if both or _BOTH.search(name):
            raise ValueError(f"an arrow points both ways at {name[:60]!r}, and a step has one direction")
        if _is_within(name, "[]"):
            continue
        beside = [
            arrow for arrow in (*after, *before) if not _relation(arrow) and (arrow in after or _is_back([arrow]))
        ]
        tight = after and after[0]["tight"] and not re.fullmatch(rf"\S*[:/][^\s{_DASH}]*", name)
        if tight or _LEFT.search(name) or (beside and _DOUBT.search(name)):
            raise ValueError(f"an arrow isn't understood in {name[:60]!r}")
        parts = re.split(r"\s*,\s*", name)
        if len(parts) > 1 and all(_ONE_ID.fullmatch(part) and re.search("[:/]", part) for part in parts):
            raise ValueError(f"{name[:60]!r} is several ids, and an arrow has one at each end")
    for pair in ("()", *_QUOTES):
        within = [_is_within(name, pair) for name in names]
        if not all(within) and any(one and _PATH_LIKE.search(name) for one, name in zip(within, names, strict=True)):
            raise ValueError(f"some names of the path stand in {pair}, others don't")


def _relation(arrow: re.Match[str]) -> str | None:
    """Return the relation of an arrow as it is written."""
    parts = arrow.groupdict()
    return next((value for name, value in parts.items() if value and name not in ("back_bare", "tight")), None)


def _is_back(arrows: Sequence[re.Match[str]]) -> bool:
    """Return whether the first of some arrows points back."""
    return any(value and name.startswith("back") for arrow in arrows[:1] for name, value in arrow.groupdict().items())


def _is_within(name: str, pair: str) -> bool:
    """Return whether a name stands between two signs, neither of which it contains besides."""
    return len(name) > 1 and name[0] == pair[0] and name[-1] == pair[1] and not set(pair) & set(name[1:-1])


def _node(text: str) -> str:
    """Return the id of a node of Cypher, without its parentheses."""
    match = _NODE.match(text)
    if match is None:
        return text
    if match["map"]:
        held = {
            found["key"].strip("`"): next(filter(None, (found["one"], found["two"], found["number"])), "")
            for found in _PROPERTY.finditer(match["map"])
        }
        name = next((held[key] for key in _NAMES if held.get(key)), None)
        name = name or (next(iter(held.values())) if len(held) == 1 else None)
        if not name:
            raise ValueError(f"no property of ({text[:60]}) names the node: write {{id: '...'}}")
        return name
    # Labels of Cypher begin with a capital; repositories and what follows them seldom do.
    if not text or not match["variable"] or any(map(str.isupper, re.findall(r":\s*`?(\w)", match["labels"]))):
        what = "is an id or a variable with a label" if match["variable"] else "names no node"
        raise ValueError(f"({text[:60]}) {what}: write ({{id: '...'}}), or the id without parentheses")
    return text


def _type(text: str) -> str:
    """Return the name of a relation of Cypher, without its brackets."""
    match = _TYPE.match(text)
    name = (match["name"] or match["quoted"]) if match is not None else ""
    # A relation may have a prefix, as rdf:type has; a variable is short, or stands before a type in capitals.
    if name and (text.find(":") <= 2 or name.isupper()):
        return name
    if ":" in text and re.search(r"[|*]", text):
        raise ValueError(f"[{text[:60]}] isn't one relation")
    return text


def steps_of_text(text: str) -> list[dict[str, Any]]:
    """Return the steps of a path that is written as text; each name is a node. It raises what ``path_of_text`` raises.

    >>> steps_of_text("a -CALLS-> b <-OWNS- c")
    [{'source': 'a', 'target': 'b', 'relation': 'CALLS'}, {'source': 'c', 'target': 'b', 'relation': 'OWNS'}]
    >>> steps_of_text("my-page.ts -> b")
    [{'source': 'my-page.ts', 'target': 'b'}]
    """
    return path_of_text(text).steps()


def has_arrow(text: str) -> bool:
    """Tell whether a text is written as a path.

    >>> has_arrow("a -CALLS-> b"), has_arrow("my-page.ts")
    (True, False)
    """
    return bool(_ARROW.search(f" {text.strip()} ") or _LEFT.search(text))


def paths_of_text(text: str, *, stated: bool = False) -> list[WrittenPath]:
    """Return the paths in a text, which semicolons or line ends separate. Raises what :func:`path_of_text` raises.

    >>> len(paths_of_text("a -> b -> c; a -OWNS-> c"))
    2
    """
    return [path_of_text(part, stated=stated) for part in _PATHS.split(text) if part.strip()]


class SecondNamesOf:
    """Decides what every second name of a file's paths is, such as ``b`` in ``A -> b -> C``: a relation, or a node.

    Relations recur only as second names. They are relations where none is an id, looks like a path or stands at
    another place, and a path has more than three names, or lists of three follow each other as triples do, or the other
    names are ids or look like paths.

    Parameters
    ----------
    is_id
        Whether a name is an id of the knowledge graph.
    """

    def __init__(self, paths: Iterable[WrittenPath], is_id: Callable[[str], bool] = lambda _: False) -> None:
        every = [path for path in paths if not path.stated]
        self.paths = [path for path in every if path.may_alternate]
        self._second = {name for path in self.paths for name in path.names[1::2]}
        self._nodes = {name for path in self.paths for name in path.names[::2]}
        # A path of an even number of names, or with a relation of its own, shows how the file writes paths.
        self._others = [path for path in every if not path.may_alternate]
        self._is_id = is_id

    def decided(self) -> SecondNames | None:
        """Return what they are, or None if nothing decides it."""
        elsewhere = self._nodes.union(*(path.names for path in self._others))
        if not self.paths or self._second & elsewhere or any(map(self._is_id, self._second)):
            return "nodes"
        like_paths = [bool(_PATH_LIKE.search(name)) for name in self._nodes]
        if any(like_paths) and any(map(_PATH_LIKE.search, self._second)):
            return "nodes"
        chains = len(chained(self.paths)) < len(self.paths)
        if chains or all(like_paths) or all(map(self._is_id, self._nodes)):
            return "relations"
        if self._others:
            return "nodes"
        return "relations" if any(len(path.names) > 3 for path in self.paths) else None

    def examples(self) -> tuple[str, str]:
        """Return both readings of the first such path, of relations and of nodes."""
        first = self.paths[0]
        relations, nodes = (
            [(step["source"], step.get("relation"), step["target"]) for step in first.steps(second)]
            for second in ("relations", "nodes")
        )
        return text_of_steps(relations), text_of_steps(nodes)


def chained(paths: Sequence[WrittenPath]) -> list[list[WrittenPath]]:
    """Return lists of three names in groups, each of which begins where the one before it ends."""
    groups: list[list[WrittenPath]] = []
    for path in paths:
        if path.listed and groups and groups[-1][-1].listed and groups[-1][-1].names[-1] == path.names[0]:
            groups[-1].append(path)
        else:
            groups.append([path])
    return groups


def text_of_steps(steps: Sequence[tuple[str, str | None, str]]) -> str:
    """Return the text of a path, whose edges may point back.

    >>> text_of_steps([("a", "CALLS", "b"), ("c", "OWNS", "b"), ("x", None, "y")])
    'a -CALLS-> b <-OWNS- c; x -> y'
    """
    text, end = "", None
    for (source, relation, target), after in zip_longest(steps, steps[1:]):
        arrow = f"-{relation}-" if relation else "-"
        if end not in (source, target):
            # The next step shows at which end this one begins.
            onwards = after is None or target in (after[0], after[2]) or source not in (after[0], after[2])
            text, end = f"{text}{'; ' if text else ''}{source if onwards else target}", source if onwards else target
        text, end = (f"{text} {arrow}> {target}", target) if source == end else (f"{text} <{arrow} {source}", source)
    return text
