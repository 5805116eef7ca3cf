"""The identifiers that a chunk of source defines, found by tree-sitter, or else by regular expressions.

These count in every language: functions, methods, classes, interfaces, types, enums and their members, macros,
modules and namespaces at any depth; and, outside the body of a function, variables, constants, fields, and in SQL
tables, views, indexes, functions, types, triggers, sequences, schemas, columns and the named columns of a view.
These don't count: parameters, local variables, imports, attributes set on ``self``, names that a language gives itself
(``__init__``, ``constructor``), and names of four characters or fewer, which are too often plain words.

The grammars come with the extra ``code``. If a grammar is missing, the ending of the path names no known language, or
the grammar finds a mistake because a chunk was cut, regular expressions find what single lines show:
``keyword name`` (``class``, ``def``, ``func``, ``CREATE TABLE``, ...) behind any modifiers, ``type name(...) {``,
assignments that begin a line, settings in capitals (``NAME: value``, ``NAME=value``), and ``operationId: name`` of
OpenAPI; not fields, columns and the members of enums. Prose (``.md``, ``.rst``, ``.txt``, ...) defines nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node

#: Shorter names are ignored.
SHORTEST = 5

#: Endings of files that hold text for people.
PROSE = frozenset({"md", "markdown", "rst", "txt", "adoc", "html"})


def defined_identifiers(text: str, path: str | None) -> frozenset[str]:
    """Return the identifiers longer than 4 characters that a chunk of source defines.

    Parameters
    ----------
    text
        The chunk; it may begin or end in the middle of a definition.
    path
        The file that it comes from, whose ending chooses the language; None if unknown.

    >>> sorted(defined_identifiers("class Basket:\\n    def settle(self, amount): ...\\n", "shop/basket.py"))
    ['Basket', 'settle']
    """
    name = (path or "").rpartition("/")[2]
    return _defined(text, name.rpartition(".")[2].casefold() if "." in name else "")


@lru_cache(maxsize=4096)
def _defined(text: str, ending: str) -> frozenset[str]:
    if ending in PROSE:
        return frozenset()
    rules = _RULES.get(ending)
    language = _language(rules.module, rules.entry) if rules is not None else None
    if rules is None or language is None:
        names = _matched(text)
    else:
        names, broken = _parsed(text, rules, language)
        if broken:
            names |= _matched(text)
    return frozenset(name for name in names if len(name) >= SHORTEST and not _GIVEN.fullmatch(name))


#: Names that the language gives, not the chunk.
_GIVEN = re.compile(r"__\w+__|constructor")


# By grammar ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rules:
    """The places of names in the tree of a language.

    ``named`` maps each kind of node that defines something at any depth to the field of its name; ``variables`` does so
    for kinds that count outside functions only. ``functions`` are the kinds of node that are functions. ``further``
    returns the names that no field holds.
    """

    module: str
    named: dict[str, str]
    variables: dict[str, str]
    functions: frozenset[str]
    entry: str = "language"
    further: Callable[[Node], Iterator[Node]] | None = None


@cache
def _language(module: str, entry: str) -> Language | None:
    """Return a grammar, or None if it isn't installed or doesn't fit the installed tree-sitter."""
    try:
        from tree_sitter import Language

        return Language(getattr(import_module(module), entry)())
    except (ImportError, ValueError):
        return None


def _parsed(text: str, rules: _Rules, language: Language) -> tuple[set[str], bool]:
    """Return the names that the tree of a text defines, and whether the tree holds a mistake."""
    from tree_sitter import Parser

    root = Parser(language).parse(text.encode("utf-8", "replace")).root_node
    names: set[str] = set()
    # A stack, since a generated file may be nested deeper than Python's own.
    todo: list[tuple[Node, bool]] = [(root, False)]
    while todo:
        node, local = todo.pop()
        name = rules.named.get(node.type) or (None if local else rules.variables.get(node.type))
        if name is not None:
            for found in node.children_by_field_name(name):
                names.update(_leaves(found))
        if rules.further is not None and not local:
            for found in rules.further(node):
                names.update(_leaves(found))
        # A node within a mistake may have lost the function around it.
        local = local or node.type in rules.functions or node.is_error
        todo.extend((child, local) for child in node.named_children)
    return names, root.has_error


def _leaves(node: Node) -> Iterator[str]:
    """Yield the names that a name, or a pattern of names, holds."""
    if node.named_child_count == 0:
        if node.is_named and node.text is not None:
            yield node.text.decode("utf-8", "replace").strip("\"'`[]#").removeprefix("r#")
    elif node.type in _PATTERNS:
        for index, child in enumerate(node.children):
            # {a: b = c} names b.
            if child.is_named and node.field_name_for_child(index) not in {"key", "right"}:
                yield from _leaves(child)


_PATTERNS = frozenset(
    {
        *("pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "type", "generic_type"),  # Python
        *("object_pattern", "array_pattern", "pair_pattern", "rest_pattern"),  # TypeScript, JavaScript
        *("assignment_pattern", "object_assignment_pattern"),
    }
)


def _sql_names(node: Node) -> Iterator[Node]:
    """Yield the name that a CREATE statement defines, and the columns that its query names."""
    if not node.type.startswith("create_"):
        return
    for child in node.named_children:
        # The first of these is the new object; the table of an index comes later.
        if child.type == "object_reference":
            yield from child.children_by_field_name("name")
            break
        if child.type == "identifier":
            yield child
            break
    for query in node.named_children:
        for select in query.named_children if query.type == "create_query" else ():
            for expression in select.named_children if select.type == "select" else ():
                for term in expression.named_children:
                    yield from term.children_by_field_name("alias")


def _kinds(text: str, field: str = "name") -> dict[str, str]:
    """Return the field of the name for each kind of node that a text lists."""
    return dict.fromkeys(text.split(), field)


_PYTHON = _Rules(
    "tree_sitter_python",
    _kinds("function_definition class_definition"),
    _kinds("assignment type_alias_statement", "left"),
    frozenset({"function_definition", "lambda"}),
)
_SCRIPT_NAMED = _kinds("function_declaration generator_function_declaration class_declaration method_definition")
_SCRIPT_FUNCTIONS = frozenset(
    {
        *("function_declaration", "generator_function_declaration", "method_definition", "arrow_function"),
        *("function_expression", "generator_function", "class_static_block"),
    }
)
_JAVASCRIPT = _Rules(
    "tree_sitter_javascript",
    _SCRIPT_NAMED,
    {"variable_declarator": "name", "field_definition": "property"},
    _SCRIPT_FUNCTIONS,
)
_TYPESCRIPT = _Rules(
    "tree_sitter_typescript",
    _SCRIPT_NAMED
    | _kinds("abstract_class_declaration function_signature abstract_method_signature interface_declaration")
    | _kinds("type_alias_declaration enum_declaration internal_module module"),
    _kinds("variable_declarator public_field_definition property_signature method_signature enum_body enum_assignment"),
    _SCRIPT_FUNCTIONS | {"function_signature", "method_signature", "abstract_method_signature"},
    "language_typescript",
)
_SQL = _Rules(
    "tree_sitter_sql", {"create_index": "column"}, {"column_definition": "name"}, frozenset(), further=_sql_names
)
_GO = _Rules(
    "tree_sitter_go",
    _kinds("function_declaration method_declaration method_elem type_spec type_alias"),
    _kinds("const_spec var_spec field_declaration"),
    frozenset({"function_declaration", "method_declaration", "func_literal"}),
)
_JAVA = _Rules(
    "tree_sitter_java",
    _kinds("class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration")
    | _kinds("annotation_type_element_declaration method_declaration enum_constant"),
    # The parameters of a record are its fields; those of a method stand inside it.
    _kinds("variable_declarator formal_parameter"),
    frozenset(
        {
            *("method_declaration", "constructor_declaration", "compact_constructor_declaration"),
            *("lambda_expression", "static_initializer", "block"),
        }
    ),
)
_RUST = _Rules(
    "tree_sitter_rust",
    _kinds("function_item function_signature_item struct_item enum_item enum_variant union_item trait_item type_item")
    | _kinds("associated_type mod_item macro_definition"),
    _kinds("const_item static_item field_declaration"),
    frozenset({"function_item", "function_signature_item", "closure_expression"}),
)

_RULES = {
    **dict.fromkeys(("py", "pyi"), _PYTHON),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), _JAVASCRIPT),
    **dict.fromkeys(("ts", "mts", "cts"), _TYPESCRIPT),
    "tsx": replace(_TYPESCRIPT, entry="language_tsx"),
    "sql": _SQL,
    "go": _GO,
    "java": _JAVA,
    "rs": _RUST,
}


# By regular expressions ----------------------------------------------------------------------------------------------

_MODIFIERS = (
    r"(?:#\[[^\]\n]*\][ \t]*|@[\w.]+(?:\([^)\n]*\))?[ \t]+)*"
    r"(?:(?:export|default|public|private|protected|internal|static|abstract|final|async|pub(?:\([^)\n]*\))?|unsafe|"
    r"extern(?:[ \t]+\"[^\"\n]*\")?|declare|override|open|data|sealed|inline|virtual|partial|readonly|suspend)[ \t]+)*"
)
_PATTERNS_OF_TEXT = tuple(
    re.compile(pattern, flags)
    for pattern, flags in (
        # def name, class name, func (receiver) name
        (
            rf"^[ \t]*{_MODIFIERS}(?:def|class|function\*?|func|fn|fun|interface|type|struct|enum|trait|union|record|"
            r"mod|module|namespace|protocol|macro_rules!|message|service)[ \t]+"
            r"(?:\([^)\n]*\)[ \t]*)?([A-Za-z_$][\w$]*)",
            re.MULTILINE,
        ),
        # const name and let name, at the beginning of a line only: indented ones may be local
        (
            rf"^{_MODIFIERS}(?:const|let|var|val|static)[ \t]+(?:mut[ \t]+)?([A-Za-z_$][\w$]*)",
            re.MULTILINE,
        ),
        # name = value and name: type = value, likewise
        (r"^([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?:?=(?![=>~])", re.MULTILINE),
        # type name(...) { of C, C++, C# and Java
        (
            r"^[ \t]*(?!(?:return|else|new|throw|if|for|while|switch|catch|case|await|do|yield|function|func|fn)\b)"
            r"(?:[\w<>\[\]*&:,?]+[ \t]+)+[*&]*(\w+)[ \t]*\([^;{}()]{0,400}\)[^;{}()=\n]*\{",
            re.MULTILINE,
        ),
        # CREATE TABLE name
        (
            r"\bcreate[ \t]+(?:or[ \t]+replace[ \t]+)?(?:(?:temp|temporary|unique|materialized|virtual)[ \t]+)*"
            r"(?:table|view|index|function|procedure|type|trigger|sequence|schema)[ \t]+"
            r"(?:if[ \t]+not[ \t]+exists[ \t]+)?"
            r"(?:[\"`\[]?\w+[\"`\]]?\.)*[\"`\[]?(\w+)",
            re.IGNORECASE,
        ),
        # NAME: value and NAME=value, in a list and in quotes as well
        (r"^[ \t]*(?:-[ \t]+)?(?:export[ \t]+)?[\"']?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)[\"']?[ \t]*[:=]", re.MULTILINE),
        (r"^[ \t]*[\"']?operationId[\"']?:[ \t]*[\"']?(\w+)", re.MULTILINE),
    )
)


def _matched(text: str) -> set[str]:
    """Return the names that the regular expressions find."""
    return {name for pattern in _PATTERNS_OF_TEXT for name in pattern.findall(text)}
