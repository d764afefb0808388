"""Who makes accelerators, and what a cluster calls theirs: nine rows of data.

Resources and runtime classes are those of the gpustack device manager, which for whole
cards are the makers' own. HAMi calls some of them otherwise; where its names depend on
the model of the chip, or are not known, the row has none.
"""

from collections.abc import Mapping

import attrs


@attrs.frozen(kw_only=True)
class HamiNames:
    """What HAMi calls the devices of one maker, and the parts of them.

    *devices* counts devices of which a part is asked for, and whole ones too unless
    *whole* names those. The part is told per device: *memory* in steps of *memory_step*
    MiB or *memory_percentage* in percent, and *cores*, of which a whole device has
    *cores_per_device*. *beside_whole* keeps others off a device that is asked for whole.
    """

    devices: str
    whole: str = ""
    beside_whole: Mapping[str, str] = attrs.field(factory=dict)
    memory: str = ""
    memory_step: int = 1
    memory_percentage: str = ""
    cores: str = ""
    cores_per_device: int = 100


@attrs.frozen(kw_only=True)
class Manufacturer:
    """One maker of accelerators.

    *invisible* are the variables by which the maker's container toolkit lets a container
    see cards, each with the value that shows it none. It is empty where no toolkit looks
    at a variable: there a container sees what its device plugin mounts, and no more.
    """

    key: str
    resource: str
    runtime_class: str = ""
    partition_kind: str = ""
    invisible: Mapping[str, str] = attrs.field(factory=dict)
    hami: HamiNames | None = None

    @property
    def visibility_resource(self) -> str:
        """What a sidecar asks for to see the cards of its Pod without holding one."""
        return f"device.gpustack.ai/{self.key}.visibility"


# The value that shows nothing is `void` for NVIDIA's and Ascend's toolkits and `none` for
# AMD's, by their manuals. The other toolkits tell no such value; empty means nothing to
# the first two, and is what the rest are given.
_ROWS = (
    Manufacturer(
        key="amd",
        resource="amd.com/gpu",
        runtime_class="amd",
        invisible={"AMD_VISIBLE_DEVICES": "none"},
        hami=HamiNames(
            devices="amd.com/gpu",
            memory="amd.com/gpumem",
            memory_percentage="amd.com/gpumem-percentage",
            cores="amd.com/gpucores",
        ),
    ),
    Manufacturer(
        key="ascend",
        resource="huawei.com/npu",
        runtime_class="ascend",
        invisible={"ASCEND_VISIBLE_DEVICES": "void"},
    ),
    Manufacturer(
        key="cambricon",
        resource="cambricon.com/mlu",
        runtime_class="cambricon",
        invisible={"CAMBRICON_VISIBLE_DEVICES": ""},
        hami=HamiNames(
            devices="cambricon.com/vmlu",
            memory="cambricon.com/mlu.smlu.vmemory",
            memory_step=256,
            cores="cambricon.com/mlu.smlu.vcore",
        ),
    ),
    Manufacturer(
        key="hygon",
        resource="hygon.com/dcu",
        runtime_class="hygon",
        partition_kind="mig",
        invisible={"DCU_VISIBLE_DEVICES": ""},
        hami=HamiNames(
            devices="hygon.com/dcunum",
            memory="hygon.com/dcumem",
            cores="hygon.com/dcucores",
        ),
    ),
    Manufacturer(
        key="iluvatar",
        resource="iluvatar.com/gpu",
        runtime_class="iluvatar",
        # The toolkit's own name, and the one that the open device plugin sets.
        invisible={"IX_VISIBLE_DEVICES": "", "ILUVATAR_COREX_VISIBLE_DEVICES": ""},
    ),
    Manufacturer(
        key="metax",
        resource="metax-tech.com/gpu",
        runtime_class="metax",
        hami=HamiNames(
            devices="metax-tech.com/sgpu",
            whole="metax-tech.com/gpu",
            memory="metax-tech.com/vmemory",
            memory_step=1024,
            cores="metax-tech.com/vcore",
        ),
    ),
    Manufacturer(
        key="mthreads",
        resource="mthreads.com/gpu",
        runtime_class="mthreads",
        invisible={"MTHREADS_VISIBLE_DEVICES": ""},
        hami=HamiNames(
            devices="mthreads.com/vgpu",
            memory="mthreads.com/sgpu-memory",
            memory_step=512,
            cores="mthreads.com/sgpu-core",
            cores_per_device=16,
        ),
    ),
    Manufacturer(
        key="nvidia",
        resource="nvidia.com/gpu",
        runtime_class="nvidia",
        partition_kind="mig",
        invisible={"NVIDIA_VISIBLE_DEVICES": "void"},
        hami=HamiNames(
            devices="nvidia.com/gpu",
            # HAMi's defaults may turn a plain count into a part of each device.
            beside_whole={"nvidia.com/gpumem-percentage": "100", "nvidia.com/gpucores": "100"},
            memory="nvidia.com/gpumem",
            memory_percentage="nvidia.com/gpumem-percentage",
            cores="nvidia.com/gpucores",
        ),
    ),
    Manufacturer(key="thead", resource="alibabacloud.com/ppu", partition_kind="mig"),
)

MANUFACTURERS: Mapping[str, Manufacturer] = {row.key: row for row in _ROWS}
