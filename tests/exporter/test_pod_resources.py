"""The kubelet's answer about devices: read, bounded in time and size, and never trusted."""

import asyncio
import inspect
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from subprocess import run

import h2.config
import h2.connection
import h2.events
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.exporter import pod_resources
from gpustack_ctrl.exporter.grpc_call import CallError, UnaryCall
from gpustack_ctrl.exporter.pod_resources import PodResourcesError, device_grants_at
from gpustack_ctrl.metering.accelerators.grants import DeviceGrant
from gpustack_ctrl.metering.accelerators.kubelet_wire import MalformedError, device_grants
from gpustack_ctrl.metering.accelerators.readings import Reason

GRANT = DeviceGrant(
    namespace="team",
    pod="box",
    container="main",
    resource="nvidia.com/gpu",
    devices=("GPU-a", "GPU-b"),
)
LOOK = DeviceGrant(
    namespace="team",
    pod="box",
    container="sshd",
    resource="device.gpustack.ai/nvidia.visibility",
    devices=("look-0",),
)


def varint(number: int) -> bytes:
    more = b""
    while number > 0x7F:
        more += bytes([number & 0x7F | 0x80])
        number >>= 7
    return more + bytes([number])


def field(number: int, content: bytes | str) -> bytes:
    told = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(told)) + told


def wire(*grants: DeviceGrant, more: bytes = b"") -> bytes:
    """A ListPodResourcesResponse with one Pod and container for each of *grants*."""
    pods = []
    for one in grants:
        devices = field(1, one.resource) + b"".join(field(2, device) for device in one.devices)
        # cpu_ids and a NUMA node, as the kubelet tells them beside the devices.
        numa = field(3, field(1, b"\x08\x00"))
        container = field(1, one.container) + field(2, devices + numa) + b"\x18\x03" + more
        pods.append(field(1, field(1, one.pod) + field(2, one.namespace) + field(3, container)))
    return b"".join(pods)


Serve = Callable[[h2.connection.H2Connection, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def kubelet(socket: Path, serve: Serve) -> AsyncIterator[Path]:
    """A server at *socket* that calls *serve* once a whole request has come."""
    served: list[asyncio.Task[None]] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        served.append(task)
        with suppress(ConnectionError), closing(writer):
            await talk(reader, writer, serve)

    server = await asyncio.start_unix_server(accept, socket)
    try:
        yield socket
    finally:
        server.close()
        await asyncio.wait_for(asyncio.gather(*served), 5)


async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, serve: Serve) -> None:
    """Speak HTTP/2 until the client goes."""
    config = h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
    connection = h2.connection.H2Connection(config)
    connection.initiate_connection()
    while data := await reader.read(65536):
        events = connection.receive_data(data)
        writer.write(connection.data_to_send())
        if any(isinstance(event, h2.events.StreamEnded) for event in events):
            await serve(connection, writer)


def answering(message: bytes, status: str = "0", prefix: bytes | None = None) -> Serve:
    """A server that answers as gRPC does: headers, the message, then the status."""

    async def serve(connection: h2.connection.H2Connection, writer: asyncio.StreamWriter) -> None:
        told = (b"\0" + len(message).to_bytes(4) if prefix is None else prefix) + message
        connection.send_headers(1, [(":status", "200"), ("content-type", "application/grpc")])
        for start in range(0, len(told), 16000):
            if connection.local_flow_control_window(1) < 16000:
                break  # The tests with large answers need no more than their first part.
            connection.send_data(1, told[start : start + 16000])
        connection.send_headers(
            1, [("grpc-status", status), ("grpc-message", "why")], end_stream=True
        )
        writer.write(connection.data_to_send())

    return serve


async def hangs(_connection: h2.connection.H2Connection, _writer: asyncio.StreamWriter) -> None:
    """Never answers."""


async def hangs_up(_connection: h2.connection.H2Connection, writer: asyncio.StreamWriter) -> None:
    """Ends the connection without an answer."""
    writer.close()


async def no_http2(_connection: h2.connection.H2Connection, writer: asyncio.StreamWriter) -> None:
    """Breaks the rules of the language: no data may come without a stream."""
    writer.write(b"\0\0\1\0\0\0\0\0\0x")


async def refused(connection: h2.connection.H2Connection, writer: asyncio.StreamWriter) -> None:
    """Answers with headers alone, as servers do that have no such method or no mercy."""
    headers = [(":status", "200"), ("grpc-status", "7"), ("grpc-message", "not you")]
    connection.send_headers(1, headers, end_stream=True)
    writer.write(connection.data_to_send())


async def resets(connection: h2.connection.H2Connection, writer: asyncio.StreamWriter) -> None:
    """Breaks off in the middle."""
    connection.reset_stream(1)
    writer.write(connection.data_to_send())


async def test_the_answer_is_told_as_it_stands(tmp_path: Path) -> None:
    async with kubelet(tmp_path / "s", answering(wire(GRANT, LOOK))) as socket:
        assert (GRANT, LOOK) == await device_grants_at(socket)


async def test_a_node_without_pods_has_given_nothing(tmp_path: Path) -> None:
    async with kubelet(tmp_path / "s", answering(b"")) as socket:
        assert () == await device_grants_at(socket)


@pytest.mark.parametrize(
    ("serve", "reason", "what"),
    [
        (hangs, Reason.TRANSIENT_DRIVER_ERROR, "no answer in 0.2 s"),
        (hangs_up, Reason.TRANSIENT_DRIVER_ERROR, "onnection"),
        (no_http2, Reason.TRANSIENT_DRIVER_ERROR, "no HTTP/2"),
        (resets, Reason.TRANSIENT_DRIVER_ERROR, "broke off"),
        (refused, Reason.PERMISSION, "gRPC status 7: not you"),
        (answering(b"", status="8"), Reason.TRANSIENT_DRIVER_ERROR, "gRPC status 8: why"),
        (answering(b"x" * 40000), Reason.BOUNDED, "larger than 20000 bytes"),
        (answering(b"\xff" * 40), Reason.INVALID_DATA, "a number does not end"),
        (answering(wire(GRANT)[:-3]), Reason.INVALID_DATA, "ends after the message"),
        (answering(b"abc", prefix=b"\1\0\0\0\3"), Reason.TRANSIENT_DRIVER_ERROR, "compression"),
        (answering(b"abc", prefix=b"\0\0\0\0\4"), Reason.TRANSIENT_DRIVER_ERROR, "one message"),
    ],
)
async def test_what_is_no_answer_has_a_reason(
    tmp_path: Path, serve: Serve, reason: Reason, what: str
) -> None:
    async with kubelet(tmp_path / "s", serve) as socket:
        with pytest.raises(PodResourcesError) as caught:
            await device_grants_at(socket, seconds=0.2, most_bytes=20000)

    assert reason == caught.value.reason
    assert str(socket) in str(caught.value)
    assert what in str(caught.value)


async def test_without_a_socket_there_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(PodResourcesError) as caught:
        await device_grants_at(tmp_path / "none")

    assert Reason.TRANSIENT_DRIVER_ERROR == caught.value.reason


def test_what_a_later_kubelet_adds_is_passed_over() -> None:
    added = varint(99 << 3) + b"\x07" + field(98, "new") + varint(97 << 3 | 5) + b"1234"
    added += varint(96 << 3 | 1) + b"12345678"

    assert (GRANT,) == device_grants(wire(GRANT, more=added) + field(7, "new"))


texts = st.text(max_size=8)
grants = st.builds(
    DeviceGrant,
    namespace=texts,
    pod=texts,
    container=texts,
    resource=texts,
    devices=st.lists(texts, max_size=3).map(tuple),
)


@given(st.lists(grants, max_size=4).map(tuple))
def test_what_is_written_is_read(told: tuple[DeviceGrant, ...]) -> None:
    assert told == device_grants(wire(*told))


def cut(whole: bytes) -> st.SearchStrategy[bytes]:
    """*whole*, with some bytes replaced by others."""
    return st.builds(
        lambda at, junk, to: whole[:at] + junk + whole[to:],
        st.integers(0, len(whole)),
        st.binary(max_size=4),
        st.integers(0, len(whole)),
    )


@given(st.binary(max_size=60) | st.builds(wire, grants).flatmap(cut))
def test_bytes_are_read_or_malformed(message: bytes) -> None:
    with suppress(MalformedError):
        device_grants(message)


@given(st.lists(st.binary(max_size=80), max_size=4))
def test_a_call_takes_any_bytes_or_fails(chunks: list[bytes]) -> None:
    call = UnaryCall("/x/y", most_bytes=100)
    call.start()
    with suppress(CallError):
        for chunk in chunks:
            call.feed(chunk)
        call.answer()


def test_who_does_not_call_does_not_pay() -> None:
    """Importing the reader imports nothing of HTTP/2."""
    program = f"import sys, {pod_resources.__name__}; sys.exit('h2' in sys.modules)"

    assert 0 == run([sys.executable, "-c", program], check=False).returncode
    assert inspect.iscoroutinefunction(device_grants_at)
