"""The address of a memory on a server: `postgresql://user:password@host:port/database?memory=NAME`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from memory_core.errors import InputError

KEY = "FORGETTING_LAB_KEY"
_SCHEMES = ("postgresql://", "postgres://")
_HOW = "write it as postgresql://user:password@host:5432/database?memory=NAME"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SHOWN = ("host", "port", "sslmode")  # of the options that libpq takes; the others may be secret


def is_address(where: object) -> bool:
    """Whether `where` is a server's address rather than a path.

    >>> is_address("postgresql://localhost/lab"), is_address("data/memory.sqlite3")
    (True, False)
    """
    return isinstance(where, str) and where.startswith(_SCHEMES)


@dataclass(frozen=True)
class Address:
    """A server, a database of it, and a memory there; `options` are libpq's (`sslmode`, `host` of a socket …).

    >>> address = Address.parse("postgresql://anna:s3cret@lab.example:5433/notes?memory=trip")
    >>> address.place
    'postgresql://anna@lab.example:5433/notes?memory=trip'
    >>> "s3cret" in repr(address)
    False
    """

    host: str = ""
    port: str = ""
    database: str = ""
    user: str = ""
    memory: str = "memory"
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    password: str = field(default="", repr=False)
    key: str = field(default="", repr=False)  # `user:HEX` or `server:HEX`: proves who asks

    @classmethod
    def parse(cls, text: str) -> Address:
        """Raises InputError, which never repeats what was given: a password may stand anywhere in it."""
        try:
            parts = urlsplit(text)
            host, port = parts.hostname or "", str(parts.port or "")
            options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
        except ValueError:
            raise InputError(
                f"The memory's address cannot be read: {_HOW}; % and / of a password as %25, %2F."
            ) from None
        if not is_address(text) or parts.fragment:
            raise InputError(f"The memory's address cannot be read: {_HOW}; # and ? of a password as %23, %3F.")
        memory, key = options.pop("memory", "memory"), options.pop("key", "")
        if not _NAME.fullmatch(memory):
            raise InputError("The memory's name in the address is 1 to 64 letters (a to z), digits, - and _.")
        password = unquote(parts.password or "") or options.pop("password", "")
        return cls(unquote(host), port, unquote(parts.path.strip("/")), unquote(parts.username or ""), memory, options,
                   password, key)  # fmt: skip

    @classmethod
    def given(cls, text: str) -> Address:
        """The address a person gave to a command, with the key of $FORGETTING_LAB_KEY unless it has one of its own."""
        address = cls.parse(text)
        return replace(address, key=address.key or os.environ.get(KEY, "").strip())

    def __str__(self) -> str:
        return self.place

    @property
    def place(self) -> str:
        """The address without its password, to be shown."""
        shown = {key: value for key, value in self.options.items() if key in _SHOWN} | {"memory": self.memory}
        return f"postgresql://{self._login}/{quote(self.database)}?{urlencode(shown, safe='/')}"

    def whole(self) -> str:
        """The address with its password and its key, for the one place that keeps it: `parse` reads it back.

        >>> whole = Address.parse("postgresql://ann:a%2Fb@lab/notes?sslmode=require").whole()
        >>> whole
        'postgresql://ann:a%2Fb@lab/notes?sslmode=require'
        """
        login, _, host = self._login.rpartition("@")
        secret = f":{quote(self.password, safe='')}" if self.password else ""
        login = f"{login}{secret}@" if login or secret else ""
        options = dict(self.options) | ({"memory": self.memory} if self.memory != "memory" else {})
        options |= {"key": self.key} if self.key else {}
        query = f"?{urlencode(options, safe='/:')}" if options else ""
        return f"postgresql://{login}{host}/{quote(self.database)}{query}"

    @property
    def server(self) -> str:
        """The server as an error names it: host and port."""
        host = self.host or self.options.get("host", "") or "this machine"
        port = self.port or self.options.get("port", "")
        return f"{host}:{port}" if port else host

    @property
    def _login(self) -> str:
        user = f"{quote(self.user, safe='')}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{user}{host}:{self.port}" if self.port else f"{user}{host}"

    def parameters(self) -> dict[str, str]:
        """What libpq is given; what is missing it takes from its own environment and files (PGPASSWORD, ~/.pgpass)."""
        named = {"host": self.host, "port": self.port, "dbname": self.database, "user": self.user,
                 "password": self.password}  # fmt: skip
        return dict(self.options) | {name: value for name, value in named.items() if value}
