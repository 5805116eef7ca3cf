"""Violations of access: whether walk, context or answer hold what the principal of the question may not read."""

from __future__ import annotations

import html
import re
import unicodedata
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from urllib.parse import unquote

from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.crossings import crossings
from graphkit.measures.integration import NO_ANSWER
from graphkit.measures.seeds import linked
from graphkit.measures.seen import NOT_KNOWN_OF_SOME, names_in_text
from graphkit.measures.text import LETTER, folded, named, words_of
from graphkit.measures.unscored import NO_PRINCIPAL, NO_RETRIEVAL, NO_TRAVERSAL, Unscored
from graphkit.records.access_rules import Rights
from graphkit.records.ids import Places
from graphkit.records.structs import ToolCallStruct

NO_RELATION = "relations decide what the principal may follow, and an edge states none (not logged)"

#: So many words in a row of a forbidden text are a quotation of it.
QUOTED = 8

#: A word, or a letter of a script without spaces, of which two count as one word. Korean has spaces.
_SPACED = re.compile(rf"(?:(?!_){LETTER}|[\uac00-\ud7a3])+")
_WORD = re.compile(rf"{_SPACED.pattern}|[^\W_]")
#: What may follow a repository in an id within a text: no white space, quotes or brackets.
_REST = r":[^\s\"'`<>()\[\]{},;|“”„«»‘’、。「」『』【】《》…]+"
#: A commit or lines behind an id.
_AT = re.compile(r"(?:@[^/@]*|(?::\d+(?:-\d+)?)+|_+)\Z")
#: Lines of a file, or the port of a host, behind a repository: no path.
_NUMBERS = re.compile(r":\d+(?:-\d+)?")
#: The tags and comments of HTML, and these with the marks of Markdown within and around a name.
_TAGS = re.compile(r"<!--[^<>]*-->|</?[a-zA-Z][^<>]*>")
_MARKS = re.compile(rf"{_TAGS.pattern}|[*`]+|~~")
_UNDERSCORES = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
_EMPHASIS = re.compile(r"(?<!\w)_(?!_)(\w+)(?<!_)_(?!\w)")
_ESCAPES = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
#: Where a script that doesn't separate words goes on behind a name.
_JOINED = re.compile(rf"(?<=[!-~])(?=\w)(?!{LETTER})")


class ViolationMeasure(Measure):
    """A measure that is 1 if something is forbidden to the question's principal, else 0."""

    higher_is_better = False
    counts_questions = True

    def value(self, case: Case) -> float | Unscored:
        if case.question.principal is None:
            return Unscored(NO_PRINCIPAL, of_question=True)
        rights = case.commits.access.of(case.question.principal)
        if next(self.forbidden(case, rights), None) is not None:
            return 1.0
        lacking = self.not_logged(case, rights)
        return 0.0 if lacking is None else Unscored(lacking)

    @abstractmethod
    def forbidden(self, case: Case, rights: Rights) -> Iterator[str]:
        """Yield what the principal may not read, in the order of the record."""

    @abstractmethod
    def not_logged(self, case: Case, rights: Rights) -> str | None:
        """Return why it isn't known whether something is forbidden; None if it is."""

    def details(self, case: Case) -> Mapping[str, list[str]]:
        """Return what is forbidden, each once."""
        if case.question.principal is None:
            return {}
        found = dict.fromkeys(self.forbidden(case, case.commits.access.of(case.question.principal)))
        return {"forbidden": [*found]} if found else {}


class WalkViolation(ViolationMeasure):
    """1 if the principal may not read an end of a traversed edge, a seed, or a node that a tool call showed, else 0.

    An edge of a relation that the principal may not follow is a violation, too. The middle of a walk counts as its end
    does: that a forbidden node lies between two allowed ones gives away that it exists. A record that logs no
    traversal, or a call without what it showed, isn't scored unless something forbidden is logged.
    """

    source = "access control by every hop; noninterference (Goguen and Meseguer 1982)"
    query = "walk_violation"
    query_parameters = MappingProxyType(
        {"unscored": NO_PRINCIPAL, "unlogged": NO_TRAVERSAL, "unseen": NOT_KNOWN_OF_SOME, "unrelated": NO_RELATION}
    )

    def forbidden(self, case: Case, rights: Rights) -> Iterator[str]:
        return (one.node for one in crossings(case, rights, "walk", "seed", "call"))

    def not_logged(self, case: Case, rights: Rights) -> str | None:
        if not case.walk_logged:
            return NO_TRAVERSAL
        if any(call.seen is None for call in _calls(case)):
            return NOT_KNOWN_OF_SOME
        return NO_RELATION if rights.by_relation and any(edge[1] is None for edge in case.walked) else None


class ContextViolation(ViolationMeasure):
    """1 if the principal may not read an id that was retrieved, or ranked as a file, module or symbol; else 0.

    The repository that a chunk states allows nothing if its id lies in another one, but it may deny. A
    record that logs no retrieved chunks isn't scored.
    """

    source = "access control of what reaches the prompt"
    query = "context_violation"
    query_parameters = MappingProxyType({"unscored": NO_PRINCIPAL, "unlogged": NO_RETRIEVAL})

    def forbidden(self, case: Case, rights: Rights) -> Iterator[str]:
        return (one.node for one in crossings(case, rights, "context"))

    def not_logged(self, case: Case, rights: Rights) -> str | None:
        return None if case.chunks_logged else NO_RETRIEVAL


class AnswerViolation(ViolationMeasure):
    """1 if the answer names or quotes what its principal may not read, else 0.

    An answer names a forbidden id if it cites it, or contains as a whole word its text, the path of its file (as
    ``path`` or ``repo/path``, unless the file itself may be read) or the last component of its symbol, unless an id
    that the principal may read has the same name, or the question itself names it. A name of one word doesn't count if
    a text of the record that the principal may read holds it. An id or a path is found in any case, with the marks,
    escapes and tags of Markdown, HTML and addresses and beside letters of scripts without spaces, a name of one word in
    its own case. Ids are those of the record and of the question's gold, and what is written as one in a repository
    that one of them lies in, or that a denied pattern names. An id of the record that a knowledge graph lacks excuses
    no name: it may be made up. A path of the graph in one of these repositories excuses it. The evidence files that the
    record states are named, too. An answer quotes a forbidden text if eight words in a row (16 letters of a script
    without spaces) are in a retrieved chunk or a call's result that the principal may not read, and in no text that it
    may read. Without the texts of chunks only names are found.
    """

    source = "disclosure in the answer; copied passages by runs of words"
    layer = "generation"
    needs_graph = True

    def forbidden(self, case: Case, rights: Rights) -> Iterator[str]:
        answer = case.answer
        if answer is None or answer.answer is None:
            return
        files = map(case.commits.access.id_of_file, answer.evidence_files or ())
        for one in (*answer.citations, *files):
            if case.places.repo(one) is not None and not rights.may_read(one):
                yield one
        places, read = case.places, _read(answer.answer)
        text = f"{answer.answer}\n{read}"
        words = words_of(f"{text}\n{_EMPHASIS.sub(lambda found: found[1], read)}")
        ids = dict.fromkeys(_ids(case))
        ids |= dict.fromkeys(map(places.file_id, ids))
        hidden = [one for one in ids if not rights.may_read(one)]
        repositories = places.named(ids) | _ruled(case)
        same = {f"{repo}:{path}" for one in hidden if (path := places.path(one)) is not None for repo in repositories}
        real = [one for one in _real(case, ids, same) if rights.may_read(one)]
        allowed = {name for one in real for name in _names(one, places)}
        texts = _texts(case, rights)
        asked, told = _read(case.question.question), words_of("\n".join(texts[0] if hidden else ()))
        # To repeat what the question names discloses nothing, nor does a word of what the principal may read.
        allowed |= {name for one in ids for name in _names(one, places) if name in told or _holds(asked, name)}
        plain, known = folded(_UNDERSCORES.sub("", read)), {*map(folded, allowed)}
        for one in hidden:
            names = [name for name in _names(one, places) if name not in allowed]
            parts = [folded(name) for name in names if not name.isidentifier()]
            if (
                one in answer.citations
                or any(named(name, text, words) for name in names)
                or any(_holds(plain, name) for name in parts if name not in known)
            ):
                yield one
        own = {*_written(asked, repositories)}
        for one in _written(read, repositories):
            if one not in own and not (
                rights.may_read(one) or rights.may_read(_AT.sub("", one)) or any(it.startswith(one) for it in real)
            ):
                yield one
        yield from _quoted(case, texts)

    def not_logged(self, case: Case, rights: Rights) -> str | None:
        return NO_ANSWER if case.answer is None or case.answer.answer is None else None


def _unmarked(text: str) -> str:
    """Return a text without marks, tags and invisible characters, which stand between what a reader reads."""
    return _without("Cf", _MARKS.sub("", html.unescape(text)))


def _without(categories: str, text: str) -> str:
    """Return a text without the characters whose category in Unicode begins so; none of ASCII does."""
    return text if text.isascii() else "".join(it for it in text if not unicodedata.category(it).startswith(categories))


def _read(text: str) -> str:
    """Return a text as it is read, without escapes of Markdown and of addresses, and with what its tags hold."""
    plain = _unmarked(text)
    return "\n".join(
        (
            plain,
            unquote(_ESCAPES.sub("", plain)),
            *(one.replace("--", " ") for one in _TAGS.findall(html.unescape(text))),
        )
    )


def _names(one: str, places: Places) -> Iterator[str]:
    """Yield the names by which an answer may give an id, among them ``repo/path``."""
    yield from names_in_text(one, places)
    if places.symbol(one) is None and places.path(one) is not None:
        yield places.file(one)


def _holds(text: str, name: str) -> bool:
    """Return whether a text holds a name, with no letter beside it of a script that separates words."""
    return name in text and re.search(rf"(?<!{LETTER}){re.escape(name)}(?!{LETTER})", text) is not None


def _written(text: str, repositories: Iterable[str]) -> Iterator[str]:
    """Yield what is written in a text as an id of some repositories, which it may spell in any case."""
    of = {one.casefold(): one for one in repositories}
    if of:
        names = "|".join(map(re.escape, sorted(of, key=len, reverse=True)))
        shown = _JOINED.sub(" ", unicodedata.normalize("NFKC", text))
        for found in re.finditer(rf"(?<![-.])(?<!{LETTER})_*({names})({_REST})", shown, re.IGNORECASE):
            repository = of.get(found[1].casefold(), found[1])
            rest = found[2].rstrip(".:!?~\\")
            of_host = shown.endswith(("//", "@"), 0, found.start())
            if not _NUMBERS.fullmatch(rest.partition("/")[0] if of_host else rest):
                yield repository + rest


def _calls(case: Case) -> Iterable[ToolCallStruct]:
    return (case.answer.tool_calls if case.answer is not None else None) or ()


def _seen(case: Case) -> Iterator[str]:
    for call in _calls(case):
        yield from call.seen or ()


def _ruled(case: Case) -> set[str]:
    """Return the repositories that denied patterns of the principal name."""
    rule = case.commits.access.rules.get(case.question.principal or "")
    named = (one if isinstance(one, str) else f"{one.get('repository', '')}:" for one in (rule.deny if rule else ()))
    return {
        repo
        for repo, colon, _ in (one.partition(":") for one in named)
        if colon and re.search(r"[*?]|^$", repo) is None
    }


def _real(case: Case, ids: Iterable[str], others: Iterable[str]) -> Iterator[str]:
    """Yield the ids that exist: those of gold and of the question's knowledge graphs; all if these aren't given.

    Of the ``others``, which no record names, only graphs know.
    """
    edges, stack = case.commits.edges, case.question.stack
    graphs = [edges[stack]] if stack is not None and stack in edges else [*edges.values()]
    known = [graph for graph in graphs if graph is not None]
    complete, gold = bool(known) and len(known) == len(graphs), {*_gold_ids(case)}
    for one in ids:
        if not complete or one in gold or any(graph.knows(one) for graph in known) or _is_read(case, one):
            yield one
    if complete:
        yield from (one for one in others if any(graph.knows(one) for graph in known) or _is_read(case, one))


def _is_read(case: Case, one: str) -> bool:
    """Return whether a knowledge graph states the commit of an artifact, which needs no edge to exist."""
    return any(True for _ in case.commits.read_at(one, case.question.stack))


def _gold_ids(case: Case) -> Iterator[str]:
    question = case.question
    for path in (*question.paths, *question.withheld):
        for step in path.steps:
            yield from (step.source, step.target)
    yield from question.relevant


def _ids(case: Case) -> Iterator[str]:
    """Yield the ids of a record and of its question."""
    yield from _gold_ids(case)
    yield from case.reached
    yield from (chunk.id for chunk in case.chunks)
    yield from case.ranked
    yield from linked(case) or ()
    yield from _seen(case)


def _texts(case: Case, rights: Rights) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the texts of a record that its principal may read, and the others, each with an id that forbids it.

    A call's result is one that may be read if what the call showed is known, and may be read.
    """
    open_, closed = [], []
    for chunk in case.chunks:
        if rights.may_read(chunk.id, chunk.repo):
            open_.append(chunk.text or "")
        else:
            closed.append((chunk.id, chunk.text or ""))
    for call in _calls(case):
        hidden = [one for one in call.seen or () if not rights.may_read(one)]
        if hidden:
            closed.append((hidden[0], call.result or ""))
        elif call.seen:
            open_.append(call.result or "")
    return open_, closed


def _quoted(case: Case, texts: tuple[list[str], list[tuple[str, str]]]) -> Iterator[str]:
    """Yield the forbidden ids whose text the answer quotes."""
    open_, closed = texts
    said = _runs((case.answer and case.answer.answer) or "") if closed else set()
    if found := [(one, runs) for one, text in closed if (runs := said & _runs(text))]:
        allowed = _runs(case.question.question).union(*map(_runs, open_))
        yield from (one for one, runs in found if runs - allowed)


def _runs(text: str) -> set[str]:
    """Return the runs of words of a text that are long enough for a quotation; signs of vowels are in no word."""
    words = _WORD.findall(_without("M", folded(_unmarked(text))))
    halves = [1 + (_SPACED.match(one) is not None) for one in words]
    runs, first, size = set(), 0, 0
    for last, own in enumerate(halves):
        size += own
        while size - halves[first] >= 2 * QUOTED:
            size -= halves[first]
            first += 1
        if size >= 2 * QUOTED:
            runs.add(" ".join(words[first : last + 1]))
    return runs
