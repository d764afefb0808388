"""What our own ports show of certificates, over real sockets."""

import asyncio
import os
import shutil
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from structlog.testing import capture_logs

from gpustack_ctrl.runtime.certificate import CertificateError, server_tls
from gpustack_ctrl.runtime.clock import SystemClock
from gpustack_ctrl.runtime.server import HttpServer, ListenError
from tests.client.certificates import Authority, Pair, needs_openssl
from tests.helpers.clock import FakeClock


@asynccontextmanager
async def serving(tls: ssl.SSLContext) -> AsyncIterator[int]:
    """The port of a server that answers over *tls*."""

    async def page(_: web.Request) -> web.Response:
        return web.Response(text="the page")

    app = web.Application()
    app.router.add_get("/metrics", page)
    server = HttpServer(app, bind="127.0.0.1:0", tls=tls)
    await server.start()
    assert server.port
    try:
        yield server.port
    finally:
        await server.stop()


async def page(port: int, *, trusting: Path) -> str:
    """What a client reads that trusts that authority alone; by address, so without SNI."""
    context = ssl.create_default_context(cafile=str(trusting))
    url = f"https://127.0.0.1:{port}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url, ssl=context) as answer:
        return await answer.text()


async def shown(port: int, **limits: ssl.TLSVersion) -> x509.Certificate:
    """The certificate that a client is shown who trusts anybody."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    for name, version in limits.items():
        setattr(context, name, version)
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    held = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    await writer.wait_closed()
    return x509.load_der_x509_certificate(held)


def put(pair: Pair, folder: Path, *parts: str) -> None:
    """Put a copy of *pair*, or of *parts* of it, to where the server looks."""
    folder.mkdir(exist_ok=True)
    for name, source in (("tls.crt", pair.certificate), ("tls.key", pair.key)):
        if not parts or name in parts:
            new = folder / f"{name}.new"
            shutil.copy(source, new)
            os.replace(new, folder / name)  # noqa: PTH105 -- as a kubelet does: at once.


def tls_of(folder: Path) -> ssl.SSLContext:
    certificate, key = str(folder / "tls.crt"), str(folder / "tls.key")
    return server_tls(certificate=certificate, key=key, clock=FakeClock())


async def test_without_files_it_shows_a_certificate_of_its_own() -> None:
    async with serving(server_tls(certificate="", key="", clock=SystemClock())) as port:
        held = await shown(port)

    names = held.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    key = held.public_key()
    assert [socket.gethostname()] == names.get_values_for_type(x509.DNSName)
    assert isinstance(key, ec.EllipticCurvePublicKey)
    assert "secp256r1" == key.curve.name
    assert held.not_valid_before_utc < SystemClock().now() < held.not_valid_after_utc
    assert held.issuer == held.subject


async def test_its_own_certificate_is_another_one_in_each_process() -> None:
    serials = set()
    for _ in range(2):
        async with serving(server_tls(certificate="", key="", clock=FakeClock())) as port:
            serials.add((await shown(port)).serial_number)

    assert 2 == len(serials)


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1:DeprecationWarning")
async def test_tls_before_1_2_is_refused() -> None:
    async with serving(server_tls(certificate="", key="", clock=FakeClock())) as port:
        with pytest.raises(ssl.SSLError):
            await shown(port, maximum_version=ssl.TLSVersion.TLSv1_1)
        await shown(port, maximum_version=ssl.TLSVersion.TLSv1_2)


@needs_openssl
async def test_files_are_shown_and_what_replaces_them(tmp_path: Path) -> None:
    old, new = Authority.create(tmp_path / "old"), Authority.create(tmp_path / "new")
    put(old.sign("server"), tmp_path / "tls")
    async with serving(tls_of(tmp_path / "tls")) as port:
        assert "the page" == await page(port, trusting=old.certificate)
        put(new.sign("server"), tmp_path / "tls")

        assert "the page" == await page(port, trusting=new.certificate)
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await page(port, trusting=old.certificate)


@needs_openssl
async def test_a_pair_that_does_not_match_is_told_once_and_the_last_one_stays(
    tmp_path: Path,
) -> None:
    authority = Authority.create(tmp_path / "ca")
    put(authority.sign("server"), tmp_path / "tls")
    async with serving(tls_of(tmp_path / "tls")) as port:
        other = authority.sign("other")
        put(other, tmp_path / "tls", "tls.crt")
        with capture_logs() as lines:
            pages = [await page(port, trusting=authority.certificate) for _ in range(2)]
        put(other, tmp_path / "tls", "tls.key")
        replaced = await shown(port)

    assert ["the page"] * 2 == pages
    [line] = lines
    assert line["error"].endswith("tls.key: they do not belong together")
    assert "CN=other" == replaced.subject.rfc4514_string()


@needs_openssl
async def test_files_that_vanish_are_told_once_and_were_read_already(tmp_path: Path) -> None:
    authority = Authority.create(tmp_path / "ca")
    put(authority.sign("server"), tmp_path / "tls")
    async with serving(tls_of(tmp_path / "tls")) as port:
        shutil.rmtree(tmp_path / "tls")
        with capture_logs() as lines:
            pages = [await page(port, trusting=authority.certificate) for _ in range(2)]

    assert ["the page"] * 2 == pages
    assert 1 == len(lines)


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(ListenError) as told:
        tls_of(tmp_path)

    both = f"the certificate {tmp_path}/tls.crt with the key {tmp_path}/tls.key"
    assert f"cannot use {both}: no such file or directory" == str(told.value)


@pytest.mark.parametrize("files", [("tls.crt", ""), ("", "tls.key")])
def test_one_file_alone_is_refused(files: tuple[str, str]) -> None:
    with pytest.raises(CertificateError, match="TLS needs two files"):
        server_tls(certificate=files[0], key=files[1], clock=FakeClock())


@needs_openssl
@pytest.mark.parametrize("garbled", ["tls.crt", "tls.key"])
def test_files_that_are_no_pem_are_refused(tmp_path: Path, garbled: str) -> None:
    put(Authority.create(tmp_path / "ca").sign("server"), tmp_path / "tls")
    (tmp_path / "tls" / garbled).write_text("none")

    with pytest.raises(CertificateError, match="they must be PEM, and the key without a password"):
        tls_of(tmp_path / "tls")
