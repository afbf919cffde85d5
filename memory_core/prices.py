"""What calls to priced models cost, from published prices; a model not in the table has no known cost."""

from __future__ import annotations

AS_OF = "2025-08"
#: US dollars for a million tokens in, and out (OpenAI's price list); an embedder has no tokens out.
PRICES: dict[str, tuple[float, float]] = {
    "gpt-4o-mini": (0.15, 0.60),
    "gpt-4o": (2.50, 10.00),
    "gpt-4.1": (2.00, 8.00),
    "gpt-4.1-mini": (0.40, 1.60),
    "gpt-4.1-nano": (0.10, 0.40),
    "text-embedding-3-small": (0.02, 0.0),
    "text-embedding-3-large": (0.13, 0.0),
}


def cost(model: str, tokens_in: int, tokens_out: int = 0) -> float | None:
    """US dollars; None for a model without a known price. A dated name costs what its family does.

    >>> cost("gpt-4o-mini-2024-07-18", 1_000_000, 100_000)
    0.21
    >>> cost("smollm2", 1_000_000) is None
    True
    """
    name = model.rpartition("/")[2]
    family = max((known for known in PRICES if name == known or _dated(name, known)), key=len, default=None)
    if family is None:
        return None
    price_in, price_out = PRICES[family]
    return round((tokens_in * price_in + tokens_out * price_out) / 1e6, 6)


def told(tokens_in: int, tokens_out: int, dollars: float | None) -> str:
    """What was or may be taken, in words.

    >>> told(12_000, 340, 0.002004)
    '12,000 tokens in, 340 out, $0.0020'
    """
    return f"{tokens_in:,} tokens in, {tokens_out:,} out" + ("" if dollars is None else f", ${dollars:.4f}")


def _dated(name: str, family: str) -> bool:
    rest = name.removeprefix(family)
    return rest != name and rest.startswith("-") and rest[1:].replace("-", "").isdigit()
