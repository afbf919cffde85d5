"""Given names of many countries: the small recogniser takes half of them for companies, places or works."""

from __future__ import annotations

import pkgutil
from functools import lru_cache
from importlib import import_module


@lru_cache
def given_names() -> frozenset[str]:
    """Lower-case given names in Latin letters (Faker's lists of public statistics, MIT licence).

    >>> {"priya", "otto", "zofia"} <= given_names()
    True
    """
    people = import_module("faker.providers.person")
    found: set[str] = set()
    for module in pkgutil.iter_modules(people.__path__):
        provider = import_module(f"{people.__name__}.{module.name}").Provider
        for kind in ("first_names", "first_names_male", "first_names_female"):
            names = getattr(provider, kind, ())
            found |= set() if isinstance(names, property) else set(names)
    return frozenset(name.lower() for name in found if len(name) > 2 and name.isalpha() and name[0] < "\u0250")
