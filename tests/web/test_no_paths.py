"""Messages of the page do not say where on the disk the store lies, and are otherwise as they were."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernbench.page.server.app import App


def said(folder: Path, message: str) -> str:
    app: Any = SimpleNamespace(_folder=folder)
    return App._without_paths(app, message)


@pytest.mark.parametrize("name", ["st", "query", "s"])
def test_a_store_whose_name_is_in_a_word_leaves_the_word(name: str) -> None:
    message = "the query was stopped after 3 s; make it narrower"
    assert said(Path(name), message) == message


def test_the_place_of_the_store_is_not_said() -> None:
    whole = Path("st").absolute()
    assert said(Path("st"), f"no run 'a' in store 'st'; {whole}/runs/b cannot be read, nor st/runs/c") == (
        "no run 'a' in store 'the store'; the store/runs/b cannot be read, nor the store/runs/c"
    )
    assert said(Path("st"), f"{whole} is full, {whole}x and a/st/b are not") == (
        f"the store is full, {whole}x and a/st/b are not"
    )
