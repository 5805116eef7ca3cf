"""Imports of texts such as ``package.module:name``, with clear errors."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphkit.errors import InputError, did_you_mean


def imported(module: str, path: str, form: str, *, here: bool = True) -> Any:
    """Import a module, and return its attribute with a name, which may contain dots.

    Raise InputError if the module can't be imported, or lacks the name.

    ``form`` is the correct form of such a text, as advice if no attribute has a similar name. With ``here``, modules of
    the working folder are found as well, and the advice on a missing module is to look there.
    """
    return _attribute(_module(module, here, form), module, path, form)


def imported_callable(text: str, kind: str, form: str) -> Callable[..., Any]:
    """Import the ``kind`` (such as a judge) that ``package.module:callable`` names, also from the working folder.

    Raise an InputError if the text has another form, the module can't be imported, or it has no such callable.
    """
    module, colon, path = text.partition(":")
    if not colon or not module.strip() or not path.strip():
        raise InputError(f"{text!r} names no {kind}", remedy=form)
    found = imported(module, path, form)
    if inspect.isclass(found):
        raise InputError(f"{text} is a class", remedy="Name a function, or an instance that can be called.")
    if not callable(found):
        raise InputError(f"{text} can't be called: it is of type {type(found).__name__}", remedy=form)
    return found  # type: ignore[no-any-return]


def is_async(call: Callable[..., Any]) -> bool:
    """Return whether a callable is async, or an object with an async ``__call__``."""
    # Python looks the method up on the type.
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(type(call).__call__)


def _module(name: str, here: bool, form: str) -> Any:
    if "/" in name or name.startswith("."):
        raise InputError(f"{name!r} is a path, and no module", remedy=form)
    folder = str(Path.cwd())
    if here and folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            remedy = _modules_like(error.name) if here else form
            raise InputError(f"there is no module {error.name!r}", where=name, remedy=remedy) from None
        raise InputError(
            f"the module needs {error.name!r}, which isn't installed",
            where=name,
            remedy="Install it in this environment.",
        ) from None
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise InputError(f"the module can't be imported: {what}", where=name, remedy="Correct the module.") from None


def _modules_like(name: str) -> str:
    """Return a module with a similar name, or else where modules are searched, as advice."""
    here = [one.stem for one in Path.cwd().glob("*.py")] + [one.parent.name for one in Path.cwd().glob("*/__init__.py")]
    return f"{did_you_mean(name, here)}Modules are searched in the working folder and in Python's own folders."


def _attribute(module: Any, module_name: str, path: str, form: str) -> Any:
    found = module
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            known = [name for name in dir(found) if not name.startswith("_") and callable(getattr(found, name, None))]
            hint = did_you_mean(part, known).strip()
            raise InputError(f"there is no {part!r}", where=f"{module_name}:{path}", remedy=hint or form) from None
    return found
