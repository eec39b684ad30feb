# SPDX-License-Identifier: GPL-2.0-only
"""A small HTTP server that a Prometheus scrapes."""

import re
import socket
import sys
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer

from livemmctl.errors import CtlError, UsageError, os_words

_PORT = re.compile(r"\d{1,5}\Z", re.A)


class _Handler(WSGIRequestHandler):
    # A peer that says nothing is not waited for.
    timeout = 10

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a scrape every few seconds is no news."""


def parse_address(text: str) -> tuple[str, int]:
    """ADDRESS:PORT, [ADDRESS]:PORT or PORT (on loopback).  Raises CtlError, USAGE."""
    address, _, port = text.rpartition(":")
    if not _PORT.match(port) or int(port) > 65535:
        raise UsageError(f"{text[:80]}: not ADDRESS:PORT")
    return address.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


def open_server(address: str, port: int, metrics: CollectorRegistry) -> WSGIServer:
    """A server that listens; port 0 takes any.  Raises CtlError."""
    try:
        family = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0][0]

        class Server(ThreadingWSGIServer):
            """Of the address's own family."""

            address_family = family

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Nothing where a peer was silent or broke off: a port scan is no news."""
                if not isinstance(sys.exc_info()[1], OSError):
                    super().handle_error(request, client_address)

        return make_server(address, port, make_wsgi_app(metrics), Server, _Handler)
    except (OSError, UnicodeError) as error:
        words = os_words(error) if isinstance(error, OSError) else "not an address"
        raise CtlError(f"cannot listen on {address}:{port}: {words}") from None
