"""How far a compilation is, for a terminal and for a log."""

import time
from typing import TextIO

import attrs

_LOG_EVERY = 20.0


@attrs.define(kw_only=True)
class Progress:
    """Turns what `go build -v` prints into one moving line, or into a line now and then.

    *total* is the number of packages where nothing is cached yet; packages that
    Go finds in its own build cache are never announced, so a build may end early.
    """

    total: int
    out: TextIO
    compiled: int = 0
    downloaded: int = 0
    _started: float = attrs.field(factory=time.monotonic, init=False)
    _shown: float = attrs.field(default=float("-inf"), init=False)

    def saw(self, line: str) -> bool:
        """Count *line* and return whether it was progress rather than a message."""
        if line.startswith("go: downloading "):
            self.downloaded += 1
        elif line and not line.startswith("#") and " " not in line and ":" not in line:
            self.compiled += 1
        else:
            return False
        self._show()
        return True

    def done(self) -> None:
        """Leave the last state on a line of its own."""
        print(f"{self._prefix()}finished: {self}", file=self.out, flush=True)

    def __str__(self) -> str:
        minutes, seconds = divmod(int(time.monotonic() - self._started), 60)
        fetched = f", {self.downloaded} modules downloaded" if self.downloaded else ""
        percent = 100 * self.compiled // max(self.total, 1)
        counted = f"{self.compiled} of {self.total} packages compiled ({percent} %)"
        return f"{counted}{fetched}, {minutes}:{seconds:02d}"

    def _show(self) -> None:
        now = time.monotonic()
        interactive = self.out.isatty()
        if now - self._shown < (0.1 if interactive else _LOG_EVERY):
            return
        self._shown = now
        end = "" if interactive else "\n"
        print(f"{self._prefix()}{self}", file=self.out, end=end, flush=True)

    def _prefix(self) -> str:
        return "\r\033[K" if self.out.isatty() else ""
