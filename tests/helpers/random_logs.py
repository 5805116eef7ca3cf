"""Logs of random forms over one small dataset, each with the walk that it holds, for tests of proposed mappings."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Edge = tuple[str, str, str]

WORDS = (
    *("amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "hazel", "ivory", "jade", "koala", "lemon"),
    *("maple", "nylon", "ocean", "pearl", "quill", "raven", "saffron", "tulip", "umber", "velvet", "willow", "xenon"),
    *("yarrow", "zephyr", "acorn", "birch", "clover", "daisy"),
)

RELATIONS = ("CALLS", "REQUESTS", "WRITES", "IMPORTS", "PUBLISHES")


@dataclass(frozen=True)
class World:
    """A dataset: its nodes, its edges, and the questions with their gold paths."""

    nodes: list[str]
    edges: list[Edge]
    questions: dict[str, str]
    gold: dict[str, list[Edge]]

    def write(self, folder: Path) -> None:
        """Write it as a dataset."""
        folder.mkdir(parents=True)
        rows = [{"source": s, "relation": r, "target": t} for s, r, t in self.edges]
        (folder / "edges.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        nodes = [{"id": one, "kind": "function"} for one in self.nodes]
        (folder / "artifacts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in nodes), "utf-8")
        questions = [
            {
                "id": name,
                "question": text,
                "paths": [{"steps": [{"source": s, "relation": r, "target": t} for s, r, t in self.gold[name]]}],
            }
            for name, text in self.questions.items()
        ]
        (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions), "utf-8")


def world(seed: int = 7, nodes: int = 40, questions: int = 12) -> World:
    """Return a dataset with a graph without edges both ways."""
    draw = random.Random(seed)
    repos = ["web", "api", "db"]
    names = [f"{draw.choice(repos)}:src/{WORDS[n % len(WORDS)]}{n}.py#f{n}" for n in range(nodes)]
    edges: dict[tuple[str, str], Edge] = {}
    for source in names:
        for target in draw.sample(names, 3):
            if source != target and (target, source) not in edges:
                edges[source, target] = (source, draw.choice(RELATIONS), target)
    every = list(edges.values())
    asked = {f"q{n}": f"How does {WORDS[n]} reach {WORDS[-n - 1]} in step {n}?" for n in range(questions)}
    gold = {name: walked(draw, every, draw.randint(1, 3)) for name in asked}
    return World(names, every, asked, gold)


def walked(draw: random.Random, edges: list[Edge], length: int) -> list[Edge]:
    """Return a path of edges that follow each other."""
    path = [draw.choice(edges)]
    while len(path) < length:
        onwards = [
            one for one in edges if one[0] == path[-1][2] and one[2] not in {end for s, _, t in path for end in (s, t)}
        ]
        if not onwards:
            break
        path.append(draw.choice(onwards))
    return path


@dataclass
class RandomLog:
    """A log: its text, the ending of its file, and the edges that each question walked, if it has relations."""

    text: str
    ending: str
    walks: dict[str, list[Edge]]
    typed: bool
    form: str
    refusable: bool = False


class Schema:
    """Draws the form of a log: names of fields, nesting, the form of walks and what stands beside them."""

    def __init__(self, seed: int, of: World) -> None:
        self.draw = random.Random(seed)
        self.of = of
        self.words = self.draw.sample(WORDS, len(WORDS))
        self.style = self.draw.choice(("steps", "text", "cypher", "spaced"))
        self.refusable = False
        self.order = self.draw.sample(range(3), 3)

    def word(self) -> str:
        """Return a name that no other field has."""
        return self.words.pop()

    def log(self) -> RandomLog:
        """Return a log."""
        draw, of = self.draw, self.of
        walks: dict[str, list[Edge]] = {}
        unknown = draw.random() < 0.4
        for name in of.questions:
            kind = draw.random()
            path = list(of.gold[name]) if kind < 0.3 else walked(draw, of.edges, draw.randint(1, 4))
            if kind > 0.93:
                path = []
            if unknown and path and draw.random() < 0.5:
                end = path[-1][2]
                path.append((end, draw.choice(RELATIONS), f"ext:lib/{draw.choice(WORDS)}.py#g{draw.randint(0, 9)}"))
            walks[name] = path
        form = draw.choice(
            (
                *("objects", "objects", "triples", "texts", "texts", "paths", "nodes", "parallel", "rows", "lines"),
                *("whole", "cells", "hops"),
            )
        )
        made: RandomLog = getattr(self, f"_{form}")(walks, form)
        return made

    def _record(self, name: str, path: list[Edge], write: Any, names: dict[str, str]) -> dict[str, Any]:
        """Return a record with the walk, and what stands beside it."""
        draw = random.Random(f"{names}{name}")
        row: dict[str, Any] = {}
        if "id" in names:
            row[names["id"]] = name
        if "text" in names:
            row[names["text"]] = self.of.questions[name]
        row[names["walk"]] = write(path)
        if "gold" in names:
            row[names["gold"]] = write(self.of.gold[name])
        if "answer" in names:
            row[names["answer"]] = f"It goes over {draw.choice(WORDS)} and {draw.choice(WORDS)}."
        if "number" in names:
            row[names["number"]] = draw.randint(0, 5_000)
        if "strange" in names:
            row[names["strange"]] = [f"lib/{draw.choice(WORDS)}/{n}" for n in range(draw.randint(0, 3))]
        if "relations" in names:
            row[names["relations"]] = draw.sample(RELATIONS, 2)
        if "flag" in names:
            row[names["flag"]] = draw.random() < 0.5
        if "nodes" in names:
            row[names["nodes"]] = draw.sample(self.of.nodes, draw.randint(1, 6))
        if "ends" in names and path:
            row[names["ends"]], row[names["end"]] = path[0][0], path[-1][2]
        if "seen" in names:
            more = [one for one in draw.sample(self.of.edges, 3) if one not in path]
            row[names["seen"]] = write([*path, *more])
        if "constant" in names:
            row[names["constant"]] = write(self.of.edges[:2])
        if "level" in names:
            row[names["level"]] = draw.choice(["low", "high", "middle"])
        return row

    def _names(self) -> dict[str, str]:
        draw = self.draw
        names = {"walk": self.word()}
        asked = draw.choice((("id",), ("text",), ("id", "text")))
        names |= {one: self.word() for one in asked}
        for one, share in (
            *(("gold", 0.3), ("answer", 0.7), ("number", 0.6), ("strange", 0.3)),
            *(("relations", 0.2), ("flag", 0.3), ("level", 0.3), ("nodes", 0.25), ("ends", 0.1), ("end", 1)),
            *(("seen", 0.03), ("constant", 0.05)),
        ):
            if draw.random() < share:
                names[one] = self.word()
        return names

    def _file(self, walks: dict[str, list[Edge]], write: Any, form: str, typed: bool = True) -> RandomLog:
        """Return the records as JSON Lines, one document, an array, or an object keyed by question."""
        names, draw = self._names(), self.draw
        wraps = [self.word() for _ in range(draw.randint(0, 2))]
        rows = {}
        for name, path in walks.items():
            row = self._record(name, path, write, names)
            keep = {key: row.pop(names[key]) for key in ("id", "text") if key in names and names[key] in row}
            for wrap in wraps:
                row = {wrap: row}
            rows[name] = {names[key]: value for key, value in keep.items()} | row
        self.refusable = "seen" in names
        whole = draw.choice(("lines", "lines", "array", "list", "deep", "keyed"))
        if whole == "lines":
            text = "".join(json.dumps(row) + "\n" for row in rows.values())
        elif whole == "array":
            text = json.dumps(list(rows.values()), indent=draw.choice((None, 1)))
        elif whole == "list":
            text = json.dumps({self.word(): "run 7", self.word(): list(rows.values())}, indent=1)
        elif whole == "deep":
            text = json.dumps({self.word(): {self.word(): list(rows.values())}, self.word(): 3}, indent=1)
        else:
            keys = self.of.questions if draw.random() < 0.5 else {name: name for name in rows}
            inner = [key for key in ("id", "text") if key in names]
            for row in rows.values():
                for key in inner:
                    row.pop(names[key], None)
            text = json.dumps({keys[name]: row for name, row in rows.items()}, indent=1)
        ending = ".jsonl" if whole == "lines" else ".json"
        return RandomLog(text, ending, walks, typed, f"{form}, {whole}", self.refusable)

    def _objects(self, walks: dict[str, list[Edge]], form: str) -> RandomLog:
        source, relation, target, score = (self.word() for _ in range(4))
        nested = self.word() if self.draw.random() < 0.3 else None
        typed = self.draw.random() < 0.85
        scored = self.draw.random() < 0.5
        inside = self.word() if self.draw.random() < 0.3 else None

        def step(place: int, edge: Edge) -> dict[str, Any]:
            made: dict[str, Any] = {source: edge[0], target: edge[2]}
            if inside:
                made = {source: {inside: edge[0]}, target: {inside: edge[2]}}
            if typed:
                made[relation] = edge[1]
            if scored:
                made[score] = round(0.9 - place / 10, 2)
            items = list(made.items())
            random.Random(str(self.order)).shuffle(items)
            return {nested: dict(items)} if nested else dict(items)

        return self._file(walks, lambda path: [step(*one) for one in enumerate(path)], form, typed)

    def _triples(self, walks: dict[str, list[Edge]], form: str) -> RandomLog:
        order = self.order
        return self._file(walks, lambda path: [[edge[place] for place in order] for edge in path], form)

    def _texts(self, walks: dict[str, list[Edge]], form: str) -> RandomLog:
        write: Callable[[str, str, str], str] = {
            "steps": lambda s, r, t: f"{s} -[{r}]-> {t}",
            "text": lambda s, r, t: f"{s} --{r}--> {t}",
            "cypher": lambda s, r, t: f"({s})-[:{r}]->({t})",
            "spaced": lambda s, r, t: f"{s} | {r} | {t}",
            "three": lambda s, r, t: f"{s} -> {r} -> {t}",
            "words": lambda s, r, t: f"took {r} out of {s} into {t}",
            "comma": lambda s, r, t: f"{s},{r},{t}",
            "reversed": lambda s, r, t: f"{t} <-[{r}]- {s}",
        }[style := self.draw.choice((self.style, "three", "words", "comma", "reversed"))]
        return self._file(walks, lambda path: [write(*edge) for edge in path], f"{form} {style}")

    def _whole(self, walks: dict[str, list[Edge]], form: str) -> RandomLog:
        """Return each walk as one text."""
        style = self.draw.choice(("arrow", "cypher", "nodes", "slash"))

        def write(path: list[Edge]) -> str:
            if not path:
                return ""
            names = [path[0][0], *(edge[2] for edge in path)]
            if style == "nodes":
                return " > ".join(names)
            if style == "slash":
                return " | ".join(names)
            link = " -{}-> " if style == "arrow" else " -[:{}]-> "
            return names[0] + "".join(link.format(edge[1]) + edge[2] for edge in path)

        return self._file(walks, write, f"{form} {style}", typed=style in ("arrow", "cypher"))

    def _cells(self, walks: dict[str, list[Edge]], form: str) -> RandomLog:
        """Return a row a question, whose path is a text or JSON in a cell."""
        draw = self.draw
        asked, walk, answer, extra = (self.word() for _ in range(4))
        json_cell = draw.random() < 0.5
        rows = []
        for name, path in walks.items():
            names = [path[0][0], *(edge[2] for edge in path)] if path else []
            text = names[0] + "".join(f" -{edge[1]}-> {edge[2]}" for edge in path) if path else ""
            rows.append(
                {asked: name, walk: json.dumps([list(edge) for edge in path]) if json_cell else text}
                | {answer: "It goes there.", extra: draw.randint(0, 99)}
            )
        stream = io.StringIO()
        table = csv.DictWriter(stream, draw.sample(list(rows[0]), 4), delimiter=draw.choice(",;\t"))
        table.writeheader()
        table.writerows(rows)
        return RandomLog(stream.getvalue(), ".csv", walks, True, f"{form} json={json_cell}")

    def _hops(self, walks: dict[str, list[Edge]], form: str) -> RandomLog:
        """Return a row of JSON for each hop or for each node of a walk."""
        draw = self.draw
        asked, hop, extra, place = (self.word() for _ in range(4))
        by_node = draw.random() < 0.5
        rows = []
        for name, path in walks.items():
            names = [path[0][0], *(edge[2] for edge in path)] if path else []
            texts = names if by_node else [f"{s} -{r}-> {t}" for s, r, t in path]
            rows += [{asked: name, hop: text, extra: draw.choice(WORDS), place: n} for n, text in enumerate(texts)]
        kept = {name: path for name, path in walks.items() if path}
        text = "".join(json.dumps(row) + "\n" for row in rows)
        return RandomLog(text, ".jsonl", kept, not by_node, f"{form} by_node={by_node}")

    def _paths(self, walks: dict[str, list[Edge]], form: str) -> RandomLog:
        """Return walks as names that alternate; only paths whose edges follow each other."""

        def write(path: list[Edge]) -> list[str]:
            return [name for edge in path for name in (edge[0], edge[1])] + [path[-1][2]] if path else []

        return self._file(walks, write, form)

    def _nodes(self, walks: dict[str, list[Edge]], form: str) -> RandomLog:
        node = self.word()
        plain = self.draw.random() < 0.5

        def write(path: list[Edge]) -> list[Any]:
            names = [edge[0] for edge in path] + [path[-1][2]] if path else []
            return names if plain else [{node: name} for name in names]

        return self._file(walks, write, form, typed=False)

    def _parallel(self, walks: dict[str, list[Edge]], form: str) -> RandomLog:
        nodes, links = self.word(), self.word()

        def write(path: list[Edge]) -> dict[str, Any]:
            names = [edge[0] for edge in path] + [path[-1][2]] if path else []
            return {nodes: names, links: [edge[1] for edge in path]}

        return self._file(walks, write, form)

    def _rows(self, walks: dict[str, list[Edge]], form: str) -> RandomLog:
        """Return a row a hop, as a table or as lines of JSON; a question without a hop isn't in it."""
        draw = self.draw
        asked, source, relation, target, hop, extra = (self.word() for _ in range(6))
        by_text = draw.random() < 0.4
        rows = [
            {
                asked: self.of.questions[name] if by_text else name,
                **dict(draw.sample([(source, edge[0]), (target, edge[2]), (relation, edge[1])], 3)),
                hop: place,
                extra: draw.choice(WORDS),
            }
            for name, path in walks.items()
            for place, edge in enumerate(path)
        ]
        kept = {name: path for name, path in walks.items() if path}
        kind = draw.choice((",", "\t", ";", "jsonl"))
        columns = draw.sample(list(rows[0]), len(rows[0]))
        if kind == "jsonl":
            return RandomLog("".join(json.dumps(row) + "\n" for row in rows), ".jsonl", kept, True, f"{form} {kind}")
        stream = io.StringIO()
        table = csv.DictWriter(stream, columns, delimiter=kind)
        table.writeheader()
        table.writerows(rows)
        ending = ".tsv" if kind == "\t" else ".csv"
        return RandomLog(stream.getvalue(), ending, kept, True, f"{form} {ending} {kind!r}")

    def _lines(self, walks: dict[str, list[Edge]], form: str) -> RandomLog:
        """Return lines of text: a question, its steps and its answer; or the question's id in each line."""
        draw = self.draw
        expand, ask, done = self.word(), self.word(), self.word()
        by_id = draw.random() < 0.3
        quote = draw.choice(("'", '"', ""))
        write: Callable[[str, str, str], str] = {
            "steps": lambda s, r, t: f"{expand} {s} -[{r}]-> {t}",
            "text": lambda s, r, t: f"{expand}: from {s} to {t} by {r}",
            "cypher": lambda s, r, t: f"{expand} ({s})-[:{r}]->({t})",
            "spaced": lambda s, r, t: f"{expand} source={s} relation={r} target={t} score=0.5",
        }[self.style]
        lines = []
        second = 0
        for name, path in walks.items():
            stamp = f"2026-11-20 10:{second // 60:02}:{second % 60:02},100"
            second += 7
            if not by_id:
                lines.append(f"{stamp} INFO core {ask}={quote}{self.of.questions[name]}{quote}")
            lines += [f"{stamp} DEBUG core {f'[{name}] ' if by_id else ''}{write(*edge)}" for edge in path]
            lines.append(f"{stamp} INFO core {f'[{name}] ' if by_id else ''}{done}={quote}the way{quote}")
        return RandomLog("\n".join(lines) + "\n", ".log", walks, True, f"{form} {self.style} by_id={by_id}")


def random_log(seed: int, of: World) -> RandomLog:
    """Return the log of a seed."""
    return Schema(seed, of).log()
