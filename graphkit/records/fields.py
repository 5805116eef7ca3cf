"""The types of the models' fields, and the base of every model."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, LiteralString

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic.types import AwareDatetime, StrictFloat, StrictStr
from pydantic_core import PydanticCustomError

from graphkit.records.aliases import LARGEST, LONGEST_NAME, LONGEST_WAIT, WIDEST
from graphkit.records.ids import id_of

#: The farthest time zone from UTC in either database.
FARTHEST_ZONE = timedelta(hours=18)

#: The type of pydantic's error for a time that the databases can't hold.
NOT_STORABLE: LiteralString = "time_not_storable"

#: The key in the context of a validation that is set once a number was read as an identifier.
NUMBERS = "numbers"


def _storable(time: datetime) -> datetime:
    if abs(time.utcoffset() or timedelta()) > FARTHEST_ZONE:
        raise PydanticCustomError(NOT_STORABLE, "the time zone must be at most 18:00 from UTC")
    try:
        time.astimezone(UTC)
    except OverflowError:
        raise PydanticCustomError(NOT_STORABLE, "in UTC the time must lie in the years 1 to 9999") from None
    return time


def _not_blank(name: str) -> str:
    if not name.strip():
        raise PydanticCustomError("blank", "the name of a run can't be blank")
    return name


def _as_id(value: Any, info: ValidationInfo) -> Any:
    """Return a number as a string, and mark that in the context."""
    if isinstance(value, str) or (name := id_of(value)) is None:
        return value
    if isinstance(info.context, dict):
        info.context[NUMBERS] = True
    return name


def wanted(forms: str) -> WrapValidator:
    """Return a validator of a value that has several forms: what fits none is one mistake, which names the forms."""

    def checked(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
        try:
            return read(value)
        except ValidationError:
            raise ValueError(f"{forms} is wanted") from None

    return WrapValidator(checked)


# A name may be part of a database key; a text may have any length.
Text = Annotated[StrictStr, Field(min_length=1)]
Label = Annotated[StrictStr, Field(max_length=LONGEST_NAME)]
Name = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_NAME)]
#: The name of a run, which isn't blank.
RunName = Annotated[Name, AfterValidator(_not_blank), Field(json_schema_extra={"pattern": r"\S"})]
#: An identifier, which a log may hold as an integer: 7 is "7". In JSON Schema, 7.0 is an integer too.
Id = Annotated[Name, BeforeValidator(_as_id, json_schema_input_type=Name | StrictInt)]
#: The id of a chunk as an answer cites it.
CitedId = Annotated[Label, BeforeValidator(_as_id, json_schema_input_type=Label | StrictInt)]
Number = Annotated[StrictFloat, Field(allow_inf_nan=False, ge=-WIDEST, le=WIDEST)]
#: A number that is kept and shown, never added up.
Finite = Annotated[StrictFloat, Field(allow_inf_nan=False)]
Amount = Annotated[StrictFloat, Field(allow_inf_nan=False, ge=0, le=WIDEST)]
#: A part of a whole, or a probability.
Share = Annotated[StrictFloat, Field(allow_inf_nan=False, ge=0, le=1)]
#: A timeout.
Seconds = Annotated[StrictFloat, Field(allow_inf_nan=False, gt=0, le=LONGEST_WAIT)]
Time = Annotated[
    AwareDatetime,
    AfterValidator(_storable),
    WithJsonSchema(
        {
            "type": ["string", "number"],
            "description": "ISO 8601 with a time zone, or the seconds (large numbers: milliseconds) since 1970 in UTC.",
        }
    ),
]
Count = Annotated[StrictInt, Field(ge=0, le=LARGEST)]
Positive = Annotated[StrictInt, Field(ge=1, le=LARGEST)]


class Record(BaseModel):
    """Base of every record: frozen, and built by the names of fields or by their aliases."""

    # Built on first use: most commands use few of the models, and scoring uses only the structs.
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, defer_build=True)

    #: By field, the objects that it may be written with and that aren't records.
    forms: ClassVar[Mapping[str, type[BaseModel]]] = {}

    #: The fields that others write beside those of the record; they aren't reported as unknown.
    beside: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def in_own_fields(cls, given: Any) -> Any:
        """Return a record as written with its content in the fields of the model, wherever else it may stand."""
        return given

    @model_validator(mode="before")
    @classmethod
    def _in_own_fields(cls, given: Any) -> Any:
        return cls.in_own_fields(given)

    def __getitem__(self, field: str) -> Any:
        """Return a field as a mapping does: ``question["id"]`` is ``question.id``."""
        if field not in type(self).model_fields:
            raise KeyError(f"no field is called {field!r}; there are: {', '.join(type(self).model_fields)}")
        return getattr(self, field)

    def __contains__(self, field: object) -> bool:
        return field in type(self).model_fields

    def get(self, field: str, default: Any = None) -> Any:
        """Return a field as a mapping's ``get`` does, or the default if there is no such field."""
        return getattr(self, field) if field in self else default


class Form(BaseModel):
    """Base of the objects that a record may be written as, for its JSON Schema; ``records.shapes`` reads them."""

    model_config = ConfigDict(defer_build=True)


def other_names(model: type[Record]) -> dict[str, str]:
    """Return every other name that a model accepts on input, with its field."""
    names: dict[str, str] = {}
    for field, info in model.model_fields.items():
        for choice in getattr(info.validation_alias, "choices", ()):
            if isinstance(choice, str) and choice not in model.model_fields:
                names.setdefault(choice, field)
    return names
