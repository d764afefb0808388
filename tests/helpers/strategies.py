"""Arbitrary values for tests of pure code, within the bounds that the annotations set."""

from typing import Any

import attrs
from hypothesis import strategies as st

from gpustack_ctrl.api.environment import EnvFromSource, EnvVar, OptionalReference
from gpustack_ctrl.api.instance import InstanceSpec, PullPolicy, SecurityContext
from gpustack_ctrl.api.instance_type import InstanceTypeSpec, Toleration
from gpustack_ctrl.api.ports import InstancePort, PortIdentity, Protocol
from gpustack_ctrl.api.references import LocalReference
from gpustack_ctrl.api.volumes import (
    AdditionalVolume,
    EphemeralVolume,
    HostPath,
    WorkspaceVolume,
)
from tests.helpers.builders import ports
from tests.reconcilers.resource_strategies import consistent_wishes, memories, offers

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

_words = st.sampled_from(("", "a", "b-c", "x"))
_references = st.none() | st.sampled_from((LocalReference(name="one"), LocalReference(name="two")))
_volumes = st.sampled_from(
    (
        None,
        WorkspaceVolume(ephemeral=EphemeralVolume()),
        WorkspaceVolume(ephemeral=EphemeralVolume(capacity="10Gi")),
        WorkspaceVolume(persistent=LocalReference(name="claim")),
    )
)
_users = st.none() | st.builds(
    SecurityContext,
    runAsUser=st.none() | st.integers(0, 2),
    runAsGroup=st.none() | st.integers(0, 2),
    fsGroup=st.none() | st.integers(0, 2),
)
_variables = st.lists(
    st.builds(
        EnvVar,
        name=st.sampled_from(("HOME", "NVIDIA_VISIBLE_DEVICES", "AMD_VISIBLE_DEVICES")),
        value=st.sampled_from(("", "all", "/root")),
    ),
    max_size=2,
    unique_by=lambda held: held.name,
).map(tuple)
_from = st.lists(
    st.builds(EnvFromSource, configMapRef=st.just(OptionalReference(name="settings"))), max_size=1
).map(tuple)
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

specs: st.SearchStrategy[InstanceSpec] = st.builds(
    InstanceSpec,
    type=st.just("small"),
    image=st.sampled_from(("registry.example/work:1", "registry.example/work:2")),
    imagePullPolicy=st.sampled_from(PullPolicy),
    imagePullSecret=_references,
    command=st.lists(_words, max_size=2).map(tuple),
    args=st.lists(_words, max_size=2).map(tuple),
    env=_variables,
    envFrom=_from,
    ports=labelled_ports,
    resources=consistent_wishes,
    volume=_volumes,
    additionalVolumes=_additional,
    sharedMemory=st.none() | memories,
    privileged=st.booleans(),
    securityContext=_users,
    nodeName=st.sampled_from(("", "node-1")),
    displayName=_words,
    description=_words,
    stop=st.booleans(),
    restartedAt=st.sampled_from(("", "once", "twice")),
)
"""What users may ask for, in all combinations that the CRD takes."""

_labels = st.dictionaries(st.sampled_from(("pool", "zone")), _words, max_size=2)
_tolerations = st.lists(
    st.builds(Toleration, key=_words, operator=st.just("Exists")), max_size=1
).map(tuple)


def _furnished(offered: InstanceTypeSpec, rest: dict[str, Any]) -> InstanceTypeSpec:
    return attrs.evolve(offered, **rest)


types: st.SearchStrategy[InstanceTypeSpec] = st.builds(
    _furnished,
    offers,
    st.fixed_dictionaries(
        {
            "os": st.sampled_from(("", "linux")),
            "arch": st.sampled_from(("", "arm64")),
            "nodeSelector": _labels,
            "podAnnotations": _labels,
            "tolerations": _tolerations,
            "runtimeClassName": st.sampled_from(("", "nvidia", "kata")),
            "queueName": _words,
            "priorityClassName": _words,
        }
    ),
)
"""What administrators may offer."""
