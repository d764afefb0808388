"""Which devices the kubelet of this node has given to which container, by its socket."""

import asyncio
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from gpustack_ctrl.metering.accelerators.grants import DeviceGrant
from gpustack_ctrl.metering.accelerators.kubelet_wire import MalformedError, device_grants
from gpustack_ctrl.metering.accelerators.readings import Reason

if TYPE_CHECKING:
    from gpustack_ctrl.exporter.grpc_call import UnaryCall

SOCKET = Path("/var/lib/kubelet/pod-resources/kubelet.sock")
METHOD = "/v1.PodResourcesLister/List"
MOST_BYTES = 4 * 1024 * 1024
SECONDS = 10.0
_CHUNK = 64 * 1024


class PodResourcesError(Exception):
    """The kubelet does not tell; *reason* is the word for it, the message names the socket."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


async def device_grants_at(
    socket: Path = SOCKET, *, seconds: float = SECONDS, most_bytes: int = MOST_BYTES
) -> tuple[DeviceGrant, ...]:
    """All that the kubelet behind *socket* has given, also to Pods that are not ours.

    Raises PodResourcesError when there is no answer within *seconds*, when it is larger
    than *most_bytes*, or when it is none.
    """
    try:
        async with asyncio.timeout(seconds):
            return device_grants(await _listed(socket, most_bytes))
    except TimeoutError as error:
        raise _error(
            socket, Reason.TRANSIENT_DRIVER_ERROR, f"no answer in {seconds:g} s"
        ) from error
    except PermissionError as error:
        raise _error(socket, Reason.PERMISSION, "we may not open it: run as root") from error
    except OSError as error:
        raise _error(socket, Reason.TRANSIENT_DRIVER_ERROR, str(error)) from error
    except MalformedError as error:
        raise _error(socket, Reason.INVALID_DATA, str(error)) from error


def _error(socket: Path, reason: Reason, what: str) -> PodResourcesError:
    return PodResourcesError(reason, f"{socket}: {what}")


async def _listed(socket: Path, most_bytes: int) -> bytes:
    # Only an exporter on a node makes the call: nobody else pays for h2.
    calls = import_module("gpustack_ctrl.exporter.grpc_call")
    try:
        return await _exchanged(socket, calls.UnaryCall(METHOD, most_bytes=most_bytes))
    except calls.TooLargeError as error:
        raise _error(socket, Reason.BOUNDED, str(error)) from error
    except calls.DeniedError as error:
        raise _error(socket, Reason.PERMISSION, str(error)) from error
    except calls.CallError as error:
        raise _error(socket, Reason.TRANSIENT_DRIVER_ERROR, str(error)) from error


async def _exchanged(socket: Path, call: "UnaryCall") -> bytes:
    reader, writer = await asyncio.open_unix_connection(socket)
    try:
        writer.write(call.start())
        while not call.done and (data := await reader.read(_CHUNK)):
            writer.write(call.feed(data))
            await writer.drain()
        return call.answer()
    finally:
        # Nothing is waited for: the answer is whole, or there is none.
        writer.transport.abort()
