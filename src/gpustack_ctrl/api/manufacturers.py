"""Who makes accelerators, and what a cluster calls theirs: nine rows of data.

Base resource names and runtime classes are those that the device plugins register.
"""

from collections.abc import Mapping

import attrs


@attrs.frozen(kw_only=True)
class Manufacturer:
    """One maker of accelerators."""

    key: str
    resource: str
    runtime_class: str
    visibility_variable: str
    partition_kind: str = ""

    @property
    def visibility_resource(self) -> str:
        """What a sidecar asks for to see the cards of its Pod without holding one."""
        return f"device.gpustack.ai/{self.key}.visibility"


_ROWS = (
    Manufacturer(
        key="amd", resource="amd.com/gpu", runtime_class="amd",
        visibility_variable="AMD_VISIBLE_DEVICES",
    ),
    Manufacturer(
        key="ascend", resource="huawei.com/npu", runtime_class="ascend",
        visibility_variable="ASCEND_VISIBLE_DEVICES",
    ),
    Manufacturer(
        key="cambricon", resource="cambricon.com/mlu", runtime_class="cambricon",
        visibility_variable="CAMBRICON_VISIBLE_DEVICES",
    ),
    Manufacturer(
        key="hygon", resource="hygon.com/dcu", runtime_class="hygon",
        visibility_variable="HYGON_VISIBLE_DEVICES", partition_kind="mig",
    ),
    Manufacturer(
        key="iluvatar", resource="iluvatar.com/gpu", runtime_class="iluvatar",
        visibility_variable="ILUVATAR_COREX_VISIBLE_DEVICES",
    ),
    Manufacturer(
        key="metax", resource="metax-tech.com/gpu", runtime_class="metax",
        visibility_variable="METAX_VISIBLE_DEVICES",
    ),
    Manufacturer(
        key="mthreads", resource="mthreads.com/gpu", runtime_class="mthreads",
        visibility_variable="MTHREADS_VISIBLE_DEVICES",
    ),
    Manufacturer(
        key="nvidia", resource="nvidia.com/gpu", runtime_class="nvidia",
        visibility_variable="NVIDIA_VISIBLE_DEVICES", partition_kind="mig",
    ),
    Manufacturer(
        key="thead", resource="alibabacloud.com/ppu", runtime_class="",
        visibility_variable="PPU_VISIBLE_DEVICES", partition_kind="mig",
    ),
)  # fmt: skip

MANUFACTURERS: Mapping[str, Manufacturer] = {row.key: row for row in _ROWS}
