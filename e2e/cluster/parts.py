"""The parts of a cluster and how each is started. Every listener is on loopback."""

from pathlib import Path

import attrs

from e2e.cluster.credentials import ADMIN, CONTROLLER_MANAGER, SCHEDULER
from e2e.cluster.layout import LOOPBACK, Layout, Ports
from e2e.cluster.nodes import SIMULATED

KUBE_PARTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
STAGES = tuple(sorted((Path(__file__).parent / "stages").glob("*.yaml")))
ADMISSION = ("NodeRestriction", "PodSecurity", "OwnerReferencesPermissionEnforcement")
# From the range for documentation: an address the API server may announce but nobody reaches.
_ANNOUNCED = "192.0.2.254"


@attrs.frozen(kw_only=True)
class Part:
    """A program that runs as long as the cluster."""

    name: str
    arguments: tuple[str, ...]


def storage(layout: Layout, ports: Ports) -> Part:
    """Return etcd, which forgoes the disk's promise to be durable and is fast."""
    clients = f"http://{LOOPBACK}:{ports.etcd}"
    peers = f"http://{LOOPBACK}:{ports.etcd_peer}"
    return Part(
        name="etcd",
        arguments=(
            f"--data-dir={layout.etcd}",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ),
    )


def api_server(layout: Layout, ports: Ports) -> Part:
    """Return the API server, which signs its own certificate."""
    return Part(
        name="kube-apiserver",
        arguments=(
            f"--etcd-servers=http://{LOOPBACK}:{ports.etcd}",
            f"--bind-address={LOOPBACK}",
            f"--secure-port={ports.api_server}",
            f"--advertise-address={_ANNOUNCED}",
            "--endpoint-reconciler-type=none",
            f"--cert-dir={layout.pki}",
            f"--token-auth-file={layout.tokens}",
            f"--service-account-key-file={layout.signing_key}",
            f"--service-account-signing-key-file={layout.signing_key}",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--authorization-mode=Node,RBAC",
            f"--enable-admission-plugins={','.join(ADMISSION)}",
            "--allow-privileged=true",
            "--profiling=false",
        ),
    )


def controllers(layout: Layout) -> tuple[Part, ...]:
    """Return what needs a running API server: controllers, scheduler and simulated kubelets."""
    manager = Part(
        name="kube-controller-manager",
        arguments=(
            f"--kubeconfig={layout.users / CONTROLLER_MANAGER}",
            f"--service-account-private-key-file={layout.signing_key}",
            f"--root-ca-file={layout.certificate}",
            "--use-service-account-credentials",
            "--leader-elect=false",
            f"--bind-address={LOOPBACK}",
            "--secure-port=0",
            # With the default of 20 a second, default ServiceAccounts come seconds late.
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
        ),
    )
    scheduler = Part(
        name="kube-scheduler",
        arguments=(
            f"--kubeconfig={layout.users / SCHEDULER}",
            "--leader-elect=false",
            f"--bind-address={LOOPBACK}",
            "--secure-port=0",
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
        ),
    )
    return manager, scheduler, kubelets(layout)


def kubelets(layout: Layout) -> Part:
    """Return kwok, which plays the kubelet of every node labelled `SIMULATED`."""
    return Part(
        name="kwok",
        arguments=(
            f"--kubeconfig={layout.users / ADMIN}",
            *(f"--config={path}" for path in STAGES),
            f"--manage-nodes-with-label-selector={SIMULATED}=true",
            "--node-lease-duration-seconds=40",
            "--cidr=10.244.0.0/16",
        ),
    )
