"""All the ways in which a kubeconfig or a Pod says who we are."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gpustack_ctrl.client.connection import connect
from gpustack_ctrl.client.credentials import Connection
from gpustack_ctrl.client.errors import ConfigurationError, UntrustedError
from gpustack_ctrl.client.location import ConnectionOptions, Surroundings
from gpustack_ctrl.runtime.clock import SystemClock
from tests.client.certificates import Authority, needs_openssl
from tests.client.kubeconfigs import NOWHERE, client, connected, kubeconfig, surroundings, write
from tests.client.scripted import Answer, Received, ScriptedServer, scripted
from tests.helpers.clock import FakeClock


async def ask(connection: Connection) -> bytes:
    return await client(connection).rest.get("/version")


async def identity(path: Path, server: ScriptedServer, context: str = "") -> Received:
    """What the server sees of who connects by the kubeconfig at *path*."""
    async with await connected(path, context=context) as connection:
        await ask(connection)
    return server.received[-1]


def inline(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


@pytest.mark.parametrize(
    ("user", "header"),
    [
        ({"token": "secret"}, "Bearer secret"),
        ({"tokenFile": "token"}, "Bearer from-file"),
        ({"username": "u", "password": "p"}, "Basic dTpw"),
        ({}, None),
    ],
)
async def test_a_user_is_known_by(
    tmp_path: Path, user: Mapping[str, Any], header: str | None
) -> None:
    (tmp_path / "token").write_text("from-file\n")
    async with scripted(lambda _: Answer()) as server:
        seen = await identity(write(tmp_path / "k", kubeconfig(server.url, user)), server)

    assert header == seen.headers.get("authorization")


@needs_openssl
async def test_a_user_is_known_by_a_client_certificate_in_files(tmp_path: Path) -> None:
    authority = Authority.create(tmp_path)
    authority.sign("alice")
    user = {"client-certificate": "alice.crt", "client-key": "alice.key"}
    async with scripted(lambda _: Answer(), tls=authority.server()) as server:
        cluster = {"certificate-authority": "ca.crt"}
        path = write(tmp_path / "k", kubeconfig(server.url, user, cluster=cluster))

        assert "alice" == (await identity(path, server)).peer


@needs_openssl
async def test_a_user_is_known_by_a_client_certificate_in_the_kubeconfig(tmp_path: Path) -> None:
    authority = Authority.create(tmp_path)
    pair = authority.sign("bob")
    user = {
        "client-certificate-data": inline(pair.certificate),
        "client-key-data": inline(pair.key),
    }
    async with scripted(lambda _: Answer(), tls=authority.server()) as server:
        cluster = {"certificate-authority-data": inline(authority.certificate)}
        path = write(tmp_path / "k", kubeconfig(server.url, user, cluster=cluster))

        assert "bob" == (await identity(path, server)).peer


@needs_openssl
async def test_no_key_of_a_kubeconfig_stays_on_disk_while_we_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed cannot remove anything; logging in again finds the key anew."""
    left = tmp_path / "temporary"
    left.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(left))
    pair = Authority.create(tmp_path).sign("bob")
    user = {
        "client-certificate-data": inline(pair.certificate),
        "client-key-data": inline(pair.key),
    }
    path = write(tmp_path / "k", kubeconfig("https://127.0.0.1:1", user))
    async with await connected(path) as connection:
        assert not list(left.iterdir())

        assert not await connection.renew(await connection.headers())
        assert not list(left.iterdir())
    assert "PRIVATE KEY" not in repr(connection.endpoint)


@needs_openssl
async def test_a_certificate_that_is_not_trusted_is_told_apart(tmp_path: Path) -> None:
    authority, other = Authority.create(tmp_path / "a"), Authority.create(tmp_path / "b")
    async with scripted(lambda _: Answer(), tls=authority.server()) as server:
        cluster = {"certificate-authority": str(other.certificate)}
        path = write(tmp_path / "k", kubeconfig(server.url, cluster=cluster))
        async with await connected(path) as connection:
            with pytest.raises(UntrustedError) as caught:
                await ask(connection)

    told = f"the certificate of the API server at {server.url} is not trusted: "
    assert str(caught.value).startswith(told)
    assert "\n" not in str(caught.value)


@needs_openssl
async def test_an_authority_that_was_replaced_is_read_again(tmp_path: Path) -> None:
    before, after = Authority.create(tmp_path / "a"), Authority.create(tmp_path / "b")
    trusted = tmp_path / "ca.crt"
    trusted.write_bytes(before.certificate.read_bytes())
    async with scripted(lambda _: Answer(), tls=after.server()) as server:
        cluster = {"certificate-authority": str(trusted)}
        path = write(tmp_path / "k", kubeconfig(server.url, cluster=cluster))
        async with await connected(path) as connection:
            trusted.write_bytes(after.certificate.read_bytes())

            assert b"{}" == await ask(connection)


@needs_openssl
@pytest.mark.parametrize(
    "cluster",
    [{"insecure-skip-tls-verify": True}, {"tls-server-name": "api.example"}],
)
async def test_a_cluster_may_be_reached_by_another_name(
    tmp_path: Path, cluster: Mapping[str, Any]
) -> None:
    authority = Authority.create(tmp_path)
    tls = authority.server(alternative="DNS:api.example")
    async with scripted(lambda _: Answer(), tls=tls) as server:
        content = kubeconfig(server.url, cluster={"certificate-authority": "ca.crt", **cluster})

        assert "/version" == (await identity(write(tmp_path / "k", content), server)).path


@needs_openssl
async def test_only_the_clusters_own_authority_is_trusted(tmp_path: Path) -> None:
    authority = Authority.create(tmp_path)
    cluster = {"certificate-authority": "ca.crt"}
    path = write(tmp_path / "k", kubeconfig("https://127.0.0.1:1", cluster=cluster))
    async with await connected(path) as connection:
        context = connection.endpoint.tls()

    assert 1 == len(context.get_ca_certs())
    assert authority.certificate.read_bytes() == connection.endpoint.authority


async def test_a_proxy_is_used_if_the_kubeconfig_names_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment's is not: finding it out would cost two threads for each request."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with scripted(lambda _: Answer()) as server:
        content = kubeconfig("http://api.invalid:80", cluster={"proxy-url": server.url})
        proxied = await identity(write(tmp_path / "k", content), server)
        direct = await identity(write(tmp_path / "k", kubeconfig(server.url)), server)

    assert "api.invalid" == proxied.headers["host"].partition(":")[0]
    assert "/version" == direct.target


async def test_a_context_is_chosen_by_name(tmp_path: Path) -> None:
    content = kubeconfig("http://127.0.0.1:1", {"token": "one"}, name="one")
    two = kubeconfig("http://127.0.0.1:2", {"token": "two"}, name="two")
    for section in ("contexts", "clusters", "users"):
        content[section] += two[section]
    path = write(tmp_path / "k", content)

    async with await connected(path) as connection:
        assert "http://127.0.0.1:1" == connection.host
    async with await connected(path, context="two") as connection:
        assert "http://127.0.0.1:2" == connection.host


async def test_several_files_are_merged_and_the_first_wins(tmp_path: Path) -> None:
    first = write(tmp_path / "1", kubeconfig("http://127.0.0.1:1", name="one"))
    second = write(tmp_path / "2", kubeconfig("http://127.0.0.1:2", name="two"))
    around = surroundings(KUBECONFIG=f"{first}:{second}")
    clock = SystemClock()

    async with await connect(ConnectionOptions(), clock=clock, surroundings=around) as connection:
        assert "http://127.0.0.1:1" == connection.host
    options = ConnectionOptions(context="two")
    async with await connect(options, clock=clock, surroundings=around) as connection:
        assert "http://127.0.0.1:2" == connection.host


def service_account(folder: Path, server: ScriptedServer, authority: Authority) -> Surroundings:
    (folder / "token").write_text("mounted\n")
    (folder / "ca.crt").write_bytes(authority.certificate.read_bytes())
    environ = {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(server.port),
    }
    return Surroundings(environ=environ, home=NOWHERE, service_account=folder)


@needs_openssl
async def test_a_pod_uses_its_service_account_and_reads_a_new_token(tmp_path: Path) -> None:
    authority = Authority.create(tmp_path / "pki")
    clock = FakeClock()
    async with scripted(lambda _: Answer(), tls=authority.server()) as server:
        around = service_account(tmp_path, server, authority)
        options = ConnectionOptions()
        async with await connect(options, clock=clock, surroundings=around) as connection:
            await ask(connection)
            (tmp_path / "token").write_text("rotated\n")
            await ask(connection)
            await clock.advance(61)
            await ask(connection)

    expected = ["Bearer mounted", "Bearer mounted", "Bearer rotated"]
    assert expected == [request.headers["authorization"] for request in server.received]


async def test_a_pod_without_its_environment_is_told(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("mounted")
    around = Surroundings(environ={}, home=NOWHERE, service_account=tmp_path)
    with pytest.raises(ConfigurationError) as caught:
        await connect(ConnectionOptions(), clock=SystemClock(), surroundings=around)

    expected = f"the service account in {tmp_path}: Service host/port is not set."
    assert expected == str(caught.value)


@needs_openssl
async def test_a_broken_certificate_later_on_leaves_the_sessions_in_use(tmp_path: Path) -> None:
    authority = Authority.create(tmp_path / "pki")
    clock = FakeClock()
    async with scripted(lambda _: Answer(), tls=authority.server()) as server:
        around = service_account(tmp_path, server, authority)
        options = ConnectionOptions()
        async with await connect(options, clock=clock, surroundings=around) as connection:
            await ask(connection)
            (tmp_path / "ca.crt").write_text("half written")
            await clock.advance(61)

            assert b"{}" == await ask(connection)
