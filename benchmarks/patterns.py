"""Do the patterns and readers that run over others' text take time in proportion to its length?

``python -m benchmarks.patterns`` measures every pattern of the package (those found in its modules) and the functions
that use several of them, on texts of 46 kinds that repeat what makes patterns slow: openers without their ends, spaces,
digits, dots, words. It shows the slowest kind of each at growing lengths; ``--large`` goes on to 1,000,000 characters.
What grows faster than the text is marked.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress

import graphkit
from graphkit.errors import GraphkitError
from graphkit.measures.completeness import addressed, content_words, identifiers_in
from graphkit.measures.identifiers import defined_identifiers
from graphkit.plugins.gold.public_rows import UnusableRowError
from graphkit.plugins.judging.judges.citations import find_citations
from graphkit.plugins.judging.judges.forms import occurs
from graphkit.plugins.judging.judges.sentences import sentences_of
from graphkit.plugins.logs.diffs import changed_files
from graphkit.plugins.logs.graphrag_tables import tables_of_text
from graphkit.plugins.logs.lightrag_contexts import is_context, tables_of
from graphkit.plugins.logs.reprs import parse_repr
from graphkit.plugins.logs.triples import edges_of_lines

#: What a text repeats, by its name.
KINDS: dict[str, str] = {
    "letters": "a",
    "capitals": "A",
    "camel case": "aB",
    "capitals and small": "Aa",
    "digits": "1",
    "hexadecimal": "0af",
    "underscores": "_",
    "name_": "a_",
    "spaces": " ",
    "tabs": "\t",
    "line ends": "\n",
    "CR LF": "\r\n",
    "spaces and line ends": " \n",
    "words": "word ",
    "words of capitals": "A ",
    "dots": ".",
    "a.": "a.",
    "1.": "1.",
    "1,": "1, ",
    "A. ": "A. ",
    "dots and spaces": ". ",
    "commas": ",",
    "colons": ":",
    "a:": "a:",
    "slashes": "/",
    "a/": "a/",
    "hashes": "#",
    "hyphens": "-",
    "arrows": "a -> ",
    "arrows with relations": "a - B -> ",
    "equals": "=",
    "a=": "a=",
    "backslashes": "\\",
    "backticks": "`",
    "fences": "```\n",
    "fences of json": "```json\nx",
    "quotes": '"',
    "a quote and a letter": '"a',
    "apostrophes": "'",
    "opening typographic quotes": "\u201c",
    "closing typographic quotes": "\u201d",
    "round brackets": "(",
    "a(": "a(",
    "square brackets": "[",
    "[a": "[a",
    "braces": "{",
}

#: Patterns that are applied at the beginning of a text only, or to all of it.
ANCHORED = {
    *("execution.extraction._LABEL", "execution.extraction._SESSION", "execution.languages._NODE_PART"),
    *("execution.returned_values._HEXADECIMAL", "files.known._ELEMENT_ID", "files.tables._FORMULA"),
    *("files.json_stream._SPACE", "gold.context_bench._ROOTS", "records.diffs._HUNK", "gold.entailment_bank._PREMISE"),
    *("gold.entailment_bank._CONCLUSION", "graphs.graph_files._ADMIN", "graphs.graph_records._NUMBERED"),
    *("judges.citations._FENCE", "judges.citations._MARK", "judges.citations._NODE", "judges.citations._FILE"),
    *("judges.sentences._FENCE", "judges.sentences._ITEM", "judges.sentences._AFTER", "judges.sentences._LINE"),
    *("llm.api_client._SENDABLE", "measures.identifiers._GIVEN", "measures.own._NAME", "judges.own_rubric._NAME"),
    *("measures.registry._TEXT", "readers.atif._MADE_UP", "readers.graph_names._RELATION_TYPE"),
    *("readers.graph_names._COLUMN", "readers.graph_names._ELEMENT_ID", "readers.langchain_outputs._LINE"),
    *("readers.langchain_outputs._DRAWN", "readers.langchain_traces._CHUNKS", "readers.langchain_traces._EVENT"),
    *("readers.langchain_traces._ERROR", "readers.lightrag_contexts._REFERENCE", "readers.llama_index._UUID"),
    *("readers.openinference._DRAWN", "readers.payloads._PRINTED", "readers.reprs._SPACE", "readers.reprs._VECTOR"),
    *("readers.reprs._STRING", "readers.reprs._NUMBER", "readers.reprs._WORD", "readers.reprs._OTHER"),
    *("readers.reprs._FIELD", "readers.reprs._KEYWORD", "readers.shell_words._TOKENS", "readers.spans._HEX"),
    *(
        "records.commits._WHOLE",
        "records.commits._PREFIX",
        "records.three_texts._RELATION",
        "systems.importing._RUN_NAME",
    ),
    *("judges.judging._FENCED", "execution.outlines._COMMENT", "execution.outlines._JAVASCRIPT_BEGINS"),
}

#: Patterns that see no more than this many characters at a time.
BOUNDED = {
    "records.definitions._NAMED": 500,
    "records.definitions._ASSIGNED": 500,
    "records.definitions._TYPED": 500,
    **{f"readers.triples._FORMS[{place}]": 2_000 for place in range(3)},
    "judges.sentences._ABBREVIATION": 17,
    "judges.sentences._CITES": 400,
    "judges.citations._LINE": 1000,
    "judges.citations._NAMED": 1000,
    "records.ids._ENDS_AS_FILE": 30,
}

#: The lengths, in characters; what takes longer than this many seconds isn't measured at the next one.
LENGTHS = (10_000, 30_000, 100_000)
LARGE = (10_000, 100_000, 1_000_000)
PATIENCE = 2.0

#: A time that grows by more than this for each time that the length does isn't linear. Short times say nothing.
GROWTH, SHORTEST = 2.5, 0.01

Reading = Callable[[str], object]


def text_of(unit: str, length: int) -> str:
    """Return a text of a kind."""
    return (unit * (length // len(unit) + 1))[:length]


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield every pattern that a module of the package holds, by its name."""
    for found in pkgutil.walk_packages(graphkit.__path__, "graphkit."):
        if found.name.startswith("graphkit.plugins.sandbox.inside") or found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            several = value if isinstance(value, tuple) else (value,)
            for number, one in enumerate(several):
                if isinstance(one, re.Pattern) and isinstance(one.pattern, str):
                    place = f"[{number}]" if isinstance(value, tuple) else ""
                    yield f"{found.name.removeprefix('graphkit.')}.{name}{place}", one


def _applied(name: str, pattern: re.Pattern[str]) -> Reading:
    """Return what applies a pattern to a text as the package does."""
    if name in BOUNDED:
        longest = BOUNDED[name]
        return lambda text: [pattern.search(text[at : at + longest]) for at in range(0, len(text), longest)]
    if name in ANCHORED:
        return lambda text: (pattern.match(text), pattern.fullmatch(text))
    return lambda text: sum(1 for _ in pattern.finditer(text))


def readings() -> dict[str, Reading]:
    """Return all that is measured, by its name."""
    found = {name: _applied(name, pattern) for name, pattern in patterns()}
    functions: dict[str, Reading] = {
        "identifiers_in": lambda text: identifiers_in.__wrapped__(text),
        "content_words": lambda text: content_words.__wrapped__(text),
        "addressed (text)": lambda text: addressed(text, "It sends the order."),
        "addressed (answer)": lambda text: addressed('submit sends "sold out" to api/auth.py (409)', text),
        "sentences_of": sentences_of,
        "find_citations": find_citations,
        "find_citations (listed)": lambda text: find_citations(text, ["x:a.py"], {"x:a.py"}),
        "occurs (quote)": lambda text: occurs(text, "def login():"),
        "occurs (text)": lambda text: occurs("def login():", text),
        "defined_identifiers (text)": lambda text: defined_identifiers(text, "a.unknown"),
        "edges_of_lines": lambda text: list(edges_of_lines(text)),
        "tables_of_text": tables_of_text,
        "is_context (LightRAG)": is_context,
        "tables_of (LightRAG)": lambda text: tables_of(f"-----Entities-----\n```csv\n{text}", Counter(), []),
        "parse_repr": parse_repr,
        "changed_files": lambda text: changed_files(f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n{text}"),
    }
    return {**found, **functions}


def seconds(reading: Reading, text: str) -> float:
    """Return how long a reading takes; a text that it refuses is read, too."""
    start = time.process_time()
    with suppress(GraphkitError, UnusableRowError, ValueError, RecursionError, KeyError, TypeError):
        reading(text)
    return time.process_time() - start


def slowest(reading: Reading, lengths: tuple[int, ...]) -> tuple[str, list[float], float]:
    """Return the kind of text whose time grows fastest, its times, and by how much it grows with the length."""
    worst: tuple[str, list[float], float] = ("", [], 0.0)
    for kind, unit in KINDS.items():
        times: list[float] = []
        growth = 0.0
        for length in lengths:
            times.append(seconds(reading, text_of(unit, length)))
            if len(times) > 1 and times[-1] > SHORTEST:
                ratio = length / lengths[len(times) - 2]
                growth = max(growth, times[-1] / max(times[-2], 1e-6) / ratio)
            if times[-1] > PATIENCE:
                break
        if (growth, max(times)) > (worst[2], max(worst[1], default=0.0)):
            worst = (kind, times, growth)
    return worst


def main() -> None:
    """Print a line for each pattern and function, the fastest growth first."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.patterns", description=__doc__)
    parser.add_argument("--large", action="store_true", help="up to 1,000,000 characters; takes minutes")
    lengths = LARGE if parser.parse_args().large else LENGTHS
    found = {name: slowest(reading, lengths) for name, reading in readings().items()}
    print(f"{len(found)} patterns and functions, {len(KINDS)} kinds of text, {', '.join(map(str, lengths))} characters")
    for name, (kind, times, growth) in sorted(found.items(), key=lambda one: -one[1][2]):
        shown = ", ".join(f"{1000 * one:.1f} ms" for one in times)
        print(f"{'FASTER THAN THE TEXT' if growth > GROWTH else 'linear'}: {name} on {kind}: {shown}")


if __name__ == "__main__":
    main()
