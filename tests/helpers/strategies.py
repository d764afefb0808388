"""Arbitrary values for tests of pure code, within the bounds that the annotations set."""

import attrs
from hypothesis import strategies as st

from gpustack_ctrl.api.environment import EnvFromSource, EnvVar, OptionalReference
from gpustack_ctrl.api.instance import InstanceSpec, PullPolicy, SecurityContext
from gpustack_ctrl.api.instance_type import Dialect, InstanceTypeSpec, Toleration
from gpustack_ctrl.api.ports import InstancePort, PortIdentity, Protocol
from gpustack_ctrl.api.references import LocalReference
from gpustack_ctrl.api.resources import InstanceResources
from gpustack_ctrl.api.volumes import (
    AdditionalVolume,
    EphemeralVolume,
    HostPath,
    WorkspaceVolume,
)
from tests.helpers.builders import ports
from tests.reconcilers.accelerator_types import A100, PARTITION, SHARED, SLICE, WHOLE
from tests.reconcilers.resource_strategies import memories

Identities = tuple[PortIdentity, ...]

identities: st.SearchStrategy[PortIdentity] = st.tuples(
    st.sampled_from((22, 53, 80, 8080)), st.sampled_from((Protocol.TCP, Protocol.UDP))
)
port_lists: st.SearchStrategy[Identities] = st.lists(identities, max_size=4, unique=True).map(tuple)
labelled_ports: st.SearchStrategy[tuple[InstancePort, ...]] = port_lists.flatmap(
    lambda held: st.lists(st.sampled_from(("", "web", "ssh")), min_size=len(held)).map(
        lambda labels: tuple(
            attrs.evolve(port, name=label)
            for port, label in zip(ports(*held), labels, strict=False)
        )
    )
)

_words = st.sampled_from(("", "a", "b-c"))
_commands = st.sampled_from(((), ("run",), ("run", "")))
_references = st.sampled_from((None, LocalReference(name="one"), LocalReference(name="two")))
_volumes = st.sampled_from(
    (
        None,
        WorkspaceVolume(ephemeral=EphemeralVolume()),
        WorkspaceVolume(ephemeral=EphemeralVolume(capacity="10Gi")),
        WorkspaceVolume(persistent=LocalReference(name="claim")),
    )
)
_users = st.sampled_from(
    (
        None,
        SecurityContext(),
        SecurityContext(runAsUser=0),
        SecurityContext(runAsUser=1000, runAsGroup=1000),
        SecurityContext(fsGroup=0),
    )
)
_variables = st.sampled_from(
    (
        (),
        (EnvVar(name="HOME", value="/root"),),
        (EnvVar(name="NVIDIA_VISIBLE_DEVICES", value="all"),),
        (EnvVar(name="AMD_VISIBLE_DEVICES", value="all"), EnvVar(name="DCU_VISIBLE_DEVICES")),
    )
)
_from = st.sampled_from(((), (EnvFromSource(configMapRef=OptionalReference(name="settings")),)))
_additional = st.lists(
    st.sampled_from(
        (
            AdditionalVolume(mountPath="/claim", persistent=LocalReference(name="claim")),
            AdditionalVolume(mountPath="/config", configMap=LocalReference(name="settings")),
            AdditionalVolume(mountPath="/secret", secret=LocalReference(name="token")),
            AdditionalVolume(mountPath="/host", hostPath=HostPath(path="/opt")),
        )
    ),
    max_size=2,
    unique_by=lambda held: held.mountPath,
).map(tuple)


def specs(wishes: st.SearchStrategy[InstanceResources]) -> st.SearchStrategy[InstanceSpec]:
    """What users may ask for beside *wishes*, in all combinations that the CRD takes."""
    return st.builds(
        InstanceSpec,
        type=st.just("small"),
        image=st.sampled_from(("registry.example/work:1", "registry.example/work:2")),
        imagePullPolicy=st.sampled_from(PullPolicy),
        imagePullSecret=_references,
        command=_commands,
        args=_commands,
        env=_variables,
        envFrom=_from,
        ports=labelled_ports,
        resources=wishes,
        volume=_volumes,
        additionalVolumes=_additional,
        sharedMemory=st.none() | memories,
        privileged=st.booleans(),
        securityContext=_users,
        sshPublicKey=_references,
        nodeName=st.sampled_from(("", "node-1")),
        displayName=_words,
        description=_words,
        stop=st.booleans(),
        restartedAt=st.sampled_from(("", "once", "twice")),
    )


_FURNISHED = attrs.evolve(
    A100,
    os="linux",
    arch="amd64",
    nodeSelector={"pool": "gpu"},
    podAnnotations={"team": "x"},
    tolerations=(Toleration(key="gpu", operator="Exists"),),
    runtimeClassName="kata",
    queueName="research",
    priorityClassName="interactive",
    localStorage="100Gi",
)

_wishes = st.sampled_from(
    (
        InstanceResources(),
        InstanceResources(accelerator="0"),
        InstanceResources(accelerator="4", cpu="3", ram="8Gi"),
        WHOLE,
        SHARED,
        SLICE,
        PARTITION,
    )
)
_cases = specs(_wishes), specs(_wishes)
# What device plugins of every dialect give out.
_plain = st.sampled_from(
    (InstanceResources(), InstanceResources(accelerator="0"), InstanceResources(accelerator="2"))
)
_plain_cases = specs(_plain), specs(_plain)
_MAKERS_OWN = tuple(
    attrs.evolve(held, dialect=dialect)
    for held in (A100, _FURNISHED)
    for dialect in (Dialect.NVIDIA, Dialect.HAMI)
)
_general = specs(st.just(InstanceResources(cpu="2"))), specs(st.just(InstanceResources()))

served: st.SearchStrategy[tuple[InstanceTypeSpec, InstanceSpec, InstanceSpec]] = st.one_of(
    st.tuples(st.sampled_from((A100, _FURNISHED)), *_cases),
    st.tuples(st.sampled_from(_MAKERS_OWN), *_plain_cases),
    st.tuples(st.just(InstanceTypeSpec()), *_general),
)
"""A type, and two Instances that it can serve."""
