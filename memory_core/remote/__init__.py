"""Calling a model server. The parts that do (llms, embedders) share this; it knows of none of them."""

from memory_core.remote.answers import (
    MAX_BYTES,
    address,
    cap_answer,
    is_page,
    model_name,
    one_line,
    refusal,
    shown,
    unreachable,
)
from memory_core.remote.clients import ollama_client, ollama_refusal, openai_client
from memory_core.remote.patience import (
    PassingError,
    Patience,
    interruptible_stream,
    interruptibly,
    patiently,
    without_thoughts,
)
from memory_core.remote.secret import Secret
from memory_core.remote.vectors import embedded_rows

__all__ = [
    "MAX_BYTES",
    "PassingError",
    "Patience",
    "Secret",
    "address",
    "cap_answer",
    "embedded_rows",
    "interruptible_stream",
    "interruptibly",
    "is_page",
    "model_name",
    "ollama_client",
    "ollama_refusal",
    "one_line",
    "openai_client",
    "patiently",
    "refusal",
    "shown",
    "unreachable",
    "without_thoughts",
]
