"""Writes the fields and bounds of the structs from the models, so that a record is declared once.

    python -m tests.records.twins

It reads ``graphkit/records/models.py`` and ``fields.py`` as text, since the structs name the same types: a struct's
field has the type of its model's without what only validation needs (other forms, other names, strictness), and lists
where the frozen models have tuples. Everything else in ``structs.py`` stays.
"""

from __future__ import annotations

import ast
import re

from tests.helpers import ROOT

RECORDS = ROOT / "graphkit" / "records"
STRUCTS = RECORDS / "structs.py"

#: pydantic's strict types, as msgspec reads them anyway.
PLAIN = {"StrictStr": "str", "StrictInt": "int", "StrictFloat": "float", "StrictBool": "bool"}

#: A class in structs.py with its docstring and its fields, and a type with its bounds.
CLASS = re.compile(r'(class (\w+)Struct\(.*\n    """.*"""\n\n)((?:    \w+: .*\n)+)')
TYPE = re.compile(r"^(\w+) = Annotated\[.*\]$", re.MULTILINE)


class Declarations:
    """The classes and types of the models, by name."""

    def __init__(self) -> None:
        self.classes: dict[str, ast.ClassDef] = {}
        self.types: dict[str, ast.expr] = {}
        for name in ("fields", "models"):
            for node in ast.parse((RECORDS / f"{name}.py").read_text()).body:
                if isinstance(node, ast.ClassDef):
                    self.classes[node.name] = node
                elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    self.types[node.targets[0].id] = node.value

    def fields(self, model: str, structs: set[str]) -> str:
        """Return the fields of a model as lines of its struct."""
        lines = []
        for node in self.classes[model].body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                written = _text(self.type(node.annotation, structs))
                if not written.startswith("ClassVar"):
                    lines.append(f"    {node.target.id}: {written}{_default(node.value)}\n")
        return "".join(lines)

    def bounded(self, name: str) -> str:
        """Return the declaration of a type with its bounds."""
        base, bounds = self.bounds(ast.Name(name))
        return f"{name} = Annotated[{base}, Meta({', '.join(bounds)})]"

    def bounds(self, node: ast.expr) -> tuple[str, list[str]]:
        """Return the plain type of a type of the models, and its bounds as arguments of ``Meta``."""
        if isinstance(node, ast.Name) and node.id in self.types:
            return self.bounds(self.types[node.id])
        if (parts := _annotated(node)) is None:
            return PLAIN.get(_text(node), _text(node)), []
        base, bounds = self.bounds(parts[0])
        for call in parts[1:]:
            if isinstance(call, ast.Call) and _text(call.func) == "Field":
                for keyword in call.keywords:
                    if keyword.arg == "json_schema_extra":
                        bounds += [f"{name}={_text(value)}" for name, value in _items(keyword.value)]
                    elif keyword.arg != "allow_inf_nan":
                        bounds.append(f"{keyword.arg}={_text(keyword.value)}")
        return base, bounds

    def type(self, node: ast.expr, structs: set[str]) -> ast.expr:
        """Return a type of the models as the structs name it."""
        if isinstance(node, ast.Name):
            return self._named(node, structs)
        if (parts := _annotated(node)) is not None:
            base, bounds = self.type(parts[0], structs), self.bounds(node)[1]
            direct = [call for call in parts[1:] if isinstance(call, ast.Call) and _text(call.func) == "Field"]
            return _expression(f"Annotated[{_text(base)}, Meta({', '.join(bounds)})]") if direct else base
        if isinstance(node, ast.Subscript) and _text(node.value) == "tuple" and isinstance(node.slice, ast.Tuple):
            return ast.Subscript(ast.Name("list"), self.type(node.slice.elts[0], structs))
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and _text(node.value) != "Literal":
            return ast.Subscript(node.value, ast.Tuple([self.type(one, structs) for one in node.slice.elts]))
        if isinstance(node, ast.Subscript) and _text(node.value) == "list":
            return ast.Subscript(node.value, self.type(node.slice, structs))
        if isinstance(node, ast.BinOp):
            return ast.BinOp(self.type(node.left, structs), node.op, self.type(node.right, structs))
        return node

    def _named(self, node: ast.Name, structs: set[str]) -> ast.expr:
        if node.id in PLAIN:
            return ast.Name(PLAIN[node.id])
        if node.id in structs:
            return ast.Name(f"{node.id}Struct")
        meaning = self.types.get(node.id)
        if meaning is None:
            return node
        parts = _annotated(meaning)
        if parts is None:
            return self.type(meaning, structs)
        base, bounds = self.bounds(meaning)
        if not bounds:
            return self.type(parts[0], structs)
        # A type that adds no bound to another one is that one: an id is a name, which may be written as a number.
        return self.type(parts[0], structs) if self.bounds(parts[0]) == (base, bounds) else node


def _annotated(node: ast.expr) -> list[ast.expr] | None:
    if isinstance(node, ast.Subscript) and _text(node.value) == "Annotated" and isinstance(node.slice, ast.Tuple):
        return node.slice.elts
    return None


def _items(node: ast.expr) -> list[tuple[str, ast.expr]]:
    assert isinstance(node, ast.Dict)
    return [(str(ast.literal_eval(key)), value) for key, value in zip(node.keys, node.values, strict=True) if key]


def _default(value: ast.expr | None) -> str:
    """Return the default of a field with its sign; each record has an empty list or map of its own."""
    if isinstance(value, ast.Call):
        given = {keyword.arg: keyword.value for keyword in value.keywords}
        if "default_factory" in given:
            return " = {}"
        value = given.get("default")
    if value is None:
        return ""
    return " = []" if _text(value) == "()" else f" = {_text(value)}"


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _text(node: ast.expr) -> str:
    return ast.unparse(node).replace("'", '"')


def derived(structs: str) -> str:
    """Return the text of structs.py with the fields and bounds that the models declare."""
    declarations = Declarations()
    names = {found[2] for found in CLASS.finditer(structs)}
    structs = TYPE.sub(lambda found: declarations.bounded(found[1]), structs)
    return CLASS.sub(lambda found: found[1] + declarations.fields(found[2], names), structs)


if __name__ == "__main__":
    STRUCTS.write_text(derived(STRUCTS.read_text()))
