"""YAML that comes from outside: errors say the line, and quote nothing of a text that may be any file's."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import yaml

_FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""That of libyaml where PyYAML has it: ten times as fast."""
_QUOTED = re.compile(r" '[^'<\\]{2,}'")
"""A word of the text in a message of PyYAML, unlike a single character or a token such as ``<block end>``."""

T = TypeVar("T")


def loaded(load: Callable[[], T], text: str, line: Callable[[], int] = lambda: 0) -> T:
    """What ``load`` makes of ``text``; :class:`ValueError` ``LINE: bad YAML: PROBLEM`` where it cannot.

    ``line`` is that which is read at the moment, from 0.
    """
    try:
        return load()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at, problem = mark.line if mark else 0, error.problem or ""
        if not problem or problem.startswith("but "):
            problem = f"{error.context} {problem}"
    except yaml.reader.ReaderError as error:
        at, problem = text.count("\n", 0, error.position), error.reason
    except RecursionError:
        at, problem = line(), "nested too deeply"
    raise ValueError(f"{at + 1}: bad YAML: {_QUOTED.sub('', ' '.join(problem.split()))}")


def load_plain(text: str) -> Any:
    """The value of a YAML document; ``ValueError`` as for :func:`loaded`."""
    return loaded(lambda: yaml.load(text, Loader=_FAST), text)
