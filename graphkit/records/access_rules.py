"""Access: what each principal may read and follow, and the gold of a question for the one who asks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from graphkit.records.ids import Places
from graphkit.records.structs import GoldPathStruct, QuestionStruct

if TYPE_CHECKING:
    from graphkit.records.models import AccessRule

#: What a pattern is matched with.
ByName = Literal["id", "repository", "relation"]

#: Why a question whose principal may read none of its gold has no answer.
NOT_ALLOWED = "not allowed"

#: The fields that say what the answer to a question is.
_GOLD = (
    *("gold_answer", "expected_output", "paths", "relevant", "expected_files", "expected_symbols", "facts"),
    *("conflicts", "min_sources", "test_cases", "expected_tool_calls", "gold_answers", "evidence_sets"),
    *("relevant_texts", "criteria", "rubric", "seeds", "gold_cypher"),
)
_NO_GOLD = {name: getattr(QuestionStruct("-", "-"), name) for name in _GOLD}

#: An id that climbs out of a folder, or holds characters that nobody sees, names what no pattern can tell.
_CLIMBS = r"(?:.*[:/\\]\.\.(?:[/\\].*)?|.*[\u00ad\u200b\u2060-\u2064\ufeff].*)"
#: A separator of a denied pattern, and what else may stand for it in an id: a wide one, one of an address, several.
_SEPARATOR = re.compile(r"(:(?::|\\\s)*|/)/*")
_SLASHES = r"(?:\.?(?:[/\\／]|%2f|%5c))"
_SEPARATORS = {":": rf"(?:[:：]|%3a)(?>[:：]*\s*){_SLASHES}*", "/": rf"(?:[/\\／]|%2f|%5c){_SLASHES}*"}
#: What may stand before a denied id within another one, as in ``web:hr:people.py``.
_AROUND = r".*[:#/\\]"
#: What may stand behind a denied id: a symbol or a file in a folder, a member of a symbol, a commit or lines.
_BEHIND = r"(?:[#@:/\\].*)?", r"(?:[.@:(#$<\[].*)?"

#: Ids of a principal whose rights are remembered.
_REMEMBERED = 100_000


class _Patterns:
    """Patterns of one list of a rule, by what they are matched with; those that deny match every spelling of a path."""

    def __init__(self, given: Iterable[str | Mapping[ByName, str]], denies: bool = False) -> None:
        texts: dict[str, list[str]] = {"id": [], "repository": [], "relation": []}
        for one in given:
            if isinstance(one, str):
                texts["id"].append(one)
            else:
                for kind, text in one.items():
                    texts[kind].append(text)
        if denies:
            texts = {
                kind: [*dict.fromkeys(form for one in some for form in _forms(one))] for kind, some in texts.items()
            }
        regexes = {kind: [*map(_regex, some)] for kind, some in texts.items() if some}
        if denies:
            within = [_regex(one, any_="[^:]") for one in texts["repository"]]
            within = [rf"(?:{_AROUND}{one}:|{one}[/\\]).*" for one in within]
            regexes["id"] = [*regexes.get("id", ()), *_loose(texts["id"]), *within, _CLIMBS]
        flags = "(?isu)" if denies else "(?s)"
        self.texts = {kind: f"{flags}{'|'.join(some)}" for kind, some in regexes.items()}
        self._found = {kind: re.compile(text) for kind, text in self.texts.items()}

    def has(self, kind: str) -> bool:
        return kind in self._found

    def match(self, kind: str, text: str | None) -> bool:
        return text is not None and kind in self._found and self._found[kind].fullmatch(text) is not None


def _forms(pattern: str) -> list[str]:
    """Return a pattern in both normal forms of Unicode, in which an id may be written."""
    return [pattern, *(unicodedata.normalize(form, pattern) for form in ("NFC", "NFD"))]


def _loose(patterns: Iterable[str]) -> list[str]:
    """Return denied patterns of ids for other spellings: within another id, as ``repo/path``, and with more behind."""
    found, named, as_path = [], [], []
    for one in patterns:
        repository, colon, path = one.partition(":")
        behind = "" if one.endswith("*") else _BEHIND["#" in one]
        if not colon or not repository or "*" in repository:
            found.append(_regex(one, loose=True) + behind * ("*" in one))
            continue
        named.append(_regex(one, loose=True) + behind)
        as_path += [] if path.startswith("/") else [_regex(f"{repository}/{path}", loose=True) + behind]
    # What all share stands before them, so that it is looked at once.
    found += [f"(?:{_AROUND})?(?:{'|'.join(named)})"] if named else []
    return found + ([rf"[./\\:]*(?:{'|'.join(as_path)})"] if as_path else [])


def _regex(pattern: str, loose: bool = False, any_: str = ".") -> str:
    """Return a pattern as a regular expression that never looks twice at a part before a star.

    A loose one takes ``./``, ``//`` and backslashes for other spellings of a path; ``any_`` is what a star stands for.
    """
    first, *rest = (re.escape(part).replace(r"\?", ".") for part in re.split(r"\*+", pattern))
    if loose:
        first, *rest = (_SEPARATOR.sub(lambda found: _SEPARATORS[found[1][0]], part) for part in (first, *rest))
    if not rest:
        return f"(?:{first})"
    *middle, last = rest
    return f"(?:{first}{''.join(f'(?>{any_}*?{part})' for part in middle)}{any_}*{last})"


def pattern_matches(pattern: str, text: str, denies: bool = False) -> bool:
    """Return whether a pattern matches the whole of a text; one that denies does so in any case and normal form.

    >>> pattern_matches("web:*", "web:login.ts"), pattern_matches("web:?.ts", "web:login.ts")
    (True, False)
    """
    some, flags = (_forms(pattern), "isu") if denies else ([pattern], "s")
    return any(re.fullmatch(f"(?{flags}){_regex(one)}", text) for one in some)


class Rights:
    """The rights of one principal; without a rule it has none."""

    def __init__(self, rule: AccessRule | None, places: Places) -> None:
        self._places = places
        self._allow = _Patterns(rule.allow if rule is not None else ())
        self._deny = _Patterns(rule.deny if rule is not None else (), denies=True)
        self._known: dict[str, bool] = {}

    @property
    def by_relation(self) -> bool:
        """Whether relations decide which edges may be followed."""
        return self._allow.has("relation") or self._deny.has("relation")

    @property
    def allowed(self) -> Mapping[str, str]:
        """The allowed patterns as one regular expression for each kind that has any."""
        return self._allow.texts

    @property
    def denied(self) -> Mapping[str, str]:
        """The denied patterns in the same form."""
        return self._deny.texts

    def may_read(self, node: str, repo: str | None = None) -> bool:
        """Return whether the principal may read a node; ``repo`` is a repository that a run's record states.

        Such a statement allows nothing if the dataset knows where the node lies, but it may deny.
        """
        found = self._known.get(node)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[node] = self._may_read(node, self._places.repo(node))
        if repo is None or repo == self._places.repo(node):
            return found
        stated = self._may_read(node, repo)
        return stated and (found or self._places.repo(node) is None)

    def _may_read(self, node: str, repo: str | None) -> bool:
        allowed, denied = (one.match("id", node) or one.match("repository", repo) for one in (self._allow, self._deny))
        return allowed and not denied

    def may_use(self, relation: str | None) -> bool:
        """Return whether the principal may follow edges of a relation; one that isn't stated forbids nothing."""
        if relation is None:
            return True
        allowed = self._allow.match("relation", relation) or not self._allow.has("relation")
        return allowed and not self._deny.match("relation", relation)

    def may_follow(self, source: str, relation: str | None, target: str) -> bool:
        """Return whether the principal may follow an edge: it may read both ends, and use the relation."""
        return self.may_read(source) and self.may_read(target) and self.may_use(relation)


@dataclass
class AccessRules:
    """The rules of a dataset.

    Attributes
    ----------
    rules
        The rule of each principal.
    principal
        Who asks the questions that name nobody; None for nobody.
    places
        Where the dataset's nodes lie.

    >>> from graphkit.records.models import AccessRule
    >>> access = AccessRules({"web-team": AccessRule(principal="web-team", allow=("web:*",), deny=("web:secret/*",))})
    >>> [access.of("web-team").may_read(one) for one in ("web:a.ts", "web:secret/b.ts", "hr:c.py")]
    [True, False, False]
    >>> access.of("nobody").may_read("web:a.ts")
    False
    """

    rules: dict[str, AccessRule] = field(default_factory=dict)
    principal: str | None = None
    places: Places = field(default_factory=Places)
    _rights: dict[str, Rights] = field(default_factory=dict, repr=False)

    def of(self, principal: str) -> Rights:
        """Return the rights of a principal."""
        found = self._rights.get(principal)
        if found is None:
            found = self._rights[principal] = Rights(self.rules.get(principal), self.places)
        return found

    def gold_for(self, question: QuestionStruct) -> QuestionStruct:
        """Return a question with the gold of the one who asks it.

        Paths with a required step that the principal may not follow are withheld, and so are optional steps, evidence
        sets, relevant ids and expected files that it may not read. If a path or a group has no alternative left, or a
        question without paths no relevant id or evidence set, then the question has no answer for this principal.
        """
        principal = question.principal if question.principal is not None else self.principal
        if principal is None:
            return question
        rights, named = self.of(principal), replace(question, principal=principal)
        if question.answerable is False:
            return named
        paths, withheld, lost = _divided(question.paths, rights)
        relevant = {node: gain for node, gain in question.relevant.items() if rights.may_read(node)}
        sets = [one for one in question.evidence_sets if all(map(rights.may_read, one))]
        if not question.paths:
            wanted = any(gain > 0 for gain in question.relevant.values())
            lost = (wanted and not any(gain > 0 for gain in relevant.values())) or (
                bool(question.evidence_sets) and not sets
            )
        withheld = [*question.withheld, *withheld]
        if lost:
            withheld = [*question.withheld, *question.paths]
            return replace(named, answerable=False, why_not=NOT_ALLOWED, withheld=withheld, **_NO_GOLD)
        return replace(
            named,
            paths=paths,
            withheld=withheld,
            relevant=relevant,
            evidence_sets=sets,
            seeds=[one for one in question.seeds if rights.may_read(one)],
            expected_files=[one for one in question.expected_files if rights.may_read(self.id_of_file(one))],
            expected_symbols=[
                one for one in question.expected_symbols if self.places.repo(one) is None or rights.may_read(one)
            ],
        )

    def id_of_file(self, file: str) -> str:
        """Return the id of a file that is given as ``repo/path`` or by its id."""
        return file if self.places.repo(file) is not None else file.replace("/", ":", 1)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_rights": {}}


def no_rule(principal: str) -> str:
    """Return what it means that no rule names a principal."""
    return f"no rule of access.jsonl names the principal {principal!r}: it may read nothing"


def _divided(
    paths: Iterable[GoldPathStruct], rights: Rights
) -> tuple[list[GoldPathStruct], list[GoldPathStruct], bool]:
    """Return the paths that a principal may follow, the others, and whether a required path or group has none left."""
    kept, withheld, open_ = [], [], dict[object, bool]()
    for number, path in enumerate(paths):
        if not path.steps:
            kept.append(path)
            continue
        steps = [one for one in path.steps if rights.may_follow(one.source, one.relation, one.target)]
        fits = sum(not one.optional for one in steps) == sum(not one.optional for one in path.steps)
        unit = number if path.group is None else path.group
        open_[unit] = open_.get(unit, False) or fits
        if not fits:
            withheld.append(path)
        elif steps:
            kept.append(path if len(steps) == len(path.steps) else replace(path, steps=steps))
    return kept, withheld, not all(open_.values())
