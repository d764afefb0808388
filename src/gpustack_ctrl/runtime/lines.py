"""A byte stream, cut into lines."""

from gpustack_ctrl.api.errors import ApiError

MAX_LINE_BYTES = 16 * 1024 * 1024


class LineTooLongError(ApiError):
    """A line of the stream outgrew the limit; the stream cannot be followed further."""


class LineSplitter:
    """Turns chunks of bytes into complete lines, however the chunks were cut.

    Lines come without their newline; empty ones are dropped, and so is an unfinished
    last one. A line costs its length once, in whatever number of chunks it arrives.
    """

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._held = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that *chunk* completes; raise `LineTooLongError` beyond the limit."""
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if lines:
            lines[0] = self._finish(lines[0])
        self._hold(rest)
        if len(chunk) > self._limit and any(len(line) > self._limit for line in lines):
            raise self._too_long()
        return [line for line in lines if line]

    def _finish(self, end: bytes) -> bytes:
        """The held part of a line with its *end*."""
        if not self._parts:
            return end
        self._hold(end)
        line = b"".join(self._parts)
        self._parts.clear()
        self._held = 0
        return line

    def _hold(self, part: bytes) -> None:
        """Keep *part* until its line is complete."""
        if not part:
            return
        self._parts.append(part)
        self._held += len(part)
        if self._held > self._limit:
            raise self._too_long()

    def _too_long(self) -> LineTooLongError:
        return LineTooLongError(f"a line of the stream is longer than {self._limit} bytes")
