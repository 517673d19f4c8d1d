"""Addresses of Neo4j servers that lead somewhere, and those that do not and say so in one line."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernbench_graph.errors import StoreError, StoreUrlError
from kernbench_graph.opening import open_store
from kernbench_graph.stores.neo4j.server import PASSWORD, USER

from tests.conftest import need_neo4j
from tools.run_neo4j import running

PASSWORD_OF_IT = "-of this 'tést' \"only\" \\n #"
"""Hard to hand on; of a server on the loopback address that lives for seconds."""


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate for this machine that no authority has signed."""
    folder = tmp_path_factory.mktemp("certificates")
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    command += ["-keyout", str(folder / "private.key"), "-out", str(folder / "public.crt")]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory, certificates: Path) -> Iterator[tuple[int, int]]:
    """Bolt and HTTP port of a server that encrypts."""
    need_neo4j()
    settings = {
        "server.bolt.tls_level": "OPTIONAL",
        "dbms.ssl.policy.bolt.enabled": "true",
        "dbms.ssl.policy.bolt.base_directory": str(certificates),
        "dbms.ssl.policy.bolt.private_key": "private.key",
        "dbms.ssl.policy.bolt.public_certificate": "public.crt",
        "dbms.ssl.policy.bolt.client_auth": "NONE",
    }
    home = tmp_path_factory.mktemp("encrypting")
    with running(home, PASSWORD_OF_IT, quick=True, more=settings) as (bolt, http, _):
        yield bolt, http


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(USER, "neo4j")
    monkeypatch.setenv(PASSWORD, PASSWORD_OF_IT)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("KERNBENCH_NEO4J_AUTH_FILE", raising=False)


def refused(url: str) -> str:
    with pytest.raises(StoreError) as caught:
        open_store(url)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_encrypted_connections(
    scheme: str, ports: tuple[int, int], certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bolt, http = ports
    open_store(f"{scheme}+ssc://127.0.0.1:{bolt}").close()
    message = refused(f"{scheme}+s://127.0.0.1:{bolt}")
    assert "its certificate is not trusted (self-signed certificate)" in message
    assert f"SSL_CERT_FILE, or use {scheme}+ssc://" in message
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "public.crt"))
    open_store(f"{scheme}+s://127.0.0.1:{bolt}").close()
    for trust in ("s", "ssc"):
        assert "does not encrypt" in refused(f"{scheme}+{trust}://127.0.0.1:{http}")


@pytest.mark.slow
def test_a_wrong_port_and_a_wrong_password(ports: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    bolt, http = ports
    assert "check host, port and scheme" in refused(f"bolt://127.0.0.1:{http}")
    monkeypatch.setenv(PASSWORD, "not-this-one")
    message = refused(f"bolt+ssc://127.0.0.1:{bolt}")
    assert "refuses the user or password" in message
    assert "not-this-one" not in message


@pytest.mark.parametrize("trust", ["", "+s", "+ssc"])
def test_nobody_there(trust: str) -> None:
    assert "no Neo4j server answers there" in refused(f"bolt{trust}://127.0.0.1:1")


def test_what_is_no_address() -> None:
    for url in ("http://127.0.0.1:7474", "https://127.0.0.1:7473"):
        with pytest.raises(StoreUrlError, match=r"is not a store URL; use .* 'neo4j://host:7687'"):
            open_store(url)
    for url in ("neo4j://127.0.0.1:7687?database=x", "neo4j://127.0.0.1:7687/a/b", "bolt://127.0.0.1:no"):
        with pytest.raises(StoreUrlError, match="//host:7687"):
            open_store(url)
