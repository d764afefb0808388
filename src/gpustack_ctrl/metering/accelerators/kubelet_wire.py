"""The kubelet's answer about devices, from the wire format of protocol buffers.

Of the service `v1.PodResourcesLister` only the names are read (kubernetes/kubelet,
pkg/apis/podresources/v1/api.proto): ListPodResourcesResponse {1: pods}, PodResources
{1: name, 2: namespace, 3: containers}, ContainerResources {1: name, 2: devices} and
ContainerDevices {1: resource, 2: ids}. What a later version adds is passed over.
"""

from collections.abc import Iterator

import attrs

from gpustack_ctrl.metering.accelerators.grants import DeviceGrant

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED = {_FIXED64: 8, _FIXED32: 4}
_MOST_BITS = 64


class MalformedError(ValueError):
    """The bytes are no such message."""


@attrs.define
class _Cursor:
    """Where in *message* reading stands."""

    message: bytes
    at: int = 0

    @property
    def done(self) -> bool:
        return self.at >= len(self.message)

    def varint(self) -> int:
        value = shift = 0
        while shift < _MOST_BITS:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:  # noqa: PLR2004 - The highest bit says that more follows.
                return value
            shift += 7
        raise MalformedError("a number does not end")

    def take(self, length: int) -> bytes:
        end = self.at + length
        if end > len(self.message):
            raise MalformedError("a field ends after the message")
        taken = self.message[self.at : end]
        self.at = end
        return taken


def device_grants(message: bytes) -> tuple[DeviceGrant, ...]:
    """Which devices which container has, by a ListPodResourcesResponse.

    Raises MalformedError, and nothing else, for bytes that are none.
    """
    return tuple(grant for pod in _inner(message, 1) for grant in _of_pod(pod))


def _of_pod(pod: bytes) -> Iterator[DeviceGrant]:
    name, namespace = _text(pod, 1), _text(pod, 2)
    for container in _inner(pod, 3):
        for devices in _inner(container, 2):
            yield DeviceGrant(
                namespace=namespace,
                pod=name,
                container=_text(container, 1),
                resource=_text(devices, 1),
                devices=tuple(_decoded(device) for device in _inner(devices, 2)),
            )


def _inner(message: bytes, number: int) -> Iterator[bytes]:
    """The messages or texts in the field *number*."""
    for found, value in _fields(message):
        if found == number:
            yield value


def _text(message: bytes, number: int) -> str:
    """The text in the field *number*; of several the last counts, of none it is empty."""
    texts = tuple(_inner(message, number))
    return _decoded(texts[-1]) if texts else ""


def _decoded(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise MalformedError("a name is not UTF-8") from error


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields that hold bytes, by number; all others are passed over."""
    cursor = _Cursor(message)
    while not cursor.done:
        number, kind = divmod(cursor.varint(), 8)
        if kind == _BYTES:
            yield number, cursor.take(cursor.varint())
        elif kind == _VARINT:
            cursor.varint()
        elif kind in _FIXED:
            cursor.take(_FIXED[kind])
        else:
            raise MalformedError(f"a field of kind {kind}")
