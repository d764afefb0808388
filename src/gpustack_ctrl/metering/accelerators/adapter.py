"""What every source of figures is to us: text in, samples out, or one documented error."""

from typing import Protocol

from gpustack_ctrl.metering.accelerators.readings import DeviceSample, Reason


class UnreadableError(Exception):
    """The text is not what the source is documented to say; *reason* tells how."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Adapter(Protocol):
    """Reads the page of one kind of exporter."""

    def read(self, text: str) -> tuple[DeviceSample, ...]:
        """What *text* says, a sample for each device, slice or partition.

        Raises UnreadableError, and nothing else, for whatever else *text* may hold.
        """
        ...
