"""Start of the server: everything that can be wrong is said before the browser is opened."""

from __future__ import annotations

import errno
import ipaddress
import logging
import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from kernbench.errors import UsageError

if TYPE_CHECKING:
    from kernbench.support.pgraph import GraphStore

PORT = 8765
_THREADS = 20
"""More than are ever busy with answers that take time: the others keep the page alive."""
_CONNECTIONS, _SILENCE_S = 600, 5
"""Connections at once, and seconds after which one is closed on which nothing is asked."""
_PATIENCE_S = 1.0
"""How long the end of the server waits for answers that are being worked out."""


def serve(
    store: GraphStore,
    run: str | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    open_browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the page about the runs of an open store until Ctrl-C or SIGTERM.

    Args:
        store: Whose runs; it is only read.
        run: The run that the page shows at first; by default the last.
        host: The address to listen at: the loopback one, unless others are to see it.
        port: 0 for any that is free.
        open_browser: Open the page in the user's browser.
        say: Is called with the page's address once the server listens.

    Raises:
        RunNotFoundError: There is no such run.
        UsageError: The port is taken, or the address is none of this machine.
    """
    from waitress.server import create_server

    from kernbench.api.open_runs import open_run
    from kernbench.page.server.app import App

    first = open_run(run, store).id if run is not None else ""
    address = _address(host)
    listening = _bound(address, port)
    server = create_server(
        App(store, address, first),
        sockets=[listening],
        threads=_THREADS,
        ident=None,
        channel_request_lookahead=1,  # so that it notices when a browser hangs up
        # Connections on which no whole request has come take no place from those that ask something.
        connection_limit=_CONNECTIONS,
        channel_timeout=_SILENCE_S,
        cleanup_interval=_SILENCE_S,
        asyncore_use_poll=True,
    )
    _end_promptly(server.task_dispatcher, store)
    url = f"http://{f'[{address}]' if ':' in address else address}:{listening.getsockname()[1]}/"
    # Neither a question that waits for a thread nor one that is cut short at the end is news to the user.
    logging.getLogger("waitress").setLevel(logging.ERROR)
    with _terminated_as_interrupted():
        try:
            say(url)
            if open_browser:
                threading.Thread(target=_open, args=(url,), daemon=True).start()
            server.run()  # returns on KeyboardInterrupt
        except KeyboardInterrupt:
            pass  # it came before the server had begun to run: the same wish
        finally:
            server.close()


def _end_promptly(dispatcher: Any, store: GraphStore) -> None:
    """Have the server's threads cancel the queries that are running before they are waited for."""
    whole = dispatcher.shutdown

    def shutdown(cancel_pending: bool = True, timeout: float = _PATIENCE_S) -> Any:
        store.queries.cancel_all()
        return whole(cancel_pending, min(timeout, _PATIENCE_S))

    dispatcher.shutdown = shutdown


def _address(host: str) -> str:
    if host == "localhost":
        return "127.0.0.1"
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        raise UsageError(
            f"'{host}' is not an address; give one of this machine, such as 127.0.0.1 or 0.0.0.0"
        ) from None


def _bound(address: str, port: int) -> socket.socket:
    """A socket at that address; ``UsageError`` where there can be none."""
    found = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    try:
        if os.name == "posix":  # elsewhere it would let two servers have one port
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((address, port))
    except OSError as error:
        found.close()
        raise UsageError(_why(error, address, port)) from None
    return found


def _why(error: OSError, address: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} is in use, perhaps by another 'kernbench web'; choose another, or --port 0 for any"
        )
    if error.errno == errno.EACCES:
        return f"port {port} needs special permission; choose one from 1024"
    return f"cannot listen at {address} port {port}: {error.strerror or error}"


def _open(url: str) -> None:
    with suppress(webbrowser.Error):
        webbrowser.open(url)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM ends the server as Ctrl-C does; signals belong to the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
