"""Two people sign in through a real OpenID Connect provider, and each sees their own memories."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from memory_core.memories import FolderMemories
from tests.browser.conftest import free_port, open_page, running_app

pytest.importorskip("authlib", reason="pip install -r requirements-server.txt")
from tests.servers.openid import CLIENT, openid_provider

PATIENCE = 60_000  # milliseconds


def test_each_sees_their_own_after_signing_in(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    with openid_provider() as provider:
        monkeypatch.setenv("FORGETTING_LAB_MEMORIES", str(tmp_path))
        for subject, said in (("ann", "I bake rye bread."), ("ben", "I keep bees.")):
            place = FolderMemories.default(f"{provider.url} {subject}")
            place.create(f"of-{subject}").memory.say(said, at="2024-05-01T10:00:00Z")
            place.close()
        secrets = tmp_path / "secrets.toml"
        secrets.write_text(
            f'[auth]\nredirect_uri = "http://127.0.0.1:{port}/oauth2callback"\ncookie_secret = "{"c" * 40}"\n'
            f'client_id = "{CLIENT}"\nclient_secret = "s"\n'
            f'server_metadata_url = "{provider.url}/.well-known/openid-configuration"\n'
        )
        env = {"STREAMLIT_SECRETS_FILES": str(secrets), "STREAMLIT_SERVER_PORT": str(port)}
        with running_app(tmp_path, **env) as app:
            for subject, own, others in (("ann", "I bake rye bread.", "bees"), ("ben", "I keep bees.", "rye")):
                provider.subject = subject
                with open_page(chromium) as (page, seen):
                    page.goto(app)
                    page.get_by_role("button", name="Sign in").click(timeout=PATIENCE)
                    expect(page.get_by_text(own).first).to_be_visible(timeout=PATIENCE)
                    expect(page.get_by_text(f"Signed in as {subject}@id.example")).to_be_visible()
                    assert others not in page.inner_text("body")
                    assert not seen.errors
