"""A small OpenID Connect provider: whoever `subject` names is signed in without being asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT = "forgetting-lab"


class Provider(ThreadingHTTPServer):
    """Signs in `subject`; `url` is its issuer."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.subject = "ann"
        self.nonce = ""
        self.key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})

    def id_token(self) -> str:
        """Who is signed in, as RFC 7519 has it."""
        now = int(time.time())
        claims = {"iss": self.url, "sub": self.subject, "aud": CLIENT, "nonce": self.nonce, "iat": now,
                  "exp": now + 600, "email": f"{self.subject}@id.example"}  # fmt: skip
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        url = self.server.url
        if parts.path == "/.well-known/openid-configuration":
            self._answer({
                "issuer": url, "authorization_endpoint": f"{url}/authorize", "token_endpoint": f"{url}/token",
                "jwks_uri": f"{url}/jwks", "response_types_supported": ["code"], "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
            })  # fmt: skip
        elif parts.path == "/jwks":
            self._answer({"keys": [self.server.key.as_dict(private=False)]})
        else:
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            self.server.nonce = asked.get("nonce", "")
            self.send_response(302)
            self.send_header("Location", f"{asked['redirect_uri']}?{urlencode({'code': 'c', 'state': asked['state']})}")
            self.end_headers()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(
            {"access_token": "a", "token_type": "Bearer", "expires_in": 600, "id_token": self.server.id_token()}
        )

    def _answer(self, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def openid_provider() -> Iterator[Provider]:
    """A running provider."""
    with Provider() as provider:
        threading.Thread(target=provider.serve_forever, daemon=True).start()
        yield provider
        provider.shutdown()
