"""A person at a terminal: an SSH client on a pty, what it shows and what is typed."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from e2e.cluster import until
from e2e.node.layout import NODE_ADDRESS
from e2e.tests.keys import Login


@attrs.define(kw_only=True)
class Terminal:
    """An interactive session."""

    client: "subprocess.Popen[bytes]"
    screen: int
    seen: bytes = b""

    def type(self, text: str) -> None:
        """Press the keys of *text*."""
        os.write(self.screen, text.encode())

    def resize(self, rows: int, columns: int) -> None:
        """Drag the window's corner."""
        _set_size(self.screen, rows, columns)
        self.client.send_signal(signal.SIGWINCH)

    def expect(self, text: str) -> None:
        """Wait until *text* was shown, and forget what came up to it."""
        wanted = text.encode()
        until(lambda: wanted in self._read(), f"{text!r} is not shown", seconds=20)
        self.seen = self.seen.partition(wanted)[2]

    def _read(self) -> bytes:
        try:
            self.seen += os.read(self.screen, 65536)
        except (BlockingIOError, OSError):
            return self.seen  # Nothing new, or the client closed its side.
        return self.seen


@contextmanager
def terminal(login: Login, *command: str) -> Iterator[Terminal]:
    """Have a session with *command*, or a shell, on a terminal; the end of the block hangs up."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    _set_size(ours, 24, 80)
    words = ("ssh", "-tt", *login.options(), NODE_ADDRESS, *command)
    client = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        yield Terminal(client=client, screen=ours)
    finally:
        os.close(ours)
        client.kill()
        client.wait()


def _set_size(screen: int, rows: int, columns: int) -> None:
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
