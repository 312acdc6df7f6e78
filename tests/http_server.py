"""A loopback HTTP server that misbehaves on request, for downloads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Handler = Callable[[BaseHTTPRequestHandler, bytes], None]


class Server:
    """Serves byte strings; each path may have a list of special handlers, used up one per request."""

    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}
        self.special: dict[str, list[Handler]] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.etag: str | None = '"v1"'
        self.url = ""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answers one GET."""
        self.requests.append((request.path, request.headers.get("Range")))
        data = self.content.get(request.path)
        handlers = self.special.get(request.path)
        if handlers:
            handlers.pop(0)(request, data or b"")
        elif data is None:
            request.send_error(404)
        else:
            self.send(request, data)

    def send(
        self, request: BaseHTTPRequestHandler, data: bytes, *, cut: int | None = None, ranges: bool = True
    ) -> None:
        """Sends a body, or the part asked for; ``cut`` = close the connection after so many bytes."""
        asked, condition = request.headers.get("Range"), request.headers.get("If-Range")
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        partial = bool(asked) and ranges and condition == self.etag
        if partial and start >= len(data):
            request.send_response(416)
            request.send_header("Content-Range", f"bytes */{len(data)}")
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        body = data[start:] if partial else data
        request.send_response(206 if partial else 200)
        if partial:
            request.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        if self.etag:
            request.send_header("ETag", self.etag)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[:cut])
        if cut is not None:
            request.wfile.flush()
            request.close_connection = True


@contextmanager
def serving() -> Iterator[Server]:
    """A server on a free loopback port."""
    server = Server()

    class Requests(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.answer(self)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
    server.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
