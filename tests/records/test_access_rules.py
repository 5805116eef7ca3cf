"""Rules of access, and the gold of a question for the one who asks."""

from __future__ import annotations

from graphkit.records.access_rules import AccessRules
from graphkit.records.models import AccessRule
from graphkit.records.structs import GoldPathStruct, QuestionStruct, StepStruct

ACCESS = AccessRules(
    {
        "web-team": AccessRule(principal="web-team", allow=("web:*", {"repository": "api"}), deny=("api:secrets/*",)),
        "readers": AccessRule(
            principal="readers", allow=("*", {"relation": "READS*"}), deny=({"relation": "READS_ALL"},)
        ),
        "plain": AccessRule(principal="plain", allow=("web:pages/[id].ts?",)),
    }
)


def path(text: str, group: str | None = None, optional: bool = False) -> GoldPathStruct:
    """Return a path through the nodes of a text; ``optional`` makes its last step optional."""
    nodes = text.split()
    steps = [StepStruct(one, two, "CALLS") for one, two in zip(nodes, nodes[1:], strict=False)]
    steps[-1].optional = optional
    return GoldPathStruct(group=group, steps=steps)


def asked(*paths: GoldPathStruct, **fields: object) -> QuestionStruct:
    """Return the question of the web team with the gold that is left of these paths."""
    return ACCESS.gold_for(QuestionStruct("q", "?", paths=[*paths], principal="web-team", **fields))  # type: ignore[arg-type]


def test_denied_wins_and_no_rule_allows_nothing() -> None:
    """A node is read if an id or a repository allows it and nothing denies it; no rule, no reading."""
    rights = ACCESS.of("web-team")
    nodes = ["web:a.ts", "api:b.py#f", "api:secrets/key", "hr:web:c.py", "db:t.sql"]
    assert [rights.may_read(one) for one in nodes] == [True, True, False, False, False]
    assert not any(map(ACCESS.of("nobody").may_read, nodes))


def test_only_stars_and_question_marks_are_special() -> None:
    """Brackets, as in names of routes, stand for themselves; ? is exactly one character."""
    rights = ACCESS.of("plain")
    nodes = ["web:pages/[id].tsx", "web:pages/i.tsx", "web:pages/[id].ts", "web:pages/[id].ts\n"]
    assert [rights.may_read(one) for one in nodes] == [True, False, False, True]


def test_another_spelling_of_a_path_is_denied_too() -> None:
    """Each id before the last five names a denied path or climbs out of a folder; dots within names do neither."""
    rule = AccessRule(principal="p", allow=("web:*", "https://x/*"), deny=("web:secrets/*", "https://x/y/*", "*a/*./c"))
    rights = AccessRules({"p": rule}).of("p")
    denied = ["web:secrets/k", "web:./secrets/k", "web://secrets/k", "web:secrets\\k", "web:secrets/.//./k"]
    denied += ["web:x/../secrets/k", "web:../hr/people.py", "web:x\\..\\secrets", "https://x//y/z", "web:a/./c"]
    # Separators as an address writes them, several colons, wide characters, and what nobody sees.
    denied += [
        "web:secrets%2Fk",
        "web%3Asecrets/k",
        "web::secrets/k",
        "web: secrets/k",
        "web：secrets/k",
        "web:secrets／k",
    ]
    denied += ["web:\u200bsecrets/k", "web:sec\u00adrets/k", "web:k\ufeff"]
    allowed = ["web:secrets.py", "web:a..b/c", "web:[...slug]/..page.ts", "https://x/z", "web:.github/secrets"]
    allowed += ["web:100%25secrets", "web:نمی\u200cدانم"]
    # A pattern that is spelt so denies itself, however it is spelt.
    spelt = ("std::vector", "lib: a/b", "ops:./k/*", "ops::")
    own = AccessRules({"p": AccessRule(principal="p", allow=("*",), deny=spelt)}).of("p")
    ids = ["std::vector", "std::vector#f", "lib: a/b", "lib:a/b", "ops:./k/x", "ops::"]
    assert [one for one in ids if own.may_read(one)] == []
    assert [one for one in denied if rights.may_read(one)] == []
    assert [one for one in allowed if not rights.may_read(one)] == []


def test_an_id_within_another_is_denied_too() -> None:
    """``web:hr:people.py`` lies in ``web``, which precedes its first colon, but names ``hr`` as well."""
    rule = AccessRule(principal="p", allow=("*",), deny=("hr:*", {"repository": "pay*"}, "api:Gehälter/*", "web:a.ts"))
    rights = AccessRules({"p": rule}).of("p")
    denied = ["web:hr:people.py", "web:x/hr:people.py", "web:a.ts#hr:people.py", "web:payroll:s.py", "web:a:web:a.ts"]
    # Another case, the other normal form of Unicode, and repo/path.
    denied += [
        "HR:people.py",
        "Payroll:s.py",
        "api:gehälter/s.py",
        "api:Geha\u0308lter/s.py",
        "hr/people.py",
        "payroll/s.py",
        "web/a.ts",
    ]
    # A folder or a file of that name in another repository is none of it.
    allowed = [
        "web:hr/people.py",
        "web:their:people.py",
        "web:xhr:a",
        "web:pay/s.py",
        "web:payroll.py",
        "web:b/web/a.ts",
    ]
    assert [one for one in denied if rights.may_read(one)] == []
    assert [one for one in allowed if not rights.may_read(one)] == []
    # What isn't denied is read as it stands: a rule that only allows web allows this file of web.
    only = AccessRules({"p": AccessRule(principal="p", allow=("web:*",))}).of("p")
    assert [only.may_read(one) for one in ("web:hr:people.py", "hr:web:a.ts", "Web:a.ts")] == [True, False, False]


def test_what_lies_in_a_denied_node_is_denied_too() -> None:
    """A denied file denies its symbols, a symbol its members, and both at any commit or line; a prefix of a name isn't
    denied, nor is the file of a denied symbol. An id that ends above its folder climbs.
    """
    rule = AccessRule(principal="p", allow=("*",), deny=("web:a.ts", "web:b.ts#User", "auth"))
    rights = AccessRules({"p": rule}).of("p")
    denied = ["web:a.ts", "web:a.ts#f", "web:a.ts@v1.0.0", "web:a.ts:12-14", "web:b.ts#User.name", "web:b.ts#User@v1"]
    denied += ["web:b.ts#User()", "web:x/..", "web:..", "auth"]
    allowed = ["web:a.tsx", "web:a.ts.map", "web:b.ts", "web:b.ts#UserList", "web:x/..y", "auth:login", "auth#f"]
    assert [one for one in denied if rights.may_read(one)] == []
    assert [one for one in allowed if not rights.may_read(one)] == []


def test_what_lies_in_what_a_star_denies_is_denied_too() -> None:
    """The symbols of each denied table and settings file, what lies in a denied folder, and inner and generic types."""
    deny = ("*.sql", "*:.env", "web:keys", "web:b.java#Outer")
    rights = AccessRules({"p": AccessRule(principal="p", allow=("*",), deny=deny)}).of("p")
    denied = ["hr:t.sql", "hr:t.sql#salaries", "hr:t.sql@v1", "hr:t.sql:3", "api:.env#KEY", "api:.env@v1", "web:keys/k"]
    denied += ["web:b.java#Outer$Inner", "web:b.java#Outer<T>", "web:b.java#Outer[0]"]
    allowed = ["hr:t.sql2", "hr:t.sqlite#t", "api:.environment", "web:keys.ts", "web:b.java#Outermost", "web:b.java"]
    assert [one for one in denied if rights.may_read(one)] == []
    assert [one for one in allowed if not rights.may_read(one)] == []


def test_what_a_record_states_of_a_repository_allows_nothing() -> None:
    """A record that calls a forbidden node one of an allowed repository can't read it; its statement may deny."""
    rule = AccessRule(principal="p", allow=({"repository": "api"}, "web:*"), deny=({"repository": "hr"},))
    rights = AccessRules({"p": rule}).of("p")
    # hr:x lies in hr, whatever is stated; db:x in db, which nothing allows. An id without a repository has only that.
    stated = [("hr:x", "api"), ("db:x", "api"), ("api:x", "hr"), ("web:x", "hr"), ("web:x", "db"), ("web:x", "web")]
    assert [rights.may_read(*one) for one in stated] == [False, False, False, False, True, True]
    assert [rights.may_read("x", one) for one in ("api", "hr", None)] == [True, False, False]


def test_a_relation_is_followed_if_it_is_allowed_and_not_denied() -> None:
    """Allowed relations leave out all others; without any, all are allowed; one that isn't stated forbids nothing."""
    rights = ACCESS.of("readers")
    assert [rights.may_use(one) for one in ("READS", "READS_ONE", "READS_ALL", "CALLS", None)] == [
        *(True, True, False, False, True)
    ]
    assert ACCESS.of("web-team").may_use("ANYTHING")


def test_a_forbidden_alternative_is_withheld() -> None:
    """Of two alternatives the one through hr is withheld, so the other one is required."""
    through_hr, through_api = path("web:a hr:b api:c", "g"), path("web:a api:b api:c", "g")
    found = asked(through_hr, through_api)
    assert (found.paths, found.withheld, found.answerable) == ([through_api], [through_hr], None)


def test_a_required_path_without_an_alternative_leaves_no_answer() -> None:
    """One path of two is forbidden: the question has no answer, and nothing of its gold is left."""
    allowed, forbidden = path("web:a api:b"), path("web:a hr:b")
    found = asked(allowed, forbidden, relevant={"web:a": 1.0}, gold_answer="b", facts=[], expected_files=["api/b"])
    assert (found.answerable, found.why_not) == (False, "not allowed")
    assert (found.paths, found.withheld) == ([], [allowed, forbidden])
    assert (found.relevant, found.gold_answer, found.expected_files) == ({}, None, [])


def test_a_forbidden_optional_step_is_left_out() -> None:
    """The path stays, without its optional step into hr."""
    found = asked(path("web:a api:b hr:c", optional=True))
    assert [(one.source, one.target) for one in found.paths[0].steps] == [("web:a", "api:b")]
    assert found.withheld == []


def test_relevant_ids_and_files_that_may_not_be_read_are_left_out() -> None:
    """Without paths, the ranking decides: some relevant id is left, or there is no answer."""
    some = asked(relevant={"web:a": 1.0, "hr:b": 2.0}, expected_files=["web/a", "hr/b"])
    assert (some.relevant, some.expected_files, some.answerable) == ({"web:a": 1.0}, ["web/a"], None)
    assert asked(relevant={"hr:b": 2.0, "web:a": 0.0}).why_not == "not allowed"
    assert asked(evidence_sets=[["web:a", "hr:b"], ["web:a"]]).evidence_sets == [["web:a"]]
    assert asked(evidence_sets=[["web:a", "hr:b"]]).answerable is False


def test_a_question_keeps_its_own_principal() -> None:
    """``--as`` decides only for questions that name nobody; without either, gold stays as it is."""
    asking = AccessRules(ACCESS.rules, "web-team")
    own, none = QuestionStruct("q", "?", principal="readers"), QuestionStruct("p", "?")
    assert asking.gold_for(own).principal == "readers"
    assert asking.gold_for(none).principal == "web-team"
    assert ACCESS.gold_for(none) is none
