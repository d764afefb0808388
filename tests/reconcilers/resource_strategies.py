"""Arbitrary types and arbitrary wishes, contradictory ones included."""

from hypothesis import settings
from hypothesis import strategies as st

from gpustack_ctrl.api.instance_type import (
    Dialect,
    InstanceTypeSpec,
    PartitionProfile,
    UnitResources,
)
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from gpustack_ctrl.api.resources import Family, InstanceResources

unhurried = settings(deadline=None)  # The machine may be busy.

PROFILES = ("1g.10gb", "3g.40gb")

cpus = st.sampled_from(("1", "2", "1500m", "250m", "12", 3))
memories = st.sampled_from(("1Gi", "1536Mi", "500Mi", "16G", "1000001", "192Gi", "1"))
counts = st.one_of(st.integers(0, 16).map(str), st.sampled_from((1, "1000m", "500m", "-1", "x")))
mebibytes = st.integers(1, 200_000)
percentages = st.integers(1, 100)
profiles = st.builds(
    PartitionProfile, name=st.sampled_from(PROFILES), memoryMiB=st.none() | mebibytes
)
units = st.builds(UnitResources, cpu=st.none() | cpus, ram=st.none() | memories)

offers = st.builds(
    InstanceTypeSpec,
    manufacturer=st.sampled_from(("", "unknown", "nvidia", "thead", *MANUFACTURERS)),
    dialect=st.sampled_from(Dialect),
    resourceName=st.sampled_from(("", "", "", "acme.example/card", "nvidia.com/gpu.shared", "bad")),
    families=st.just(()) | st.lists(st.sampled_from(Family), unique=True).map(tuple),
    acceleratorMemoryMiB=st.none() | mebibytes,
    partitionProfiles=st.lists(profiles, max_size=3, unique_by=lambda held: held.name).map(tuple),
    unitResources=units,
    localStorage=st.none() | memories,
)

wishes = st.builds(
    InstanceResources,
    cpu=st.none() | cpus,
    ram=st.none() | memories,
    localStorage=st.none() | memories,
    accelerator=st.none() | counts,
    acceleratorShared=st.booleans(),
    acceleratorSlicedMemoryPercentage=st.none() | percentages,
    acceleratorSlicedMemoryMiB=st.none() | mebibytes,
    acceleratorSlicedCoresPercentage=st.none() | percentages,
    acceleratorPartitionedProfile=st.none() | st.sampled_from(PROFILES),
)

consistent_wishes = st.one_of(
    st.builds(InstanceResources, accelerator=st.none() | st.integers(0, 16).map(str)),
    st.builds(
        InstanceResources,
        acceleratorShared=st.just(True),
        accelerator=st.none() | st.integers(1, 16).map(str),
    ),
    st.builds(
        InstanceResources,
        acceleratorSlicedMemoryPercentage=percentages,
        acceleratorSlicedCoresPercentage=st.none() | percentages,
    ),
    st.builds(
        InstanceResources,
        acceleratorSlicedMemoryMiB=mebibytes,
        acceleratorSlicedCoresPercentage=st.none() | percentages,
    ),
    st.builds(InstanceResources, acceleratorPartitionedProfile=st.sampled_from(PROFILES)),
)
