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
from memory_core.remote.clients import OLLAMA_URL, OPENAI_URL, ollama_client, ollama_refusal, openai_client, openai_name
from memory_core.remote.patience import (
    PassingError,
    Patience,
    interruptible_stream,
    interruptibly,
    patiently,
    without_thoughts,
)
from memory_core.remote.secret import Secret
from memory_core.remote.vectors import dimension, embedded_rows

__all__ = [
    "MAX_BYTES",
    "OLLAMA_URL",
    "OPENAI_URL",
    "PassingError",
    "Patience",
    "Secret",
    "address",
    "cap_answer",
    "dimension",
    "embedded_rows",
    "interruptible_stream",
    "interruptibly",
    "is_page",
    "model_name",
    "ollama_client",
    "ollama_refusal",
    "one_line",
    "openai_client",
    "openai_name",
    "patiently",
    "refusal",
    "shown",
    "unreachable",
    "without_thoughts",
]
