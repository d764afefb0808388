"""The daemons of a node, in the order they start, and how each is started."""

from collections.abc import Mapping
from pathlib import Path

import attrs

from e2e.cluster import parts
from e2e.cluster.credentials import User
from e2e.cluster.layout import Ports
from e2e.cluster.parts import Part
from e2e.node.configuration import KUBE_PROXY
from e2e.node.layout import (
    API_PORT,
    ETCD_PEER_PORT,
    ETCD_PORT,
    NODE,
    NODE_ADDRESS,
    POD_RANGE,
    SERVICE_RANGE,
    NodeLayout,
)

KUBELET = f"system:node:{NODE}"
KUBE_ROUTER = "system:kube-router"
PORTS = Ports(etcd=ETCD_PORT, etcd_peer=ETCD_PEER_PORT, api_server=API_PORT)
# What each simulated resource offers, and the variable that names a container's devices:
# two manufacturers, and every family of each.
_CARDS = 4
_MAKERS: Mapping[str, tuple[str, str, str]] = {
    "nvidia": ("nvidia.com/gpu", "NVIDIA_VISIBLE_DEVICES", "mig-3g.40gb"),
    "amd": ("amd.com/gpu", "AMD_VISIBLE_DEVICES", "cpx-nps4"),
}


def users() -> tuple[User, ...]:
    """Return the users that only a real node has."""
    node = User(name=KUBELET, group="system:nodes")
    return node, User(name=KUBE_PROXY), User(name=KUBE_ROUTER)


def runtime(layout: NodeLayout) -> Part:
    """Return the container runtime."""
    return Part(name="containerd", arguments=(f"--config={layout.configuration}/containerd.toml",))


def storage(layout: NodeLayout) -> Part:
    """Return etcd."""
    return parts.storage(layout, PORTS)


def api_server(layout: NodeLayout) -> Part:
    """Return the API server, which node and client both reach."""
    pki = layout.pki
    return Part(
        name="kube-apiserver",
        arguments=(
            f"--etcd-servers=http://127.0.0.1:{ETCD_PORT}",
            f"--bind-address={NODE_ADDRESS}",
            f"--advertise-address={NODE_ADDRESS}",
            f"--secure-port={API_PORT}",
            f"--tls-cert-file={pki}/apiserver.crt",
            f"--tls-private-key-file={pki}/apiserver.key",
            f"--client-ca-file={pki}/ca.crt",
            f"--token-auth-file={layout.tokens}",
            f"--kubelet-client-certificate={pki}/kubelet-client.crt",
            f"--kubelet-client-key={pki}/kubelet-client.key",
            f"--kubelet-certificate-authority={pki}/ca.crt",
            "--kubelet-preferred-address-types=InternalIP",
            f"--service-account-key-file={layout.signing_key}",
            f"--service-account-signing-key-file={layout.signing_key}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-cluster-ip-range={SERVICE_RANGE}",
            "--authorization-mode=Node,RBAC",
            f"--enable-admission-plugins={','.join(parts.ADMISSION)}",
            "--allow-privileged=true",
            "--profiling=false",
        ),
    )


def controllers(layout: NodeLayout) -> tuple[Part, ...]:
    """Return the controllers and the scheduler."""
    manager, scheduler, _ = parts.controllers(layout)
    addresses = (
        "--allocate-node-cidrs",
        f"--cluster-cidr={POD_RANGE}",
        "--node-cidr-mask-size=24",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
    )
    return attrs.evolve(manager, arguments=(*manager.arguments, *addresses)), scheduler


def kubelet(layout: NodeLayout) -> Part:
    """Return the kubelet."""
    return Part(
        name="kubelet",
        arguments=(
            f"--config={layout.configuration}/kubelet.yaml",
            f"--kubeconfig={layout.kubeconfig_of(KUBELET)}",
            f"--hostname-override={NODE}",
            f"--node-ip={NODE_ADDRESS}",
        ),
    )


def kube_proxy(layout: NodeLayout) -> Part:
    """Return kube-proxy, which makes node ports."""
    return Part(name="kube-proxy", arguments=(f"--config={layout.configuration}/kube-proxy.yaml",))


def device_plugin(layout: NodeLayout) -> Part:
    """Return the plugin that pretends to own accelerators, each with a device node."""
    resources = [
        f"{resource}={count}={variable}={_device()}"
        for manufacturer in _MAKERS
        for resource, count, variable in offers(manufacturer)
    ]
    return Part(name="deviceplugin", arguments=(f"-state={layout.devices}", *resources))


def _device() -> str:
    """Return a device that a container cannot open unless it is given it, where there is one.

    /dev/net/tun would not do: older runc lets everybody open it.
    """
    rare = ("/dev/fuse", "/dev/kvm")
    return next((path for path in rare if Path(path).exists()), "/dev/null")


def offers(manufacturer: str) -> tuple[tuple[str, int, str], ...]:
    """Return each resource of *manufacturer*, how many of it, and its variable."""
    base, visible, profile = _MAKERS[manufacturer]
    return (
        (base, _CARDS, visible),
        (f"{base}.shared", 10 * _CARDS, visible),
        (f"{base}.sliced", 10 * _CARDS, visible),
        (f"{base}.sliced.memory-percentage", 100 * _CARDS, "SIMULATED_MEMORY"),
        (f"{base}.sliced.cores-percentage", 100 * _CARDS, "SIMULATED_CORES"),
        (f"{base}.partitioned", 7 * _CARDS, visible),
        (f"{base}.partitioned.{profile}", 2 * _CARDS, "SIMULATED_PROFILE"),
        (f"device.gpustack.ai/{manufacturer}.visibility", 10 * _CARDS, visible),
        # HAMi's names. Its own scheduler would take them for what they are: parts of a card.
        (f"{base}mem-percentage", 100 * _CARDS, "SIMULATED_MEMORY"),
        (f"{base}cores", 100 * _CARDS, "SIMULATED_CORES"),
    )


def policy_engine(layout: NodeLayout) -> Part:
    """Return kube-router as a packet filter and nothing else. It ends where its Node is not."""
    return Part(
        name="kube-router",
        arguments=(
            f"--kubeconfig={layout.kubeconfig_of(KUBE_ROUTER)}",
            "--run-firewall=true",
            "--run-router=false",
            "--run-service-proxy=false",
            "--enable-cni=false",
            # In this version rules for IPv6 name the wrong sets.
            "--enable-ipv6=false",
            f"--hostname-override={NODE}",
            f"--service-cluster-ip-range={SERVICE_RANGE}",
            "--health-port=0",
            "--metrics-port=0",
            "--iptables-sync-period=30s",
        ),
    )
