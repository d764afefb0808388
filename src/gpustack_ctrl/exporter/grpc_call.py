"""One gRPC call with one request and one answer, as a machine without a connection.

gRPC's framework weighs 19 MB and 21 MB of memory; a single call needs a few frames of
HTTP/2, which h2 makes and reads. Facts: grpc/grpc, doc/PROTOCOL-HTTP2.md.
"""

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions

_PREFIX = 5
"""Each message begins with a byte that tells compression, and four of its length."""
_OK = "0"
_DENIED = {"7", "16"}


class CallError(Exception):
    """The call failed by what the server said."""


class DeniedError(CallError):
    """The server does not let us call."""


class TooLargeError(CallError):
    """The answer is larger than we take."""


class UnaryCall:
    """A call of *method*; feed it what arrives and send what it returns.

    *most_bytes* is the size of the largest answer that is taken, in bytes.
    """

    def __init__(self, method: str, *, most_bytes: int) -> None:
        config = h2.config.H2Configuration(client_side=True, header_encoding="utf-8")
        self._connection = h2.connection.H2Connection(config)
        self._method = method
        self._most = most_bytes + _PREFIX
        self._received = bytearray()
        self._status: tuple[str, str] | None = None
        self.done = False

    def start(self, request: bytes = b"") -> bytes:
        """What opens the connection and makes the call with *request*."""
        self._connection.initiate_connection()
        self._connection.send_headers(1, self._headers())
        self._connection.send_data(1, b"\0" + len(request).to_bytes(4) + request, end_stream=True)
        return self._connection.data_to_send()

    def feed(self, data: bytes) -> bytes:
        """Take *data* from the server; return what to send. Raises CallError."""
        try:
            events = self._connection.receive_data(data)
        except h2.exceptions.ProtocolError as error:
            raise CallError(f"the answer is no HTTP/2: {error}") from error
        for event in events:
            self._take(event)
        return self._connection.data_to_send()

    def answer(self) -> bytes:
        """The message that the server answered with. Raises CallError where it did not."""
        code, message = self._status or ("", "the connection ended before the answer did")
        if code != _OK:
            refused = DeniedError if code in _DENIED else CallError
            raise refused(f"gRPC status {code or 'unknown'}: {message or 'no message'}")
        length = int.from_bytes(self._received[1:_PREFIX])
        if self._received[:1] != b"\0" or len(self._received) != length + _PREFIX:
            raise CallError("the answer is not one message without compression")
        return bytes(self._received[_PREFIX:])

    def _headers(self) -> list[tuple[str, str]]:
        return [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", self._method),
            (":authority", "localhost"),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
        ]

    def _take(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.DataReceived():
                self._receive(event)
            case h2.events.ResponseReceived() | h2.events.TrailersReceived():
                self._heed({str(name): str(value) for name, value in event.headers or ()})
            case h2.events.StreamEnded():
                self.done = True
            case h2.events.StreamReset() | h2.events.ConnectionTerminated():
                raise CallError(f"the server broke off (HTTP/2 error {event.error_code})")
            case _:
                pass  # Settings, windows and pings: h2 answers by itself.

    def _receive(self, event: h2.events.DataReceived) -> None:
        if len(self._received) + len(event.data or b"") > self._most:
            raise TooLargeError(f"the answer is larger than {self._most - _PREFIX} bytes")
        self._received += event.data or b""
        self._connection.acknowledge_received_data(event.flow_controlled_length or 0, 1)

    def _heed(self, headers: dict[str, str]) -> None:
        """Take the status; a refusal may come without a message before it."""
        if "grpc-status" in headers:
            self._status = (headers["grpc-status"], headers.get("grpc-message", ""))
        elif headers.get(":status", "200") != "200":
            raise CallError(f"the server answered HTTP {headers[':status']}")
