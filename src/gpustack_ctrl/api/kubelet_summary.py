"""The slice of the kubelet's `/stats/summary` that is read, by k8s.io/kubelet's stats/v1alpha1."""

import attrs
import msgspec


@attrs.frozen(kw_only=True)
class PodReference:
    """Which Pod is spoken of."""

    uid: str
    name: str = ""
    namespace: str = ""


@attrs.frozen(kw_only=True)
class CPU:
    """Processor time."""

    usageNanoCores: int | None = None
    usageCoreNanoSeconds: int | None = None


@attrs.frozen(kw_only=True)
class Memory:
    """Memory, in bytes."""

    workingSetBytes: int | None = None
    rssBytes: int | None = None


@attrs.frozen(kw_only=True)
class Interface:
    """A network interface: bytes since it was made."""

    rxBytes: int | None = None
    txBytes: int | None = None


@attrs.frozen(kw_only=True)
class Network(Interface):
    """The Pod's network: its default interface, and all of them where they are listed."""

    interfaces: tuple[Interface, ...] | None = ()


@attrs.frozen(kw_only=True)
class FileSystem:
    """Space, in bytes."""

    usedBytes: int | None = None
    capacityBytes: int | None = None


@attrs.frozen(kw_only=True)
class Volume(FileSystem):
    """A volume of a Pod."""

    name: str = ""


@attrs.frozen(kw_only=True)
class Processes:
    """How many processes there are."""

    process_count: int | None = None


@attrs.frozen(kw_only=True)
class ContainerStats:
    """A container's own share."""

    cpu: CPU | None = None
    memory: Memory | None = None


class PodStats(
    msgspec.Struct, frozen=True, kw_only=True, rename={"ephemeral_storage": "ephemeral-storage"}
):
    """All that is told of a Pod; the figures of the whole Pod outlive its containers."""

    podRef: PodReference
    containers: tuple[ContainerStats, ...] | None = ()
    cpu: CPU | None = None
    memory: Memory | None = None
    network: Network | None = None
    volume: tuple[Volume, ...] | None = ()
    ephemeral_storage: FileSystem | None = None
    process_stats: Processes | None = None


@attrs.frozen(kw_only=True)
class Summary:
    """The whole answer."""

    pods: tuple[PodStats, ...] | None = ()
