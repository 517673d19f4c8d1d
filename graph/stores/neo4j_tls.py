"""Why an encrypted connection to a Neo4j server cannot be had, which the driver does not always say."""

from __future__ import annotations

import socket
import ssl
from urllib.parse import urlsplit

_PORT, _WAIT_S = 7687, 5.0


def problem(server: str) -> str:
    """What is wrong with the encryption of ``server``, a URL with ``+s`` or ``+ssc``, and what to do.

    Empty when nothing is, when nobody answers at all, or when the URL does not ask for encryption.
    """
    parts = urlsplit(server)
    scheme, _, trust = parts.scheme.partition("+")
    if not trust or not parts.hostname:
        return ""
    context = ssl.create_default_context()
    if trust == "ssc":
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((parts.hostname, parts.port or _PORT), _WAIT_S) as plain,
            context.wrap_socket(plain, server_hostname=parts.hostname),
        ):
            return ""
    except ssl.SSLCertVerificationError as error:
        return (
            f"its certificate is not trusted ({error.verify_message}); name the certificate of who signed it "
            f"in SSL_CERT_FILE, or use {scheme}+ssc:// to do without"
        )
    except ssl.SSLError:
        return f"what answers there does not encrypt; use {scheme}://, or have the server encrypt"
    except OSError:
        return ""
