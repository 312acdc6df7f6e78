"""A small chat server on the loopback interface that fails as it is told, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "parrot-1"


@dataclass
class Fault:
    """What happens to a prompt that contains ``word``, the first ``times`` times it comes.

    Attributes:
        kind: "status" (with ``status``, ``headers``, ``body``), "garbage" (no JSON), "other_json", "slow" (waits
            ``seconds``), "drop" (closes the connection without a word), or "half" (closes it inside the body).
    """

    word: str
    kind: str
    times: int = 1
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    body: str = '{"error": {"message": "as told"}}'
    seconds: float = 0.0


@dataclass
class FaultyServer:
    """The server's state: faults still to come, and all requests so far."""

    url: str = ""
    key: str | None = None
    faults: list[Fault] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    times: list[tuple[str, float]] = field(default_factory=list)
    most_at_once: int = 0
    pause: float = 0.0
    listed: tuple[str, ...] = (MODEL,)
    say: Callable[[str], str] = str.upper
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def asked(self, word: str) -> int:
        """How often a prompt with the word came."""
        return sum(word in text for text, _ in self.times)

    def next_fault(self, text: str) -> Fault | None:
        with self._lock:
            for fault in self.faults:
                if fault.word in text and fault.times > 0:
                    fault.times -= 1
                    return fault
        return None

    @contextmanager
    def one_more(self) -> Iterator[None]:
        with self._lock:
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            yield
        finally:
            with self._lock:
                self._now -= 1


@contextmanager
def faulty_server(*faults: Fault, key: str | None = None) -> Iterator[FaultyServer]:
    """Runs the server; its answers are `say` of the last message, at first that in capitals."""
    state = FaultyServer(key=key, faults=list(faults))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def reply(self, status: int, body: str, headers: dict[str, str] | None = None) -> None:
            data = body.encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def let_in(self) -> bool:
            if state.key is None or self.headers.get("Authorization") == f"Bearer {state.key}":
                return True
            told = self.headers.get("Authorization", "").removeprefix("Bearer ")
            self.reply(401, json.dumps({"error": {"message": f"Incorrect API key provided: {told}"}}))
            return False

        def do_GET(self) -> None:
            if self.let_in():
                self.reply(200, json.dumps({"object": "list", "data": [{"id": name} for name in state.listed]}))

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self.let_in():
                return
            text = request["messages"][-1]["content"]
            with state.one_more():
                state.requests.append(request)
                state.times.append((text, time.monotonic()))
                time.sleep(state.pause)
                self.answer(request, text, state.next_fault(text))

        def answer(self, request: dict[str, Any], text: str, fault: Fault | None) -> None:
            usage = {"prompt_tokens": len(text.split()), "completion_tokens": 2, "total_tokens": 3}
            choice = {"index": 0, "message": {"role": "assistant", "content": state.say(text)}, "finish_reason": "stop"}
            body = {"id": "x", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice]}
            good = json.dumps({**body, "usage": usage})
            if fault is None:
                self.reply(200, good)
            elif fault.kind == "status":
                self.reply(fault.status, fault.body, fault.headers)
            elif fault.kind == "garbage":
                self.reply(200, "{'choices': oops")
            elif fault.kind == "other_json":
                self.reply(200, fault.body)
            elif fault.kind == "slow":
                time.sleep(fault.seconds)
                self.close_connection = True
            elif fault.kind == "drop":
                self.close_connection = True
                self.connection.close()
            elif fault.kind == "half":
                self.send_response(200)
                self.send_header("Content-Length", str(len(good)))
                self.end_headers()
                self.wfile.write(good[:20].encode())
                self.wfile.flush()
                self.close_connection = True
                self.connection.close()

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            pass  # a connection that we or the client dropped

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
