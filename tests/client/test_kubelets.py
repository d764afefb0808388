"""Kubelets over real TLS: who is trusted, who learns our token, and answers that are none."""

import asyncio
import gzip
from pathlib import Path

import pytest

from gpustack_ctrl.client.answers import LARGEST_BYTES
from gpustack_ctrl.client.endpoints import Endpoints
from tests.client.certificates import Authority, needs_openssl
from tests.client.kubelet_rig import HASTY, PATH, Cluster, failure, listening, node
from tests.client.scripted import Answer, Cut, Hang, Received, Stream, in_turn, scripted

pytestmark = needs_openssl

FINE = Answer(body=b'{"pods":[]}')
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
HERE = "127.0.0.1"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.create(tmp_path_factory.mktemp("cluster") / "authority")


@pytest.fixture
def cluster(tmp_path: Path, authority: Authority) -> Cluster:
    made = Cluster(tmp_path, authority)
    made.say("first")
    return made


async def test_the_token_and_a_path_are_what_a_kubelet_is_asked_by(cluster: Cluster) -> None:
    async with cluster.kubelet(in_turn(FINE)) as server, cluster.asking() as kubelets:
        assert FINE.body == await kubelets.get(node(server.port, HERE), PATH)

    [asked] = server.received
    assert ("GET", PATH) == (asked.method, asked.target)
    assert asked.headers["authorization"] == "Bearer first"
    assert asked.headers["accept-encoding"] == "identity"


async def test_connections_are_kept_and_one_node_has_one(cluster: Cluster) -> None:
    async with cluster.kubelet(lambda _: FINE) as server, cluster.asking() as kubelets:
        where = node(server.port, HERE)
        await asyncio.gather(*(kubelets.get(where, PATH) for _ in range(5)))
        await kubelets.get(where, PATH)
    assert {1} == {asked.connection for asked in server.received}


async def test_a_certificate_of_another_authority_is_not_trusted_and_learns_nothing(
    cluster: Cluster, tmp_path: Path
) -> None:
    stranger = Authority.create(tmp_path / "stranger").server()
    async with scripted(in_turn(FINE), tls=stranger) as server, cluster.asking() as kubelets:
        error = await failure(kubelets, node(server.port, HERE))

    assert error.reason == "untrusted"
    assert "node-1" in str(error)
    assert [] == server.received


@pytest.mark.parametrize("alternative", ["IP:127.0.0.2", "DNS:localhost", "DNS:127.0.0.1"])
async def test_a_certificate_for_another_address_is_not_trusted_and_learns_nothing(
    cluster: Cluster, alternative: str
) -> None:
    kubelet = cluster.kubelet(in_turn(FINE), alternative=alternative)
    async with kubelet as server, cluster.asking() as kubelets:
        error = await failure(kubelets, node(server.port, HERE))

    assert error.reason == "untrusted"
    assert [] == server.received


async def test_any_certificate_is_taken_on_demand(cluster: Cluster, tmp_path: Path) -> None:
    stranger = Authority.create(tmp_path / "stranger").server(alternative="IP:127.0.0.2")
    async with (
        scripted(in_turn(FINE), tls=stranger) as server,
        cluster.asking(insecure=True) as kubelets,
    ):
        assert FINE.body == await kubelets.get(node(server.port, HERE), PATH)


async def test_a_kubelet_without_tls_learns_nothing(cluster: Cluster) -> None:
    async with scripted(in_turn(FINE)) as server, cluster.asking(seconds=5) as kubelets:
        error = await failure(kubelets, node(server.port, HERE))

    assert error.reason in {"untrusted", "broken", "truncated", "timeout"}
    assert [] == server.received


async def test_a_refused_token_is_renewed_and_tried_once_more(cluster: Cluster) -> None:
    def script(asked: Received) -> Answer:
        cluster.say("second")
        return FINE if asked.headers["authorization"] == "Bearer second" else Answer(401)

    async with cluster.kubelet(script) as server, cluster.asking() as kubelets:
        assert FINE.body == await kubelets.get(node(server.port, HERE), PATH)
    assert len(server.received) == 2


async def test_a_token_that_stays_refused_is_unauthorized(cluster: Cluster) -> None:
    async with cluster.kubelet(lambda _: Answer(401)) as server, cluster.asking() as kubelets:
        assert (await failure(kubelets, node(server.port, HERE))).reason == "unauthorized"
    assert 1 <= len(server.received) <= 2


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (403, "forbidden"), (404, "not_found"), (500, "http_error"), (503, "http_error"),
        (429, "http_error"), (204, "http_error"), (206, "http_error"),
    ],
)  # fmt: skip
async def test_a_refusal_is_told_by_its_word(cluster: Cluster, status: int, reason: str) -> None:
    script = in_turn(Answer(status, b""), FINE)
    async with cluster.kubelet(script) as server, cluster.asking() as kubelets:
        error = await failure(kubelets, node(server.port, HERE))

    assert error.reason == reason
    assert len(server.received) == 1
    assert str(status) in str(error)
    assert "first" not in str(error)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(cluster: Cluster, status: int) -> None:
    async with (
        scripted(in_turn(FINE)) as elsewhere,
        cluster.kubelet(in_turn(Answer(status, headers={"Location": elsewhere.url}))) as server,
        cluster.asking() as kubelets,
    ):
        assert (await failure(kubelets, node(server.port, HERE))).reason == "http_error"
    assert [] == elsewhere.received


@pytest.mark.parametrize(
    "answer", [Hang(), Stream((b"{",)), Stream(())], ids=["head", "body", "begin"]
)
async def test_who_hangs_is_timed_out_and_others_are_not(
    cluster: Cluster, answer: Hang | Stream
) -> None:
    async with (
        cluster.kubelet(lambda _: answer) as hung,
        cluster.kubelet(lambda _: FINE) as fine,
        cluster.asking(seconds=HASTY) as kubelets,
    ):
        error = asyncio.create_task(failure(kubelets, node(hung.port, HERE)))
        assert FINE.body == await kubelets.get(node(fine.port, HERE), PATH)
        assert (await error).reason == "timeout"


async def test_who_drips_is_timed_out(cluster: Cluster) -> None:
    """Each byte comes in time, but the answer does not."""

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD)
        while True:
            writer.write(b"{")
            await writer.drain()
            await asyncio.sleep(HASTY / 20)  # noqa: TID251 -- a server's own slowness.

    async with (
        listening(drip, cluster.authority.server()) as port,
        cluster.asking(seconds=HASTY) as kubelets,
    ):
        assert (await failure(kubelets, node(port, HERE))).reason == "timeout"


@pytest.mark.parametrize(
    "answer",
    [
        Cut(), Cut(HEAD + b"{"), Cut(HEAD[:20]), Stream((b'{"pods":',), then="cut"),
    ],
    ids=["before", "length", "head", "chunks"],
)  # fmt: skip
async def test_half_an_answer_is_none(cluster: Cluster, answer: Cut | Stream) -> None:
    async with cluster.kubelet(lambda _: answer) as server, cluster.asking() as kubelets:
        assert (await failure(kubelets, node(server.port, HERE))).reason == "truncated"


@pytest.mark.parametrize(
    "sent", [b"garbage\r\n\r\n", b"HTTP/1.1 200\x00 OK\r\n\r\n", b"\x15\x03\x01" * 100]
)
async def test_what_is_no_http_is_broken(cluster: Cluster, sent: bytes) -> None:
    async with cluster.kubelet(lambda _: Cut(sent)) as server, cluster.asking() as kubelets:
        assert (await failure(kubelets, node(server.port, HERE))).reason in {"broken", "truncated"}


async def test_an_answer_that_never_ends_is_cut_off(cluster: Cluster) -> None:
    sent = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        while True:
            writer.write(piece)
            await writer.drain()
            sent += 0x10000

    async with listening(endless, cluster.authority.server()) as port, cluster.asking() as kubelets:
        error = await failure(kubelets, node(port, HERE))

    assert error.reason == "too_large"
    assert "16 MiB" in str(error)
    assert LARGEST_BYTES <= sent + 0x10000 < 2 * LARGEST_BYTES


async def test_an_answer_of_exactly_the_limit_is_taken(cluster: Cluster) -> None:
    for more in (0, 1):
        script = in_turn(Answer(body=b" " * (LARGEST_BYTES + more)))
        async with cluster.kubelet(script) as server, cluster.asking() as kubelets:
            where = node(server.port, HERE)
            if more:
                assert (await failure(kubelets, where)).reason == "too_large"
            else:
                assert len(await kubelets.get(where, PATH)) == LARGEST_BYTES


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_nothing_is_unpacked_whatever_a_server_sends(cluster: Cluster, coding: str) -> None:
    """A few kilobytes could become gigabytes; we asked for the answer as it is."""
    bomb = gzip.compress(bytes(64 << 20))
    packed = Answer(body=bomb, headers={"Content-Encoding": coding})
    async with (
        cluster.kubelet(in_turn(packed)) as server,
        scripted(in_turn(packed)) as exporter,
        cluster.asking() as kubelets,
        Endpoints(seconds=10) as endpoints,
    ):
        assert bomb == await kubelets.get(node(server.port, HERE), PATH)
        assert bomb == await endpoints.get(exporter.url)
        assert exporter.received[0].headers["accept-encoding"] == "identity"
        assert "authorization" not in exporter.received[0].headers


async def test_a_kubelet_is_found_by_an_address_of_six_as_well(cluster: Cluster) -> None:
    async def fine(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        await writer.drain()
        await reader.read()

    try:
        tls = cluster.authority.server(alternative="IP:::1")
        async with listening(fine, tls, host="::1") as port, cluster.asking() as kubelets:
            assert b"{}" == await kubelets.get(node(port, "::1"), PATH)
    except OSError:
        pytest.skip("there is no IPv6 here")


async def test_who_is_not_there_is_unreachable(cluster: Cluster) -> None:
    async with cluster.kubelet(in_turn(FINE)) as server:
        port = server.port
    async with cluster.asking() as kubelets:
        assert (await failure(kubelets, node(port, HERE))).reason == "unreachable"


async def test_a_node_without_an_address_is_not_asked(cluster: Cluster) -> None:
    async with cluster.asking() as kubelets:
        assert (await failure(kubelets, node(10250))).reason == "no_address"


@pytest.mark.parametrize("address", ["not a host", "a/b", "::g", "", "x" * 300, "a@127.0.0.1"])
async def test_an_address_that_is_none_is_an_answer_that_is_none(
    cluster: Cluster, address: str
) -> None:
    """The name of a node or its address is for no host to choose whom we show our token."""
    async with cluster.kubelet(lambda _: FINE) as server, cluster.asking(seconds=5) as kubelets:
        await failure(kubelets, node(server.port, address))
    assert [] == server.received


async def test_a_port_that_is_none_is_an_answer_that_is_none(cluster: Cluster) -> None:
    async with cluster.asking() as kubelets:
        await failure(kubelets, node(70_000, HERE))


async def test_a_new_client_certificate_is_shown_once_it_is_there(cluster: Cluster) -> None:
    cluster.show("one")

    def script(asked: Received) -> Answer:
        return FINE if asked.peer == "two" else Answer(401)

    async with cluster.kubelet(script) as server, cluster.asking() as kubelets:
        cluster.show("two")
        assert FINE.body == await kubelets.get(node(server.port, HERE), PATH)
    assert ["one", "two"] == [asked.peer for asked in server.received]


async def test_what_is_on_its_way_survives_a_new_certificate(cluster: Cluster) -> None:
    """One node's 401 must not take the answers of the others away."""
    cluster.show("one")
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await go_on.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        await writer.drain()
        await reader.read()

    def script(asked: Received) -> Answer:
        return FINE if asked.peer == "two" else Answer(401)

    async with (
        listening(slow, cluster.authority.server()) as port,
        cluster.kubelet(script) as server,
        cluster.asking() as kubelets,
    ):
        early = asyncio.create_task(kubelets.get(node(port, HERE), PATH))
        await asked.wait()
        cluster.show("two")
        others = (kubelets.get(node(server.port, HERE), PATH) for _ in range(5))
        assert {FINE.body} == set(await asyncio.gather(*others))
        go_on.set()
        assert b"{}" == await early
