"""Compiles the core (kernbench/compiled) when KernBench is installed.

Where it cannot be compiled, for lack of a C compiler, KernBench is installed in plain Python. Results are the
same. ``python hatch_build.py`` compiles it in a checkout, beside its source.
"""

from __future__ import annotations

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
FOLDER = Path("kernbench", "compiled")
MODULE = "kernbench.compiled._core"
# A fused multiply-add rounds once where Python rounds twice.
FLAGS = (
    ["/O2", "/fp:precise"]
    if sys.platform == "win32"
    else ["-O2", "-g0", "-ffp-contract=off", "-fno-fast-math"]
)


def compiled(into: Path) -> Path:
    """Compile the core into the folder ``into``; returns the extension module. Raises whatever goes wrong."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    source = runpy.run_path(str(ROOT / FOLDER / "digest.py"))["digest"](ROOT / FOLDER)
    extension = Extension(
        MODULE,
        [str(ROOT / FOLDER / "_core.pyx")],
        define_macros=[("KERNBENCH_SOURCE", source)],
        extra_compile_args=FLAGS,
    )
    modules = cythonize([extension], build_dir=str(into / "c"), language_level=3, force=True, quiet=True)
    command = Distribution({"name": "kernbench", "ext_modules": modules}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = str(into / "lib"), str(into / "temp")
    command.ensure_finalized()
    command.run()
    return Path(command.get_ext_fullpath(MODULE))


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the compiled core to a wheel, or puts it into the checkout of an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, or say why not."""
        self._folder = tempfile.TemporaryDirectory()
        try:
            built = compiled(Path(self._folder.name))
        except (Exception, SystemExit) as error:
            self.app.display_warning(f"the core is not compiled, KernBench will run in plain Python: {error}")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        if version == "editable":
            put(built)
        else:
            build_data["force_include"][str(built)] = (FOLDER / built.name).as_posix()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled."""
        self._folder.cleanup()


def put(built: Path) -> None:
    """Put the module beside its source, as a new file: a process may run the old one."""
    target = ROOT / FOLDER / built.name
    fresh = target.with_suffix(".new")
    shutil.copy(built, fresh)
    fresh.replace(target)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        put(compiled(Path(folder)))
