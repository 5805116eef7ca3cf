"""Proposes a mapping for a log that no reader knows, from what its values are to a dataset, with the evidence."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from graphkit.files.dataset import Dataset
from graphkit.files.known_ids import gold_ids, read_known
from graphkit.files.problems import OnError, Problems
from graphkit.imports.mappings import is_log_table, mapping_file
from graphkit.imports.names import Names, id_sources
from graphkit.imports.sources import is_json, text_of
from graphkit.plugins.mapping.field_maps import FieldMap
from graphkit.plugins.mapping.field_values import (
    ITEM,
    KNOWN,
    SOME_KNOWN,
    FieldPath,
    RowValues,
    Vocabulary,
    expression_of,
    scalars,
)
from graphkit.plugins.mapping.line_patterns import line_forms, sessions_of, step_forms
from graphkit.plugins.mapping.log_rows import json_rows, log_rows
from graphkit.plugins.mapping.mapped_records import joined_rows
from graphkit.plugins.mapping.measured_walks import WalkField, measure_walks, words_of
from graphkit.plugins.mapping.row_questions import QuestionField, question_fields
from graphkit.plugins.mapping.walk_fields import walk_fields
from graphkit.readers.logged import UnreadableLogError
from graphkit.records.aliases import ANSWER
from graphkit.records.models import Answer
from graphkit.records.path_texts import text_of_steps
from graphkit.records.question_texts import QuestionTexts
from graphkit.records.structs import QuestionStruct
from graphkit.records.words import counted, shortened

#: How many rows and lines of a log are looked at.
_ROWS, _LINES = 500, 20_000

#: How many fields of each kind are named.
_SHOWN = 12

#: A candidate whose share of edges in the graph is less than this part of the best one's is no walk.
_WEAK = 0.5

#: Names of fields that hold what a system answered.
_ANSWERS = ("answer", "response", "finalanswer", "completion", "generation", "prediction", "output", "reply", "out")

#: Words by which the name of a list says that its nodes were retrieved, in this order.
_RANKED = frozenset(("retrieved", "ranked", "ranking", "hits"))

#: The fields of a record whose names say what they hold and in which unit.
_AMOUNTS = ("latency_ms", "model_calls", "prompt_tokens", "output_tokens", "cost", "error")

#: The way that is left to a person.
_BY_HAND = "docs/importing.md says how fields of any log are read (--map, --line, --id-pattern)."


@dataclass
class ProposedMap:
    """A mapping for a log, with its evidence.

    Attributes
    ----------
    assignments
        The lines of the mapping, as ``--map`` takes them.
    evidence
        What was counted for each field that it reads, in sentences.
    unread
        The fields that it doesn't read.
    first
        The first record with a walk, as it is read.
    doubts
        Why a person must decide; empty if nothing stands against the mapping.
    choices
        The assignments among which to decide, each with what tells it apart.
    """

    path: Path
    assignments: list[str]
    evidence: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    first: str = ""
    doubts: list[str] = field(default_factory=list)
    choices: list[tuple[str, str]] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return the evidence and the first record."""
        unread = f"not read: {listed_fields(self.unread)}" if self.unread else ""
        chosen = [f"{assignment}: {what}" for assignment, what in self.choices]
        return [*self.evidence, *filter(None, (unread,)), *chosen, *filter(None, (self.first,))]

    def text(self) -> str:
        """Return the mapping as a file, in which a choice that is open is a line to be completed."""
        comments = [f"# {line}" for line in "\n".join(self.lines()).splitlines()]
        lines = [*comments, *self.assignments]
        if self.choices:
            name = self.choices[0][0].partition("=")[0]
            lines += [f"# {doubt}: complete this line by one of those above." for doubt in self.doubts] + [f"{name} ="]
        return "\n".join(lines) + "\n"

    def file(self) -> Path:
        """Return the file of the mapping, beside the log."""
        return mapping_file(self.path)

    def write(self) -> str:
        """Write the mapping beside the log, and return what became of it."""
        file, text = self.file(), self.text()
        if any(len(one.splitlines()) > 1 for one in (*self.assignments, *(one for one, _ in self.choices))):
            return "the mapping isn't kept: a name or a text in it holds a line break, and would be a line of its own"
        try:
            file.write_text(f"{_HEADER}{_digest(text)}\n{text}", encoding="utf-8")
        except OSError as error:
            return f"the mapping couldn't be written to {file}: {error.strerror or error}"
        return f"the mapping is in {file}"


def mapping_beside(path: Path) -> Path | None:
    """Return the mapping beside a log that somebody has written or edited; None for none, or for one as proposed."""
    file = mapping_file(path)
    if not file.is_file():
        return None
    head, _, text = file.read_text(encoding="utf-8", errors="replace").partition("\n")
    return None if head == f"{_HEADER}{_digest(text)}" else file


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


#: The first line of a mapping as it was proposed, before the digest of the others, by which edits are seen.
_HEADER = "# proposed by graphkit import auto, "


def listed_fields(names: Sequence[str]) -> str:
    """Return the names of fields in words, the first of many."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(f"`{shortened(name)}`" for name in names[:_SHOWN]) + more


def propose(
    path: Path,
    dataset: str | Path | Dataset,
    *,
    ids: str | Path | Mapping[str, str] | None = None,
    id_pattern: str | None = None,
    on_error: OnError = "fail",
) -> ProposedMap:
    """Return a mapping for a log of a form that nobody named.

    Parameters
    ----------
    ids, id_pattern
        The ids of the names in the log, as :class:`graphkit.imports.importer.ImportOptions` has them.
    on_error
        Whether lines that aren't JSON refuse the log or are skipped.

    Raises
    ------
    UnreadableLogError
        The log names no question of the dataset, or no node: the error says what was found.
    """
    vocabulary = _vocabulary(Dataset.of(dataset), ids, id_pattern)
    if not is_json(path) and not is_log_table(path):
        return _of_lines(path, vocabulary)
    raw = RowValues(table=is_log_table(path))
    source = log_rows(path) if raw.table else json_rows(path, lambda value: [value], Problems(on_error))
    for _, value in islice(source, _ROWS):
        raw.add(value)
    longer = next(iter(source), None) is not None
    asked = question_fields(raw, vocabulary)
    if not asked:
        raise _no_question(path, raw, vocabulary)
    found: list[tuple[QuestionField, RowValues, list[WalkField]]] = []
    for one in asked[:3]:
        values = one.rows_within(raw)
        found.append((one, values, walk_fields(values, vocabulary, one.questions(values, vocabulary))))
        if found[-1][2]:
            break
    one, values, candidates = max(found, key=lambda each: bool(each[2]))
    proposal = _decided(path, one, values, candidates, vocabulary)
    if longer:
        proposal.evidence.insert(0, f"counted over the first {_ROWS} rows, and the log has more")
    return proposal


def _vocabulary(dataset: Dataset, ids: str | Path | Mapping[str, str] | None, id_pattern: str | None) -> Vocabulary:
    texts, gold, words = QuestionTexts(), [], []

    def questions() -> Iterator[QuestionStruct]:
        for _, question in dataset.questions(Problems("skip")):
            texts.add(question.id, question.question)
            words.append(question.question)
            gold.append(question)
            yield question

    known, edges = read_known(dataset, questions())
    names = Names(known.all(), *id_sources(ids, id_pattern), known.places)
    made = Vocabulary(texts, known, names, edges, words)
    for question in gold:
        made.add_gold(question, gold_ids(question))
    return made


def _decided(
    path: Path, asked: QuestionField, values: RowValues, candidates: list[WalkField], vocabulary: Vocabulary
) -> ProposedMap:
    """Return the proposal for the walk among the candidates, or for a log without walks."""
    what = "text" if asked.by_text else "id"
    name = "the keys" if asked.rows and asked.rows.startswith("items(") else f"`{expression_of(asked.path)}`"
    proposal = ProposedMap(path, asked.assignments)
    proposal.evidence.append(f"{name}: the {what} of a question in {asked.known} of {counted(asked.total, 'row')}")
    read = {asked.path}
    chosen = _choose(proposal, candidates, vocabulary, values)
    if chosen is not None:
        read |= {*chosen.roles}
    elif not proposal.choices:
        _say_names(proposal, values, vocabulary)
    read |= _beside(proposal, values, vocabulary, read)
    read |= _retrieved(proposal, values, vocabulary, read)
    known = {("question",), *((name,) for name in Answer.model_fields)} if values.rows and not asked.rows else set()
    proposal.unread = sorted({expression_of(one) for one in values.leaves if one not in read and one not in known})
    if chosen is not None:
        proposal.first = _first(chosen)
    elif not proposal.doubts and not any(not one.startswith(_OF_ROWS) for one in proposal.assignments):
        own = {str(path[0]) for path in values.leaves if len(path) == 1} & {"answer", *ANSWER["answer"]}
        if not own:
            proposal.doubts.append("nothing is found in it but questions")
    nameless = len(values.rows) - len({row for row, _ in values.leaves.get(asked.path, ())})
    if nameless and not asked.rows and chosen is not None and chosen.name == "step":
        proposal.assignments.remove(chosen.assignment)
        proposal.choices = [(chosen.assignment, _counted(chosen))]
        proposal.doubts.append(
            f"{nameless} of {counted(len(values.rows), 'row')} name no question: fill it in, or say what rows of one "
            "answer have in common (session=FIELD)"
        )
    return proposal


#: The assignments that hold nothing of an answer.
_OF_ROWS = ("rows=", "question=", "question_id=", "line=", "session=")


def _choose(
    proposal: ProposedMap, candidates: list[WalkField], vocabulary: Vocabulary, values: RowValues | None = None
) -> WalkField | None:
    """Add the walk to a proposal, or the walks among which a person must choose; return it if there is one."""
    gold = [one for one in candidates if one.is_gold(vocabulary) or one.may_be_gold(vocabulary)]
    same = [one for one in candidates if one.is_constant() and one not in gold]
    rest = [one for one in candidates if one not in gold and one not in same]
    for one in same:
        proposal.evidence.append(f"{_fields(one)}: the same edges in each row of a question, so no walk")
    pairs = [one for one in rest if one.name == "step" and one.is_one_each()]
    if len(pairs) < len(rest):
        rest = [one for one in rest if one not in pairs]
        proposal.evidence += [f"{_fields(one)}: one pair a row beside a longer walk, so no walk" for one in pairs]
    rest = [one for one in rest if not any(one.misnames(other) for other in rest)]
    best = max((one.held for one in rest), default=0.0)
    typed = any(one.typed for one in rest)
    weak = [
        one
        for one in rest
        if one.held < best * _WEAK or (typed and not one.typed and not one.directed and one.held < KNOWN)
    ]
    rest = [one for one in rest if one not in weak]
    for one in weak:
        stand = one.forward + one.backward + one.both
        proposal.evidence.append(
            f"{_fields(one)}: {stand} of {counted(one.edges, 'pair')} stand in the graph, so no walk"
        )
    rest = _distinct(rest)
    gold = _distinct(gold)
    plainer = gold and any(one.typed for one in gold) and not any(one.typed for one in rest)
    if rest and gold and not plainer and not any(one.holds(known) for one in rest for known in gold):
        proposal.evidence += [f"{_fields(one)}: {_gold(one, vocabulary)}, so not the walk" for one in gold]
        gold = []
    if len(rest) == 1 and not gold:
        [one] = rest
        proposal.evidence.append(_counted(one))
        if not one.typed:
            proposal.evidence.append("the walk has no relations: its edges are compared without them")
        doubts = _doubts(one, values)
        proposal.doubts += doubts
        if one.doubt is not None and one.directed:
            proposal.choices = [(each.assignment, _counted(each)) for each in (one, *one.turned)]
        elif doubts:
            proposal.choices = [(one.assignment, _counted(one))]
        if not doubts:
            proposal.assignments.append(one.assignment)
            return one
        return None
    if not rest and not gold:
        return None
    proposal.choices = [(one.assignment, _counted(one)) for one in rest]
    proposal.choices += [(one.assignment, f"{_counted(one)}; {_gold(one, vocabulary)}") for one in gold]
    if rest and gold:
        proposal.doubts.append(f"one field {_gold(gold[0], vocabulary)}: it is the gold, or a very good run")
    elif gold:
        proposal.doubts.append(f"the field with edges {_gold(gold[0], vocabulary)}: it is the gold, or a very good run")
    else:
        proposal.doubts.append("several fields may hold the walk")
    return None


def _distinct(candidates: list[WalkField]) -> list[WalkField]:
    """Return candidates without those that read the same walks as another, with less of them."""
    kept: list[WalkField] = []
    for one in sorted(candidates, key=lambda one: (-one.exact, not one.typed, not one.directed, len(one.expression))):
        same = [other for other in kept if one.has_walks_of(other)]
        if not same or not (one.roles.keys() & same[0].roles.keys() or not one.typed):
            kept.append(one)
    return kept


def _gold(one: WalkField, vocabulary: Vocabulary) -> str:
    """Return why a candidate may be the gold."""
    if one.is_gold(vocabulary):
        return "equals the gold of each row's question"
    return "is named as gold is, and equals it in half of the rows at least"


def _doubts(one: WalkField, values: RowValues | None) -> list[str]:
    """Return what stands against a candidate that fits alone."""
    doubts = [*([one.doubt] if one.doubt else []), *one.doubts]
    for flag in one.flags:
        doubts.append(
            f"`{expression_of(flag)}` may say which steps were only seen: if so, filter by it, as in "
            f"{_filtered(one, flag, values)}"
        )
    return doubts


def _filtered(one: WalkField, flag: FieldPath, values: RowValues | None) -> str:
    """Return the assignment with a filter by the first value of a flag."""
    of = expression_of(one.rows_of)
    inner = expression_of(flag[len(one.rows_of) :])
    value = next((value for _, value in (values.leaves.get(flag, ()) if values else ())), True)
    shown = f"'{value}'" if isinstance(value, str) else f"`{json.dumps(value)}`"
    if not one.rows_of:
        return f"{one.name}=[@][?{inner}=={shown}].{one.expression}"
    return one.assignment.replace(f"{of}.", f"{of.removesuffix('[]')}[?{inner}=={shown}].", 1)


def _counted(one: WalkField) -> str:
    """Return what was counted of a candidate, in words."""
    if one.directed:
        along = f"{one.forward + one.both} of {counted(one.edges, 'edge')} stand in the graph this way"
        stand = f"{along} and {one.backward} the other way"
    else:
        held = one.forward + one.backward + one.both
        stand = f"{held} of {counted(one.edges, 'pair')} of neighbours are edges of the graph"
        if one.typed and one.backward:
            stand += (
                f", {one.forward + one.both} along and {one.backward} against, in the order in which they were walked"
            )
    return f"{_fields(one)}: {one.known} of {counted(one.ends, 'end')} are known, {stand}"


def _fields(one: WalkField) -> str:
    return ", ".join(f"`{expression_of(path)}` {role}" for path, role in one.roles.items()) or one.expression


def _first(one: WalkField) -> str:
    row = next((row for row, walk in one.walks.items() if walk and one.questions[row]), None)
    if row is None:
        return ""
    walk = shortened(text_of_steps(one.walks[row]), 400)
    return f"the first record with a walk, as it is read: question {one.questions[row]}, {walk}"


def _say_names(proposal: ProposedMap, values: RowValues, vocabulary: Vocabulary) -> None:
    """Add why there is no walk: names that aren't known to the dataset, or no names at all."""
    best: tuple[int, FieldPath, list[str]] = (0, (), [])
    for path, held in values.leaves.items():
        names = [value for _, value in held if isinstance(value, str) and not any(map(str.isspace, value)) and value]
        names = [name for name in names if not vocabulary.question(name) and not vocabulary.relation(name)]
        if ITEM in path and len(names) > max(best[0], len(held) / 2):
            best = (len(names), path, names)
    count, path, names = best
    texts = {path: sum(len(vocabulary.nodes_in(value)) > 1 for _, value in one) for path, one in values.leaves.items()}
    if unread := [path for path, several in texts.items() if several]:
        shown = listed_fields([expression_of(path) for path in unread])
        proposal.doubts.append(f"texts of {shown} hold several nodes in a form that isn't known")
    elif not count:
        proposal.evidence.append("no field holds two nodes: the walk isn't logged")
        return
    if not count:
        return
    known = sum(vocabulary.node(name) is not None for name in names)
    near = vocabulary.nearest(dict.fromkeys(name for name in names if vocabulary.node(name) is None))
    such = f": `{shortened(near[0])}`, nearest `{shortened(near[1])}`; map it by --id-pattern or --ids" if near else ""
    if known:
        such = f" (--map retrieved={expression_of(path)} reads them as what was retrieved){such}"
    of = "none" if not known else str(known)
    proposal.evidence.append(
        f"of {counted(count, 'value')} of `{expression_of(path)}` {of} {'is a node' if not known else 'are nodes'} of "
        f"the dataset{such}"
    )
    proposal.doubts.append("no walk was found in it")


def _beside(proposal: ProposedMap, values: RowValues, vocabulary: Vocabulary, read: set[FieldPath]) -> set[FieldPath]:
    """Add the answer and the amounts whose fields are known by their names, and return these fields."""
    found: set[FieldPath] = set()
    texts = []
    for path, held in values.leaves.items():
        if path in read or ITEM in path or not path:
            continue
        name = str(path[-1])
        own = next((one for one in _AMOUNTS if name in (one, *ANSWER.get(one, ()))), None)
        strings = [value for _, value in held if isinstance(value, str)]
        if (own == "error" and len(strings) == len(held)) or (
            own is not None and own != "error" and all(_is_number(value) for _, value in held)
        ):
            found |= _read_by_name(proposal, own, path)
        elif len(strings) == len(held) and not any(map(vocabulary.question, strings)):
            texts.append(path)
    named = [path for path in texts if str(path[-1]).replace("_", "").casefold() in _ANSWERS]
    named.sort(key=lambda path: _ANSWERS.index(str(path[-1]).replace("_", "").casefold()))
    free = [path for path in texts if _is_prose(values, path, vocabulary)]
    if named or len(free) == 1:
        path = (named or free)[0]
        by = "by its name" if named else "the only text in words"
        if path != ("answer",):
            proposal.assignments.append(f"answer={expression_of(path)}")
        proposal.evidence.append(f"`{expression_of(path)}`: the answer, {by}")
        found.add(path)
    elif free:
        shown = listed_fields([expression_of(path) for path in free])
        proposal.evidence.append(
            f"no answer is read: several fields hold texts, {shown} (name one by --map answer=FIELD)"
        )
    return found


def _retrieved(
    proposal: ProposedMap, values: RowValues, vocabulary: Vocabulary, read: set[FieldPath]
) -> set[FieldPath]:
    """Add the one list of nodes beside a walk whose name says that they were retrieved, and return its field.

    Unread, it would leave the measures of rankings unscored, as if nothing had been logged.
    """
    walked = {path[: path.index(ITEM)] for path in read if ITEM in path}
    ranked = [
        path
        for path in scalars(values, vocabulary.node, SOME_KNOWN)
        if path.count(ITEM) == 1 and path[: path.index(ITEM)] not in walked
        if any(_RANKED.intersection(words_of(str(part))) for part in path[: path.index(ITEM)])
    ]
    if len(ranked) != 1 or not any(one.startswith("traversal=") for one in proposal.assignments):
        return set()
    known, total = values.share(ranked[0], vocabulary.node)
    proposal.assignments.append(f"retrieved={expression_of(ranked[0])}")
    proposal.evidence.append(
        f"`{expression_of(ranked[0])}`: what was retrieved, by its name; {known} of {counted(total, 'value')} are known"
    )
    return {*ranked}


def _read_by_name(proposal: ProposedMap, name: str, path: FieldPath) -> set[FieldPath]:
    if len(path) > 1 or proposal.assignments[0].startswith("rows="):
        proposal.assignments.append(f"{name}={expression_of(path)}")
    proposal.evidence.append(f"`{expression_of(path)}`: {name}, by its name")
    return {path}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_prose(values: RowValues, path: FieldPath, vocabulary: Vocabulary) -> bool:
    """Return whether a field holds texts of several words that differ between rows and repeat no question."""
    texts = [value for _, value in values.leaves[path] if isinstance(value, str)]
    several = [text for text in texts if len(text.split()) > 1]
    asked = [text for text in texts if any(one in text for one in vocabulary.texts[:_ROWS])]
    return len(several) >= KNOWN * len(texts) and len(set(texts)) > min(1, len(texts) - 1) and not asked


def _no_question(path: Path, raw: RowValues, vocabulary: Vocabulary) -> UnreadableLogError:
    """Return the error for a log that names no question, with what its fields hold."""
    nodes = {expression_of(one): raw.share(one, vocabulary.node) for one in raw.leaves}
    known = [f"{count} of {total} values of `{name}` are nodes" for name, (count, total) in nodes.items() if count]
    questions = {expression_of(one): raw.share(one, vocabulary.question) for one in raw.leaves}
    asked = [f"{count} of {total} values of `{name}` are" for name, (count, total) in questions.items() if count]
    fields = listed_fields(sorted(map(expression_of, raw.leaves)))
    found = "; ".join((asked or known)[:3])
    what = "no format is recognised in it, and no field names the questions of the dataset by id or text"
    return UnreadableLogError(
        f"{what} (fields: {fields}{f'; {found}' if found else ''})",
        where=str(path),
        remedy=f"Check --dataset. {_BY_HAND}",
    )


def _of_lines(path: Path, vocabulary: Vocabulary) -> ProposedMap:
    """Return the proposal for a log of text lines: patterns of lines with a question, a step, an answer."""
    source = text_of(path)
    lines = [line for _, line in islice(source, _LINES)]
    longer = next(source, None) is not None
    forms = line_forms(lines, vocabulary)
    keyed = [one for one in forms.steps if "(?P<question_id>" in one]
    if not forms.questions and not keyed:
        what = "no format is recognised in it: it is text, and no line names a question of the dataset"
        raise UnreadableLogError(what, where=str(path), remedy=f"Check --dataset. {_BY_HAND}")
    if not forms.steps:
        what = "no format is recognised in it: it is text, and no line holds two nodes of the dataset"
        raise UnreadableLogError(what, where=str(path), remedy=_BY_HAND)
    base = [f"line={one}" for one in forms.questions[:1]]
    session = sessions_of(lines, forms, vocabulary)
    base += [f"line={one}" for one in (session, forms.answer) if one]
    proposal = ProposedMap(path, base)
    candidates = []
    questions: list[str | None] = []
    for pattern in forms.steps:
        tried = []
        for text in (pattern, _swapped(pattern)):
            fields = FieldMap([*base, f"line={text}"])
            rows = [(str(number), row) for number, line in enumerate(lines, 1) if (row := fields.row_of(line))]
            records = list(joined_rows(iter(_given(fields, rows)), fields, Problems("skip")))
            questions = [
                vocabulary.question(next((given[n] for n in ("question_id", "question") if given.get(n)), None))
                for _, given, _scores in records
            ]
            one = WalkField("line", text, {})
            measure_walks(one, (given.get("traversal") for _, given, _scores in records), vocabulary)
            tried.append(one)
        first, second = tried
        one = second if second.forward > first.forward else first
        least, most = sorted((one.forward, one.backward))
        if least > (least + most) / 5:
            one.doubt = (
                f"{one.forward} of {one.edges} edges stand in the graph this way and {one.backward} the other way"
            )
            one.turned = [second if one is first else first]
        one.questions = questions
        forms_of = step_forms(lines, one.expression, vocabulary)
        if len(forms_of) > 1:
            shown = " and ".join(f"`{shortened(form)}`" for form in forms_of[:3])
            one.doubts.append(
                f"its lines have several forms, of which some may be of steps that were only seen: {shown}"
            )
        if one.edges:
            candidates.append(one)
    found = sum(one is not None for one in questions)
    pattern = forms.questions[0] if forms.questions else keyed[0]
    proposal.evidence.append(
        f"lines like `{pattern}`: {found} of {counted(len(questions), 'question')} are of the dataset"
    )
    if longer:
        proposal.evidence.insert(0, f"counted over the first {_LINES:,} lines, and the log has more")
    if session:
        proposal.evidence.append(f"`{session}`: what lines of one question have in common")
    if forms.answer:
        proposal.evidence.append(f"`{forms.answer}`: the answer, by its name")
    if not session and not keyed and forms.interleaved(lines):
        proposal.doubts.append("questions overlap in it, and nothing says which line belongs to which question")
    chosen = _choose(proposal, candidates, vocabulary) if candidates else None
    if proposal.doubts and chosen is not None:
        proposal.assignments.remove(chosen.assignment)
        proposal.choices = [(chosen.assignment, _counted(chosen))]
        chosen = None
    if chosen is not None:
        proposal.first = _first(chosen)
    return proposal


def _given(fields: FieldMap, rows: Sequence[tuple[str, dict[str, str]]]) -> Iterator[Any]:
    from graphkit.plugins.mapping.mapped_records import row_record

    for where, row in rows:
        yield row_record(fields, where, row)


def _swapped(pattern: str) -> str:
    marked = pattern.replace("(?P<source>", "(?P<\0>")
    return marked.replace("(?P<target>", "(?P<source>").replace("(?P<\0>", "(?P<target>")
