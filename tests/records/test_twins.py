"""The structs have the fields and bounds that the models declare."""

from __future__ import annotations

import pytest

from graphkit.records import structs
from tests.records.twins import CLASS, STRUCTS, derived


def test_structs_are_written_from_the_models() -> None:
    """Nothing is left to write: else run ``python -m tests.records.twins``."""
    text = STRUCTS.read_text()
    assert derived(text) == text
    written = {f"{found[2]}Struct" for found in CLASS.finditer(text)}
    assert written == {name for name in vars(structs) if name.endswith("Struct") and name != "Struct"}


@pytest.mark.parametrize(
    ("declared", "changed"),
    [
        ("    stack: Label | None = None\n", ""),  # a field is missing
        ("    stack: Label | None = None\n", "    stack: str | None = None\n"),  # a bound
        ("    ordered: bool = True\n", "    ordered: bool = False\n"),  # another default
        ("    source: Name\n    target: Name\n", "    target: Name\n    source: Name\n"),  # another order
        ("Count = Annotated[int, Meta(ge=0", "Count = Annotated[int, Meta(ge=1"),  # another bound of a type
        ("    paths: list[GoldPathStruct] = []\n", "    paths: list[StepStruct] = []\n"),  # another record
        ("evidence_sets: list[Annotated[list[Name], Meta(min_length=1)]]", "evidence_sets: list[list[Name]]"),
    ],
)
def test_another_declaration_is_corrected(declared: str, changed: str) -> None:
    """What a struct declares otherwise than its model is noticed, and written anew."""
    text = STRUCTS.read_text()
    other = text.replace(declared, changed)
    assert other != text
    assert derived(other) == text
