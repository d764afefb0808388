"""A person at a terminal: an SSH client on a pty, what it shows and what is typed."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
from types import TracebackType
from typing import Self

from tests.ssh_server.pod import DEADLINE, Pod, until


class Terminal:
    """An interactive session; leaving the block hangs up."""

    def __init__(self, pod: Pod, *command: str, size: tuple[int, int] = (24, 80)) -> None:
        """Start `ssh` with *command*, or an interactive shell, on a terminal of *size*."""
        self._screen, theirs = pty.openpty()
        os.set_blocking(self._screen, False)
        self._seen = b""
        self._set_size(size)
        words = pod.ssh_command(*command, options=("-tt",))
        kwargs = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        self.client: subprocess.Popen[bytes] = pod.open(*words, **kwargs)
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._screen)
        self.client.kill()
        self.client.wait(timeout=DEADLINE)

    def type(self, text: str) -> None:
        """Press the keys of *text*."""
        os.write(self._screen, text.encode())

    def resize(self, rows: int, columns: int) -> None:
        """Drag the window's corner."""
        self._set_size((rows, columns))
        self.client.send_signal(signal.SIGWINCH)

    def expect(self, text: str) -> None:
        """Wait until *text* was shown, and forget what came up to it."""
        wanted = text.encode()
        until(lambda: wanted in self._read(), f"{text!r} is shown, not {self._seen!r}")
        self._seen = self._seen.partition(wanted)[2]

    def _read(self) -> bytes:
        try:
            self._seen += os.read(self._screen, 65536)
        except (BlockingIOError, OSError):
            # Nothing new, or the client closed its side: what was seen stays seen.
            return self._seen
        return self._seen

    def _set_size(self, size: tuple[int, int]) -> None:
        fcntl.ioctl(self._screen, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
