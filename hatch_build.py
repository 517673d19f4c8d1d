"""Compiles the engine (kernbench/compiled/digest.py says which modules) when KernBench is installed.

Where it cannot be compiled, for lack of a C compiler, KernBench is installed in plain Python. Results are the
same. ``python hatch_build.py`` compiles it in a checkout, beside its source: after the first time only what
has changed, and what uses types of that.
"""

from __future__ import annotations

import hashlib
import os
import runpy
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a script
    BuildHookInterface = object  # type: ignore[assignment,misc]

ROOT = Path(__file__).resolve().parent
# A fused multiply-add rounds once where Python rounds twice.
FLAGS = (
    ["/O2", "/fp:precise"]
    if sys.platform == "win32"
    else ["-O2", "-g0", "-ffp-contract=off", "-fno-fast-math"]
)
DIRECTIVES = {
    "language_level": 3,
    "allow_none_for_extension_args": False,
    "annotation_typing": False,  # types are those of the .pxd files
    "auto_pickle": False,
    "boundscheck": False,
    "cdivision": True,
    "initializedcheck": False,
    "nonecheck": False,
    "wraparound": False,
}


def compiled(into: Path) -> dict[Path, Path]:
    """Compile into the folder ``into``; returns what was made, by where in a checkout it belongs.

    What lies there already is made again only where a source is newer. Raises whatever goes wrong.
    """
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    plan = runpy.run_path(str(ROOT / "kernbench" / "compiled" / "digest.py"))
    modules = plan["MODULES"]
    extensions = [
        Extension(module, [str(plan["source"](ROOT, module))], extra_compile_args=FLAGS) for module in modules
    ]
    made = cythonize(
        extensions, build_dir=str(into / "c"), include_path=[str(ROOT)], compiler_directives=DIRECTIVES,
        quiet=True,
    )  # fmt: skip
    command = Distribution({"name": "kernbench", "ext_modules": made}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = str(into / "lib"), str(into / "temp")
    command.parallel = os.cpu_count()
    command.ensure_finalized()
    command.run()
    stamp = into / "sources.txt"
    stamp.write_text(plan["digest"](ROOT) + "\n")
    built = {Path(plan["STAMP"]): stamp}
    for module in modules:
        file = Path(command.get_ext_fullpath(module))
        built[Path(*module.split(".")[:-1], file.name)] = file
    return built


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds what is compiled to a wheel, or puts it into the checkout of an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, or say why not."""
        self._folder = tempfile.TemporaryDirectory()
        try:
            built = compiled(Path(self._folder.name))
        except (Exception, SystemExit) as error:
            self.app.display_warning(f"nothing is compiled, KernBench will run in plain Python: {error}")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        if version == "editable":
            put(built)
        else:
            for place, file in built.items():
                build_data["force_include"][str(file)] = place.as_posix()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled."""
        self._folder.cleanup()


def put(built: dict[Path, Path]) -> None:
    """Put the modules beside their sources, as new files: a process may run the old ones."""
    for place, file in built.items():
        fresh = (ROOT / place).with_suffix(".new")
        shutil.copy(file, fresh)
        fresh.replace(ROOT / place)


def kept() -> Path:
    """The folder where this file, as it is now, keeps what this Python has compiled of the checkout."""
    settings = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    folder = ROOT / "build" / f"{sys.implementation.cache_tag}-{settings}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


if __name__ == "__main__":
    put(compiled(kept()))
