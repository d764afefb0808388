"""Programs that give credentials: run when needed, and not more often."""

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from gpustack_ctrl.client.errors import ConfigurationError
from gpustack_ctrl.runtime.clock import SystemClock
from tests.client.certificates import Authority, needs_openssl
from tests.client.kubeconfigs import client, connected, kubeconfig, write
from tests.client.scripted import Answer, Received, scripted
from tests.helpers.clock import FakeClock

API_VERSION = "client.authentication.k8s.io/v1"
SECONDS = 20.0
AT_HALF_PAST = "2026-01-01T00:30:00Z"
AT_ONE = "2026-01-01T01:00:00Z"


@attrs.frozen
class Plugin:
    """A script that prints what the test put into `answer`, and counts how often."""

    folder: Path

    @classmethod
    def create(cls, folder: Path) -> "Plugin":
        script = folder / "plugin"
        script.write_text(f'#!/bin/sh\necho >> {folder}/runs\ncat "{folder}/answer"\n')
        script.chmod(0o700)
        return cls(folder)

    @property
    def runs(self) -> int:
        return len((self.folder / "runs").read_text())

    @property
    def user(self) -> Mapping[str, Any]:
        return {"exec": {"apiVersion": API_VERSION, "command": str(self.folder / "plugin")}}

    def gives_token(self, token: str, *, expires: str = "") -> None:
        self.gives(token=token, **({"expirationTimestamp": expires} if expires else {}))

    def gives(self, **status: str) -> None:
        answer = {"apiVersion": API_VERSION, "kind": "ExecCredential", "status": status}
        (self.folder / "answer").write_text(json.dumps(answer))


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    return Plugin.create(tmp_path)


async def test_a_token_of_a_plugin_is_replaced_before_it_expires(
    tmp_path: Path, plugin: Plugin
) -> None:
    plugin.gives_token("first", expires=AT_HALF_PAST)
    clock = FakeClock()
    async with scripted(lambda _: Answer()) as server:
        path = write(tmp_path / "k", kubeconfig(server.url, plugin.user))
        async with await connected(path, clock=clock) as connection:
            rest = client(connection).rest
            await rest.get("/version")
            await clock.advance(24 * 60)
            await rest.get("/version")
            assert 1 == plugin.runs

            plugin.gives_token("second", expires=AT_ONE)
            await clock.advance(2 * 60)
            await rest.get("/version")

    assert 2 == plugin.runs
    expected = ["Bearer first", "Bearer first", "Bearer second"]
    assert expected == [request.headers["authorization"] for request in server.received]


async def test_a_token_without_an_expiry_is_kept_until_it_is_refused(
    tmp_path: Path, plugin: Plugin
) -> None:
    def script(request: Received) -> Answer:
        return Answer(200 if request.headers["authorization"] in valid else 401)

    valid = {"Bearer first"}
    plugin.gives_token("first")
    clock = FakeClock()
    async with scripted(script) as server:
        path = write(tmp_path / "k", kubeconfig(server.url, plugin.user))
        async with await connected(path, clock=clock) as connection:
            rest = client(connection).rest
            await clock.advance(24 * 3600)
            await rest.get("/version")
            assert 1 == plugin.runs

            valid = {"Bearer second"}
            plugin.gives_token("second")
            await rest.get("/version")

    assert 2 == plugin.runs


async def test_a_plugin_that_fails_leaves_the_token_in_use(tmp_path: Path, plugin: Plugin) -> None:
    plugin.gives_token("first", expires=AT_HALF_PAST)
    clock = FakeClock()
    async with scripted(lambda _: Answer()) as server:
        path = write(tmp_path / "k", kubeconfig(server.url, plugin.user))
        async with await connected(path, clock=clock) as connection:
            rest = client(connection).rest
            (tmp_path / "answer").write_text("garbage")
            await clock.advance(26 * 60)
            await rest.get("/version")
            plugin.gives_token("second", expires=AT_ONE)
            await clock.advance(11)
            await rest.get("/version")

    expected = ["Bearer first", "Bearer second"]
    assert expected == [request.headers["authorization"] for request in server.received]


@needs_openssl
async def test_a_certificate_of_a_plugin_is_replaced_when_it_is_refused(
    tmp_path: Path, plugin: Plugin
) -> None:
    def script(request: Received) -> Answer:
        return Answer(200 if request.peer == "new" else 401)

    authority = Authority.create(tmp_path / "pki")
    for name in ("old", "new"):
        authority.sign(name)
    give(plugin, authority, "old")
    async with scripted(script, tls=authority.server()) as server:
        cluster = {"certificate-authority": str(authority.certificate)}
        path = write(tmp_path / "k", kubeconfig(server.url, plugin.user, cluster=cluster))
        async with await connected(path) as connection:
            give(plugin, authority, "new")
            await client(connection).rest.get("/version")

    assert ["old", "new"] == [request.peer for request in server.received]


def give(plugin: Plugin, authority: Authority, name: str) -> None:
    plugin.gives(
        clientCertificateData=(authority.folder / f"{name}.crt").read_text(),
        clientKeyData=(authority.folder / f"{name}.key").read_text(),
    )


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo no login >&2; exit 3", "exec: process returned 3. no login"),
        ("echo garbage", "exec: failed to decode process output"),
        (
            f"""echo '{{"apiVersion":"{API_VERSION}","kind":"","status":{{}}}}'""",
            "the exec plugin gave neither a token nor a certificate",
        ),
    ],
)
async def test_a_plugin_that_gives_nothing_is_told_in_one_line(
    tmp_path: Path, plugin: Plugin, script: str, told: str
) -> None:
    (tmp_path / "plugin").write_text(f"#!/bin/sh\n{script}\n")
    with pytest.raises(ConfigurationError) as caught:
        await connected(write(tmp_path / "k", kubeconfig("https://127.0.0.1:1", plugin.user)))

    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_other_requests_go_on_while_a_plugin_runs(tmp_path: Path, plugin: Plugin) -> None:
    """One request pays for the renewal; a lease must not wait for it."""
    plugin.gives_token("first", expires=AT_HALF_PAST)
    clock = FakeClock()
    async with scripted(lambda _: Answer()) as server, asyncio.timeout(SECONDS):
        path = write(tmp_path / "k", kubeconfig(server.url, plugin.user))
        async with await connected(path, clock=clock) as connection:
            rest = client(connection).rest
            os.mkfifo(tmp_path / "gate")
            (tmp_path / "answer").unlink()
            (tmp_path / "plugin").write_text(f'#!/bin/sh\ncat "{tmp_path}/gate"\n')
            await clock.advance(26 * 60)
            paying = asyncio.create_task(rest.get("/paying"))
            while not connection.renewing:
                await SystemClock().sleep(0.01)
            await rest.get("/other")
            assert not paying.done()
            plugin.gives_token("second", expires=AT_ONE)
            answer = (tmp_path / "answer").read_text()
            await asyncio.to_thread((tmp_path / "gate").write_text, answer)
            await paying

    seen = [(request.path, request.headers["authorization"]) for request in server.received]
    assert [("/other", "Bearer first"), ("/paying", "Bearer second")] == seen
