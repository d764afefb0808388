"""What a Pod uses, by whoever measures it; what was not measured is None."""

import attrs


@attrs.frozen(kw_only=True)
class VolumeUse:
    """Space on a volume of a Pod, in bytes."""

    name: str
    used: float | None = None
    capacity: float | None = None


@attrs.frozen(kw_only=True)
class PodUse:
    """What one Pod uses: seconds, cores and bytes.

    *cores* is what a source itself averaged; *cpu_seconds* only grows while the Pod lives.
    """

    cpu_seconds: float | None = None
    cores: float | None = None
    memory_working_set: float | None = None
    memory_rss: float | None = None
    network_received: float | None = None
    network_transmitted: float | None = None
    storage_used: float | None = None
    processes: float | None = None
    volumes: tuple[VolumeUse, ...] = ()

    @property
    def measured(self) -> bool:
        """Whether anything was measured yet: of a new Pod the kubelet says zeros at first."""
        return bool(self.cpu_seconds) or bool(self.memory_working_set)


class UnreadableError(Exception):
    """What a source answered cannot be understood."""
