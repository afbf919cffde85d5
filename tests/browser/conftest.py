"""A real Chromium and real Streamlit servers; every request a page makes is written down."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

collect_ignore = ["graph_harness.py", "map_harness.py", "speed.py", "soak.py"]

ROOT = Path(__file__).parents[2]
SWITCHES = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


@dataclass
class Seen:
    """What a page asked for, and what went wrong in it."""

    hosts: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)


def find_chromium() -> str | None:
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium: apt install chromium, or name it in $CHROMIUM")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=SWITCHES)
        yield browser
        browser.close()


@dataclass(frozen=True)
class Server:
    """A Streamlit server: where it listens, its process and the file of what it prints."""

    address: str
    pid: int
    log: Path

    def resident(self) -> int:
        """Bytes of memory the process holds now (Linux)."""
        words = Path(f"/proc/{self.pid}/status").read_text("utf-8")
        return 1024 * int(words.partition("VmRSS:")[2].split()[0])


@contextmanager
def open_page(browser: Browser, dark: bool = False) -> Iterator[tuple[Page, Seen]]:
    context = browser.new_context(
        viewport={"width": 1300, "height": 860}, color_scheme="dark" if dark else "light", accept_downloads=True
    )
    page, seen = context.new_page(), Seen()
    page.on("request", lambda request: seen.hosts.add(request.url.split("/")[2] if "//" in request.url else "inline"))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("dialog", lambda dialog: (seen.errors.append("dialog " + dialog.message), dialog.dismiss()))
    yield page, seen
    context.close()


@contextmanager
def serve(script: Path, folder: Path) -> Iterator[str]:
    """A Streamlit server of a copy of `script` in `folder`; its address."""
    shutil.copyfile(script, folder / "app.py")
    options = ("server.headless=true", "server.enableStaticServing=true", "browser.gatherUsageStats=false")
    with _streamlit(folder, folder / "log", {"PYTHONPATH": str(ROOT)}, options) as server:
        yield server.address


@contextmanager
def running_app(folder: Path, **env: str) -> Iterator[str]:
    """The app itself on a free port with the memories of a folder; its address."""
    with running_server(folder, **env) as server:
        yield server.address


@contextmanager
def running_server(folder: Path, **env: str) -> Iterator[Server]:
    """The app itself, with its process."""
    with _streamlit(ROOT, folder / "log", {"FORGETTING_LAB_MEMORIES": str(folder), **env}) as server:
        yield server


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


#: What `.ci/app` sets before it starts the server.
AS_STARTED = {
    "MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "1000000", "MALLOC_TRIM_THRESHOLD_": "20000000",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}  # fmt: skip


@contextmanager
def _streamlit(cwd: Path, log_file: Path, env: dict[str, str], options: Sequence[str] = ()) -> Iterator[Server]:
    port = int(env.get("STREAMLIT_SERVER_PORT", 0)) or free_port()
    options = (f"server.port={port}", "server.address=127.0.0.1", "server.fileWatcherType=none", *options)
    command = [sys.executable, "-m", "streamlit", "run", "app.py", *(f"--{option}" for option in options)]
    with log_file.open("w") as log:
        server = subprocess.Popen(command, cwd=cwd, env={**os.environ, **AS_STARTED, **env}, stdout=log, stderr=log)
    try:
        wait_until_up(f"http://127.0.0.1:{port}/_stcore/health", server)
        yield Server(f"http://127.0.0.1:{port}", server.pid, log_file)
    finally:
        server.terminate()
        server.wait(10)


def wait_until_up(address: str, server: subprocess.Popen[bytes], seconds: float = 30) -> None:
    end = monotonic() + seconds
    while monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            sleep(0.1)
    raise RuntimeError("the Streamlit server did not come up")
