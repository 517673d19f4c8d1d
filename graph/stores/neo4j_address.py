"""Where a Neo4j is and how to get in: the store URL and the credentials, which are never part of it.

neo4j://host:7687          the store called `kernbench` in that server's default database
neo4j://host:7687/team-a   another store in the same database, with runs of its own
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from graph.store import StoreError, StoreUrlError

USER, PASSWORD, AUTH_FILE = "KERNBENCH_NEO4J_USER", "KERNBENCH_NEO4J_PASSWORD", "KERNBENCH_NEO4J_AUTH_FILE"
DEFAULT_NAME = "kernbench"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Address:
    """A server's URL for the driver, and the name of the store within its database."""

    server: str
    name: str


def parse(url: str) -> Address:
    """The address that ``url`` means. ``StoreUrlError`` never repeats what may be a password."""
    scheme = url.partition(":")[0]
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise StoreUrlError(
            f"store '{scheme}:...' has no readable host and port; use {scheme}://host:7687"
        ) from error
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        raise StoreUrlError(
            f"store '{scheme}:...' has credentials in the URL; set {USER} and {PASSWORD}, or name a file in "
            f"{AUTH_FILE}, and use {scheme}://host:7687"
        )
    name = parts.path.strip("/") or DEFAULT_NAME
    if not host or parts.query or parts.fragment or not _NAME.fullmatch(name):
        raise StoreUrlError(
            f"store '{scheme}:...' is not a Neo4j store URL; use {scheme}://host:7687 or "
            f"{scheme}://host:7687/name, the name of letters, digits, '_' and '-'"
        )
    shown = f"[{host}]" if ":" in host else host
    return Address(f"{scheme.lower()}://{shown}" + (f":{port}" if port else ""), name)


def credentials() -> tuple[str, str]:
    """User and password from the environment or the file that it names (one line, ``user:password``)."""
    named = os.environ.get(AUTH_FILE, "").strip()
    if named:
        try:
            line = Path(named).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise StoreError(
                f"{AUTH_FILE} names {named}, which cannot be read ({reason}); correct the name"
            ) from error
        user, colon, password = line.partition(":")
        if not (user and colon and password) or "\n" in line:
            raise StoreError(f"{named} is not one line of the form user:password; correct it")
        return user, password
    user, password = os.environ.get(USER, ""), os.environ.get(PASSWORD, "")
    if not user or not password:
        raise StoreError(
            f"the Neo4j store needs {USER} and {PASSWORD} in the environment, or a file "
            f"'user:password' named by {AUTH_FILE}"
        )
    return user, password
