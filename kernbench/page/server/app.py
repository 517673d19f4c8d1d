"""The server's answers to requests: the page, its files, and data as JSON.

Nothing here writes, except to save questions from a page on this computer.
"""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from werkzeug.exceptions import BadRequest, HTTPException
from werkzeug.utils import redirect
from werkzeug.wrappers import Request, Response

from kernbench.api.active_runs import under_way
from kernbench.api.contents import views
from kernbench.api.stores import folder_of
from kernbench.errors import KernBenchError
from kernbench.export.html import files
from kernbench.page.answers import Answers
from kernbench.page.server.guard import HEADERS, Guard
from kernbench.support.pgraph import StoreError, asked_by

if TYPE_CHECKING:
    from kernbench.support.pgraph import GraphStore

_LARGEST_QUESTION = 100_000
"""Bytes of a request's body."""
_SHOWN = 400
"""Characters of a running query that are sent."""
_REMEMBERED = 32
"""Answers that are kept: kept runs do not change."""
_CHANGING = frozenset({"runs", "questions", "cypher", "ask", "save"})
_ASKED = frozenset({"cypher", "ask", "save", "cancel"})
"""Requests with something sent along, so by POST: a page of another site cannot send JSON unasked."""
_LIGHT = frozenset({"runs", "questions", "schema"})
"""Answers that take no time, and are given whatever else is asked."""


MOST_AT_ONCE = 16
"""Answers that are worked out at once: most of them wait for each other or for an engine."""


class App:
    """A WSGI application for the runs of a store; ``first`` is the run that the page shows at first.

    At most ``most`` answers that take time are worked out at once; the server should have more threads.
    """

    def __init__(
        self, store: GraphStore, address: str = "127.0.0.1", first: str = "", most: int = MOST_AT_ONCE
    ) -> None:
        self.answers = Answers(store)
        self._places = threading.Semaphore(most)
        self.guard = Guard(address)
        self.first = first
        self.building = ""
        """How far the store has come with a graph that takes long to build."""
        self._folder = folder_of(store.url)
        self._lock = threading.Lock()
        self._known: OrderedDict[str, bytes] = OrderedDict()
        store.progress = self._built

    def __call__(self, environ: Any, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """As WSGI asks for."""
        request = Request(environ)
        request.max_content_length = _LARGEST_QUESTION
        try:
            response = self._respond(request)
        except HTTPException as error:
            response = _error(error.description or error.name, error.code or 400)
        for name, value in HEADERS.items():
            response.headers[name] = value
        return response(environ, start_response)

    def _built(self, done: int, total: int) -> None:
        self.building = "" if done >= total else f"building the graph, {done / max(total, 1):.0%}"

    def _respond(self, request: Request) -> Response:
        path = request.path
        name = path.removeprefix("/")
        is_page = path == "/" or name in dict(views())
        if reason := self.guard.refusal(request.headers, page=is_page):  # type: ignore[arg-type]
            return _error(reason, 403)
        asked = path.removeprefix("/api/")
        method = "POST" if path.startswith("/api/") and asked in _ASKED else "GET"
        if request.method != method and not (method == "GET" and request.method == "HEAD"):
            response = _error(f"this is read-only; use {method}", 405)
            response.headers["Allow"] = "POST" if method == "POST" else "GET, HEAD"
            return response
        if path == "/":
            return Response(files.page(views(), self.first), mimetype="text/html")
        if is_page:  # as one may type it: what a view shows is after the '#'
            query = request.query_string.decode("ascii", "replace")
            return redirect(f"/#{name}{'?' if query else ''}{query}")
        if path.startswith("/api/"):
            return self._data(asked, request)
        found = files.served(name)
        if found is None:
            return Response(files.no_page(path, views()), 404, mimetype="text/html")
        return Response(found[0], mimetype=found[1])

    def _data(self, name: str, request: Request) -> Response:
        if name == "state":
            return _json(json.dumps(self._state()).encode())
        params = self._read_post(request) if name in _ASKED else request.args.to_dict()
        if name == "cancel":
            return self._cancel(params)
        if name == "save" and not self.guard.loopback:
            return _error("questions can be saved only from a page on the server's own computer", 403)
        key = f"{name} {json.dumps(params, sort_keys=True)}"
        # "last" is another run tomorrow.
        fixed = name not in _CHANGING and "last" not in params.get("run", "last")
        if fixed and name == "overview":
            key += self._tags(params)
        with self._lock:
            known = self._known.get(key) if fixed else None
        if known is not None:
            return _json(known)
        if name not in _LIGHT and not self._places.acquire(blocking=False):
            return _error("too many queries are running; cancel one, or wait", 503)
        try:
            # As waitress knows it; a browser that leaves a view or closes its window hangs up.
            gone = request.environ.get("waitress.client_disconnected")
            with asked_by(f"page at {request.remote_addr or 'this computer'}", gone):
                found = self.answers.answer(name, params)
        except KernBenchError as error:
            return _error(self._without_paths(str(error)), 400)
        except Exception as error:  # whatever it is, the server goes on
            return _error(self._without_paths(f"unexpected {type(error).__name__}: {error}"), 500)
        finally:
            if name not in _LIGHT:
                self._places.release()
        body = json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        if fixed:
            with self._lock:
                self._known[key] = body
                while len(self._known) > _REMEMBERED:
                    self._known.popitem(last=False)
        return _json(body)

    def _state(self) -> dict[str, Any]:
        """What is going on: the graph that is built, queries, runs under way, and the newest kept run."""
        going = under_way(self.answers.store)
        return {
            "building": self.building,
            "queries": self._queries(),
            "under_way": [asdict(one) for one in going.works],
            "newest": going.newest,
        }

    def _queries(self) -> list[dict[str, Any]]:
        """The running queries, oldest first, as plain data."""
        return [
            {
                "number": query.number,
                "text": query.text[:_SHOWN],
                "run": query.run or "",
                "asker": query.asker.name,
                "seconds": query.seconds,
                "doing": query.doing,
            }
            for query in self.answers.store.queries.listed()
        ]

    def _cancel(self, params: dict[str, Any]) -> Response:
        """End the query of that number, whether or not this window asked it."""
        number = params.get("number")
        if not isinstance(number, int):
            return _error("give the number of a running query", 400)
        try:
            self.answers.store.queries.cancel(number)
        except StoreError as error:
            return _error(str(error), 404)
        return _json(b"{}")

    def _tags(self, params: dict[str, Any]) -> str:
        """The tags that a run has now: all else that is kept of it stays as it is."""
        try:
            return json.dumps(self.answers.run(params).run.tags)
        except KernBenchError:  # the answer says why
            return ""

    def _read_post(self, request: Request) -> dict[str, Any]:
        if request.mimetype != "application/json":
            raise BadRequest("send a JSON object as application/json")
        try:
            found = request.get_json(silent=True)
        except RecursionError:
            raise BadRequest("send a JSON object that is less deeply nested") from None
        if not isinstance(found, dict) or not isinstance(found.get("params", {}), dict):
            raise BadRequest("ask with a JSON object")
        return found

    def _without_paths(self, message: str) -> str:
        """A message that does not say where on the disk the store lies."""
        if self._folder is None:
            return message
        # A relative name may be a word of the message: it is meant in quotes, or before what lies in it.
        for name, end in ((str(self._folder.absolute()), r"(?![\w.-])"), (str(self._folder), "(?=['/])")):
            message = re.sub(rf"(?<![\w./-]){re.escape(name)}{end}", "the store", message)
        return message


def _json(body: bytes) -> Response:
    return Response(body, mimetype="application/json")


def _error(message: str, status: int) -> Response:
    return Response(json.dumps({"error": message}), status, mimetype="application/json")
