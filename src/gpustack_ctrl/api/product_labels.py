"""The labels by which a node tells what cards it has: one row for each maker that tells.

They are written by the makers' own discovery: NVIDIA's GPU feature discovery, AMD's node
labeller, Ascend's and MetaX's device plugins. The other makers have none that is known.
"""

import re
from collections.abc import Mapping

import attrs

MIG_STRATEGY = "nvidia.com/mig.strategy"
_MEMORY = re.compile(r"([0-9]{1,9})(?:([GT])i?B?)?")
_MIB: Mapping[str | None, int] = {None: 1, "G": 1 << 10, "T": 1 << 20}


@attrs.frozen(kw_only=True)
class ProductLabels:
    """The keys of one maker: the first of *product* that a node has counts."""

    product: tuple[str, ...]
    memory: str = ""


PRODUCT_LABELS: Mapping[str, ProductLabels] = {
    "amd": ProductLabels(
        product=("amd.com/gpu.product-name", "amd.com/gpu.device-id"), memory="amd.com/gpu.vram"
    ),
    "ascend": ProductLabels(product=("node.kubernetes.io/npu.chip.name",)),
    "metax": ProductLabels(
        product=("metax-tech.com/gpu.product",), memory="metax-tech.com/gpu.memory"
    ),
    "nvidia": ProductLabels(product=("nvidia.com/gpu.product",), memory="nvidia.com/gpu.memory"),
}


def memory_mib(text: str) -> int | None:
    """The MiB of *text*: a number of them, or one of GB or TB such as `64GB` or `192G`.

    None where it is neither: what a label says is not ours to judge.
    """
    told = _MEMORY.fullmatch(text)
    return (int(told[1]) * _MIB[told[2]] or None) if told else None
