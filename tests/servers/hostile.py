"""An HTTP server that answers exactly what a test tells it to, however bad, and remembers what it was asked."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """`body` is sent as it is after `pause` seconds, or `pieces`; `cut` hangs up before the promised length."""

    body: str | bytes = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    pieces: Iterable[bytes] | None = None
    pause: float = 0.0
    cut: bool = False
    hang_up: bool = False


def chat(content: object = "ok", finish: object = "stop", **more: object) -> str:
    """A chat completion as OpenAI sends it, with `more` of the top level replaced."""
    message = content if isinstance(content, dict) else {"role": "assistant", "content": content}
    whole = {
        "id": "c1",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    }
    return json.dumps({**whole, **more})


@dataclass
class Hostile:
    """Answers in turn; the last one is repeated."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    seen_headers: list[dict[str, str]] = field(default_factory=list)

    def says(self, *answers: Answer | str) -> Hostile:
        self.answers = [Answer(answer) if isinstance(answer, str) else answer for answer in answers]
        self.asked, self.paths, self.seen_headers = [], [], []
        return self

    def next(self) -> Answer:
        return self.answers[min(len(self.paths), len(self.answers)) - 1]


@contextmanager
def hostile_server() -> Iterator[Hostile]:
    script = Hostile()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}"
            script.paths.append(self.path)
            script.asked.append(json.loads(text))
            script.seen_headers.append({name.lower(): value for name, value in self.headers.items()})
            try:
                self.answer(script.next())
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def answer(self, answer: Answer) -> None:
            time.sleep(answer.pause)
            if answer.hang_up:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            body = answer.body.encode() if isinstance(answer.body, str) else answer.body
            self.send_response(answer.status)
            headers = {"Content-Type": answer.kind, **answer.headers}
            if answer.pieces is None:
                headers["Content-Length"] = str(len(body) + 100 * answer.cut)
            else:
                headers["Connection"] = "close"
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            for piece in answer.pieces or ():
                self.wfile.write(piece)
                self.wfile.flush()
            if answer.cut or answer.pieces is not None:
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    script.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
