"""The engines of the stores that need no server, by name. Neither is imported before it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernbench_graph.stores.arcade.files import ArcadeFiles
    from kernbench_graph.stores.embedded.files import LadybugFiles

LADYBUG = "ladybug"
ARCADE = "arcadedb"


def engines() -> tuple[str, ...]:
    """The engines that answer free Cypher, the better one first."""
    from kernbench_graph.stores.arcade.process import is_installed

    return (ARCADE, LADYBUG) if is_installed() else (LADYBUG,)


def ladybug_files() -> LadybugFiles:
    """Makes and opens the databases of LadybugDB."""
    from kernbench_graph.stores.embedded.files import LADYBUG_FILES

    return LADYBUG_FILES


def arcade_files() -> ArcadeFiles:
    """Makes and opens the databases of ArcadeDB."""
    from kernbench_graph.stores.arcade.files import ARCADE_FILES

    return ARCADE_FILES
