"""Types and wishes that the tests of accelerators share."""

import attrs

from gpustack_ctrl.api.instance_type import Dialect, InstanceTypeSpec, PartitionProfile
from gpustack_ctrl.api.resources import Family, InstanceResources

A100 = InstanceTypeSpec(
    manufacturer="nvidia",
    acceleratorMemoryMiB=81920,
    partitionProfiles=(
        PartitionProfile(name="1g.10gb", memoryMiB=9728),
        PartitionProfile(name="3g.40gb", memoryMiB=40192),
    ),
)
STOCK = attrs.evolve(A100, dialect=Dialect.NVIDIA)
HAMI = attrs.evolve(A100, dialect=Dialect.HAMI)
GENERAL = InstanceTypeSpec()

WHOLE = InstanceResources(accelerator="2")
SHARED = InstanceResources(acceleratorShared=True)
SLICE = InstanceResources(acceleratorSlicedMemoryPercentage=25)
PARTITION = InstanceResources(acceleratorPartitionedProfile="3g.40gb")

SINGLE = attrs.evolve(
    STOCK,
    resourceName="nvidia.com/gpu",
    families=(Family.PARTITIONED,),
    partitionProfiles=(PartitionProfile(name="3g.40gb"),),
)
