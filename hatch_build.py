"""Compiles the measures and the scorer while a wheel is built: the same Python, a fifth faster.

Only a real wheel is compiled. An editable install isn't: a compiled module would hide the one that is being edited.
Without a C compiler the wheel holds the Python alone, which does the same. ``GRAPHKIT_COMPILE=0`` asks for that,
``GRAPHKIT_COMPILE=1`` fails where it can't be compiled.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: What a question goes through when it is scored.
COMPILED = ("graphkit/measures/*.py", "graphkit/engines/scorer.py")


class CompilingHook(BuildHookInterface[Any]):
    """Adds the compiled modules to the wheel, beside their sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, unless the install is editable or the environment forbids it."""
        wanted = os.environ.get("GRAPHKIT_COMPILE", "")
        if version == "editable" or wanted == "0":
            return
        self._work = Path(tempfile.mkdtemp(prefix="graphkit-build-"))
        try:
            built = compiled(Path(self.root), self._work)
        except Exception as error:
            shutil.rmtree(self._work, ignore_errors=True)
            if wanted == "1":
                raise
            self.app.display_warning(f"The wheel holds no compiled modules, and works without: {error}")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"].update({str(path): str(path.relative_to(self._work / "lib")) for path in built})

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the compiler left."""
        if work := getattr(self, "_work", None):
            shutil.rmtree(work, ignore_errors=True)


def compiled(root: Path, work: Path) -> list[Path]:
    """Compile the modules of a checkout into ``work/lib``, and return the files.

    Raises
    ------
    FileNotFoundError
        There is no C compiler.
    ImportError
        Cython or setuptools is missing.
    """
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if not shutil.which(compiler):
        raise FileNotFoundError(f"there is no C compiler {compiler!r}")
    modules = sorted({path.relative_to(root) for pattern in COMPILED for path in root.glob(pattern)})
    for path in modules:
        (work / path.parent).mkdir(parents=True, exist_ok=True)
        shutil.copy(root / path, work / path)
    # From within the folder, since a compiled module keeps the path of its source.
    with contextlib.chdir(work):
        extensions = cythonize(
            [
                Extension(".".join(path.with_suffix("").parts), [str(path)], extra_compile_args=["-O2", "-g0", "-w"])
                for path in modules
                if path.name != "__init__.py"
            ],
            # The annotations are for mypy: taken as C types, they would refuse what Python accepts.
            compiler_directives={"language_level": "3", "annotation_typing": False},
            quiet=True,
        )
        command = Distribution({"name": "graphkit", "ext_modules": extensions}).get_command_obj("build_ext")
        command.build_lib, command.build_temp, command.parallel = "lib", "temp", True
        command.ensure_finalized()
        command.run()
        return [work / path for path in command.get_outputs()]
