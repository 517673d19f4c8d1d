"""Which requests are answered, and the headers of every answer.

A server on the loopback address can be reached by every page that the same browser shows. So a request must
name this server as its host (no name that someone else's DNS leads here), must not come from another site's
page, and cannot change anything but save a question, on the loopback address alone.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Mapping
from types import MappingProxyType

HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
)
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{1,5})?")
_LOCAL = ("localhost", "127.0.0.1", "::1")


class Guard:
    """Knows the names under which a server at ``address`` (an IP address) may be asked."""

    def __init__(self, address: str) -> None:
        self.loopback = ipaddress.ip_address(address).is_loopback
        self.own = {*_LOCAL}
        if not self.loopback:
            names = (socket.gethostname(), socket.getfqdn())
            self.own |= {address, *(name.lower() for name in names if name)}

    def refusal(self, headers: Mapping[str, str], *, page: bool) -> str:
        """Why a request is not answered; empty where it is.

        Args:
            headers: Of the request.
            page: It is for the page itself, to which another site may link.
        """
        host = headers.get("Host", "")
        if not self._is_own(_name(host)):
            return f"host '{host}' is not this server's name; open it as localhost"
        origin = headers.get("Origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return "the request comes from another site's page"
        site = headers.get("Sec-Fetch-Site", "none")
        if site not in ("none", "same-origin") and not page:
            return "the request comes from another site's page"
        return ""

    def _is_own(self, name: str) -> bool:
        if name in self.own:
            return True
        # An address, unlike a name, cannot be made to lead here by someone else's DNS.
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return not self.loopback


def _name(host: str) -> str:
    """Without the port and without brackets, in small letters; empty where it is malformed."""
    found = _HOST.fullmatch(host)
    return (found[1] or found[2]).lower() if found else ""
