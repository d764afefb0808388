"""What an informer lets others count, so that it need not know how."""

from typing import Protocol


class InformerMetrics(Protocol):
    """The counters of one resource."""

    def listed(self) -> None:
        """A list was asked for."""
        ...

    def watched(self) -> None:
        """A watch was asked for."""
        ...

    def received(self, events: int) -> None:
        """So many watch events arrived."""
        ...

    def undecodable(self) -> None:
        """An object was skipped because it could not be decoded."""
        ...

    def faulted(self) -> None:
        """A handler or an indexer raised."""
        ...


class Unmetered:
    """Counts nothing."""

    def listed(self) -> None:
        """Count nothing."""

    def watched(self) -> None:
        """Count nothing."""

    def received(self, events: int) -> None:
        """Count nothing."""

    def undecodable(self) -> None:
        """Count nothing."""

    def faulted(self) -> None:
        """Count nothing."""
