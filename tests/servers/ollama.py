"""Ollama's API before a llama.cpp server: enough of it for Ollama's own Python client, with a real model behind.

llama.cpp does not speak this API; what Ollama adds (models that are pulled, num_ctx, done_reason) is kept to here.
"""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CHAT_MODEL = "smollm2:135m"
EMBEDDING_MODEL = "nomic-embed-text"


@dataclass
class Translator:
    """What was asked through Ollama's API, and where it was sent on."""

    url: str = ""
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


@contextmanager
def ollama_server(llama: str, context: int = 4096) -> Iterator[Translator]:
    state = Translator()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:
            if self.path == "/api/tags":
                self.send(
                    {"models": [{"model": name, "name": name} for name in (CHAT_MODEL, f"{EMBEDDING_MODEL}:latest")]}
                )
            else:
                self.send({"error": "not found"}, 404)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.asked.append((self.path, body))
            name = body["model"]
            if name.removesuffix(":latest") not in (CHAT_MODEL, EMBEDDING_MODEL):
                self.send({"error": f"model '{name}' not found"}, 404)
            elif self.path == "/api/show":
                self.send({"model_info": {"llama.context_length": context}, "capabilities": ["completion"]})
            elif self.path == "/api/embed":
                self.embed(body)
            else:
                self.chat(body)

        def embed(self, body: dict[str, Any]) -> None:
            texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
            rows = post(f"{llama}/embeddings", {"model": "m", "input": texts})["data"]
            vectors = [(row["embedding"] * 2)[:768] for row in rows]  # SmolLM2 has 576 dimensions, the asked model 768
            self.send({"model": body["model"], "embeddings": vectors})

        def chat(self, body: dict[str, Any]) -> None:
            options = body.get("options") or {}
            asked = {"model": "m", "messages": body["messages"], "max_tokens": options["num_predict"], "temperature": 0}
            if isinstance(body.get("format"), dict):
                form = {"name": "reply", "schema": body["format"]}
                asked["response_format"] = {"type": "json_schema", "json_schema": form}
            answer = post(f"{llama}/chat/completions", asked)
            choice, usage = answer["choices"][0], answer["usage"]
            last = {
                "model": body["model"],
                "done": True,
                "done_reason": choice["finish_reason"],
                "prompt_eval_count": usage["prompt_tokens"],
                "eval_count": usage["completion_tokens"],
            }
            text = choice["message"]["content"]
            if not body["stream"]:
                self.send(last | {"message": {"role": "assistant", "content": text}})
                return
            pieces = [text[at : at + 8] for at in range(0, len(text), 8)]
            lines = [
                {"model": body["model"], "done": False, "message": {"role": "assistant", "content": p}} for p in pieces
            ]
            self.send_lines([*lines, last | {"message": {"role": "assistant", "content": ""}}])

        def send(self, answer: dict[str, Any], status: int = 200) -> None:
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def send_lines(self, lines: list[dict[str, Any]]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson")
            self.send_header("Connection", "close")
            self.end_headers()
            for line in lines:
                self.wfile.write(json.dumps(line).encode() + b"\n")
            self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return dict(json.load(answer))
