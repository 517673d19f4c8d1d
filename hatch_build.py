"""Compiles the engine (kernbench/support/compiled/digest.py says which modules) when KernBench is installed.

On Linux without a C compiler, pip fetches one for the build: ``ziglang`` of the package index. Where it
cannot be compiled all the same, KernBench is installed in plain Python. Results are the same in all cases.
``python hatch_build.py`` compiles it in a checkout, beside its source: after the first time only what has
changed, and what uses types of that.
"""

from __future__ import annotations

import hashlib
import os
import platform
import runpy
import shlex
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a script
    BuildHookInterface = object  # type: ignore[assignment,misc]

ROOT = Path(__file__).resolve().parent
# A fused multiply-add rounds once where Python rounds twice.
FLAGS = ["/fp:precise"] if sys.platform == "win32" else ["-g0", "-w", "-ffp-contract=off", "-fno-fast-math"]
# The event path. -O1 for all others takes half as long again, -O2 twice as long, and runs are no faster.
HOT = "kernbench.engine.core."
ZIG = "ziglang==0.16.0"
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


class NoCompilerError(RuntimeError):
    """There is nothing to compile with."""


def needs_zig() -> bool:
    """Whether a build here has to bring a C compiler: where there is none, and zig's was tried."""
    words = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    tried = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
    return tried and shutil.which(words[0]) is None


@contextmanager
def c_compiler(caches: Path) -> Iterator[None]:
    """Within the block setuptools finds a C compiler, if there is any. ``caches`` is for what zig keeps."""
    if not needs_zig():
        yield
        return
    if find_spec("ziglang") is None:
        raise NoCompilerError("there is no C compiler; install one, or the package 'ziglang'")
    # For any processor of the platform, not for this one: what is compiled may be installed elsewhere.
    zig = f"{shlex.quote(sys.executable)} -m ziglang cc -mcpu=baseline"
    set_ = {"CC": zig, "LDSHARED": f"{zig} -shared"}
    set_ |= {f"ZIG_{name}_CACHE_DIR": str(caches) for name in ("GLOBAL", "LOCAL")}
    before = {name: os.environ.get(name) for name in set_}
    os.environ.update(set_)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def compiled(into: Path) -> dict[Path, Path]:
    """Compile into the folder ``into``; returns what was made, by where in a checkout it belongs.

    What lies there already is made again only where a source is newer. Raises whatever goes wrong.
    """
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    plan = runpy.run_path(str(ROOT / "kernbench" / "support" / "compiled" / "digest.py"))
    modules = [plan["SHARED"], *plan["MODULES"]]
    sources = {module: [str(plan["source"](Path(), module))] for module in plan["MODULES"]}
    cold, hot = ("/O1", "/O2") if sys.platform == "win32" else ("-Og", "-O2")
    flags = {module: [hot if module.startswith(HOT) else cold, *FLAGS] for module in modules}
    made = cythonize(
        [Extension(module, sources.get(module, []), extra_compile_args=flags[module]) for module in modules],
        build_dir=str(into / "c"), include_path=["."], compiler_directives=DIRECTIVES, quiet=True,
        nthreads=os.cpu_count(), shared_utility_qualified_name=plan["SHARED"],
    )  # fmt: skip
    made.sort(key=lambda extension: -Path(extension.sources[0]).stat().st_size)  # no long one is left over
    command = Distribution({"name": "kernbench", "ext_modules": made}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = str(into / "lib"), str(into / "temp")
    command.parallel = os.cpu_count()
    command.ensure_finalized()
    with c_compiler(into / "zig"):
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

    def dependencies(self) -> list[str]:
        """What the build needs beside ``build-system.requires``."""
        return [ZIG] if needs_zig() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, or say why not."""
        self._folder = tempfile.TemporaryDirectory()
        try:
            with chdir(ROOT):
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
    """Put the modules beside their sources, as new files: a process may run the old ones.

    What lies there of modules that are compiled no longer goes, and what another Python has there of other
    sources: there is one stamp for all.
    """
    stamp = next(place for place in built if place.suffix == ".txt")
    same = (ROOT / stamp).exists() and (ROOT / stamp).read_bytes() == built[stamp].read_bytes()
    stay = {_module(place) for place in built if same}
    for old in (path for ending in ("so", "pyd") for path in ROOT.glob(f"{stamp.parts[0]}/**/*.{ending}")):
        if (place := old.relative_to(ROOT)) not in built and _module(place) not in stay:
            old.unlink()
    for place, file in built.items():
        fresh = (ROOT / place).with_suffix(".new")
        shutil.copy(file, fresh)
        fresh.replace(ROOT / place)


def _module(place: Path) -> Path:
    """The place of a compiled module without what tells Pythons apart."""
    return place.with_name(place.name.partition(".")[0])


def kept() -> Path:
    """The folder where this file, as it is now, keeps what this Python has compiled; below the checkout."""
    settings = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    folder = Path("build", f"{sys.implementation.cache_tag}-{settings}")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


if __name__ == "__main__":
    try:
        with chdir(ROOT):
            put(compiled(kept()))
    except NoCompilerError as missing:
        sys.exit(f"nothing is compiled: {missing}; KernBench runs in plain Python as well")
