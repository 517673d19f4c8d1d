"""Files that users name: read whole, or refused with the reason and what to name instead."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from kernbench_graph.input_files import LONGEST, read_file, read_text

from kernbench.errors import ConfigError, KernBenchError

__all__ = ["LONGEST", "input_text", "json_value", "read_file", "read_text"]


def input_text(
    path: str | os.PathLike[str],
    what: str,
    missing: type[KernBenchError] = ConfigError,
    most: int = LONGEST,
) -> str:
    """The text of the file ``path``, which is to be ``what``, such as "a sweep file (YAML)".

    Raises:
        ConfigError: It is not a regular file of at most ``most`` bytes of UTF-8 text.
        KernBenchError: The file does not exist; ``missing`` is the class that is raised.
    """
    try:
        return read_text(Path(path), most)
    except FileNotFoundError:
        raise missing(f"{path}: cannot be read: it does not exist; name {what}") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}; name {what}") from None


def json_value(text: str, source: str) -> Any:
    """The JSON value that ``text`` is; :class:`ConfigError`, after the name ``source``, where it is not."""
    try:
        return json.loads(text, object_pairs_hook=_each_once)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{source}:{error.lineno}: bad JSON: {error.msg}") from None
    except RecursionError:
        raise ConfigError(f"{source}: bad JSON: nested too deeply") from None
    except KeyError as error:
        raise ConfigError(f"{source}: {error.args[0]}: key given twice, expected it once") from None
    except ValueError:  # Python's limit on the digits of a whole number
        raise ConfigError(f"{source}: bad JSON: a number has too many digits") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object's keys and values; ``KeyError`` for a key that occurs twice."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise KeyError(key)
        found[key] = value
    return found
