"""The engines of the stores that need no server, by name. Neither is imported before it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernbench_graph.stores.embedded.cache import DatabaseEngine

LADYBUG = "ladybug"
ARCADE = "arcadedb"
ENGINES = {LADYBUG: "embedded.files", ARCADE: "arcade.files"}
"""Engine -> the module with what makes and opens its databases, called ``FILES`` there."""


def engines() -> tuple[str, ...]:
    """The engines that answer free Cypher, the better one first."""
    from kernbench_graph.stores.arcade.process import is_installed

    return (ARCADE, LADYBUG) if is_installed() else (LADYBUG,)


def files_of(engine: str) -> DatabaseEngine[Any]:
    """Makes and opens the databases of an engine."""
    files: DatabaseEngine[Any] = import_module(f"kernbench_graph.stores.{ENGINES[engine]}").FILES
    return files
