"""A store with two runs of one bench and one of another, a server of it, and the browser that looks at it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kernbench.api.stores import borrowed
from tests.kept_store import Kept, ids, keep_runs, store

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["browser", "ids", "kept", "server", "store"]

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

RUNS = [("softmax", {"rows": 16, "columns": 64}), ("qkv-gemm", {"tokens": 16}), ("qkv-gemm", {"tokens": 32})]


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """The store's folder, and the ids of its runs, oldest first."""
    return keep_runs(tmp_path_factory.mktemp("web") / "store", RUNS)


@contextmanager
def served(store: Path) -> Iterator[str]:
    """The address of a server of a store."""
    from waitress.server import create_server

    from kernbench.page.server.app import App

    with borrowed(store) as opened:
        server = create_server(App(opened), host="127.0.0.1", port=0, threads=4, ident=None)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.effective_port}/"
        server.trigger.pull_trigger(server.close)
        thread.join(10)
        assert not thread.is_alive()


@pytest.fixture(scope="session")
def server(kept: Kept) -> Iterator[str]:
    """The address of a server of that store."""
    with served(kept[0]) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium; the test is skipped where none is installed.

    It goes with its file: while it is there this thread has a running event loop, so that the tests of the
    terminal UI could not start their own.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next((path for name in CHROMIUM if (path := shutil.which(name))), None)
    with playwright.sync_playwright() as driver:
        if found is None and not Path(driver.chromium.executable_path).exists():
            pytest.skip(
                f"no browser: none of {', '.join(CHROMIUM)} is on the path (apt-get install chromium)"
            )
        # Within a container there is often no user namespace for the sandbox.
        opened = driver.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()
