"""What the daemons of a node are told in files, and why it is not the default."""

import json
from collections.abc import Mapping
from typing import Any

from e2e.node.layout import (
    DNS_ADDRESS,
    NODE,
    NODE_ADDRESS,
    NODE_POD_RANGE,
    POD_RANGE,
    NodeLayout,
)
from e2e.node.requirements import CNI

KUBE_PROXY = "system:kube-proxy"
PAUSE = "localhost/pause:1"
_NO_LIMIT = "0s"
_NO_CACHE = "1ms"


def write_configuration(layout: NodeLayout) -> None:
    """Write the files of container runtime, network plugin, kubelet and kube-proxy."""
    folder = layout.configuration
    folder.joinpath("cni").mkdir(parents=True, exist_ok=True)
    folder.joinpath("containerd.toml").write_text(_containerd(layout))
    folder.joinpath("resolv.conf").write_text(f"nameserver {DNS_ADDRESS}\n")
    write_kubelet(layout)
    files = {"cni/10-pods.conflist": _pod_network(), "kube-proxy.yaml": _kube_proxy(layout)}
    for name, content in files.items():  # JSON is YAML, too.
        folder.joinpath(name).write_text(json.dumps(content, indent=1))


def write_kubelet(layout: NodeLayout, *, memory_to_keep: str = "0%") -> None:
    """Write the file of the kubelet, which evicts Pods when less than *memory_to_keep* is free."""
    told = _kubelet(layout, memory_to_keep)
    layout.configuration.joinpath("kubelet.yaml").write_text(json.dumps(told, indent=1))


def _containerd(layout: NodeLayout) -> str:
    runtime = 'plugins."io.containerd.grpc.v1.cri"'
    # Scores of the OOM killer go down only with CAP_SYS_RESOURCE, which a container may lack.
    return f"""\
version = 2
[{runtime}]
  sandbox_image = "{PAUSE}"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  disable_apparmor = true
  tolerate_missing_hugetlb_controller = true
  [{runtime}.cni]
    bin_dir = "{CNI}"
    conf_dir = "{layout.configuration}/cni"
  [{runtime}.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [{runtime}.containerd.runtimes.runc.options]
      SystemdCgroup = false
"""


def _pod_network() -> Mapping[str, Any]:
    """A cable from the node to each Pod: with a bridge, neighbours would pass by the filter."""
    addresses = {
        "type": "host-local",
        "ranges": [[{"subnet": NODE_POD_RANGE}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    return {
        "cniVersion": "1.0.0",
        "name": "pods",
        "plugins": [
            {"type": "ptp", "ipMasq": True, "ipam": addresses},
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }


def _kubelet(layout: NodeLayout, memory_to_keep: str) -> Mapping[str, Any]:
    # The disk is somebody else's: its fill level is no reason to evict.
    signals = ("nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree")
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": NODE_ADDRESS,
        "readOnlyPort": 0,
        "tlsCertFile": f"{layout.pki}/kubelet.crt",
        "tlsPrivateKeyFile": f"{layout.pki}/kubelet.key",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": f"{layout.pki}/ca.crt"},
        },
        # What is granted or revoked holds at once; by default, revoking takes five minutes.
        "authorization": {
            "mode": "Webhook",
            "webhook": {
                "cacheAuthorizedTTL": _NO_CACHE,
                "cacheUnauthorizedTTL": _NO_CACHE,
            },
        },
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "failCgroupV1": False,
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{layout.name}",
        "failSwapOn": False,
        "protectKernelDefaults": False,
        "oomScoreAdj": 0,
        "maxOpenFiles": 20000,
        "maxPods": 60,
        "clusterDomain": "cluster.local",
        "clusterDNS": [DNS_ADDRESS],
        "resolvConf": f"{layout.configuration}/resolv.conf",
        "nodeStatusUpdateFrequency": "4s",
        # How soon a changed ConfigMap reaches the containers.
        "syncFrequency": "10s",
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "evictionHard": {"memory.available": memory_to_keep, **dict.fromkeys(signals, "0%")},
    }


def _kube_proxy(layout: NodeLayout) -> Mapping[str, Any]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "iptables",
        "clientConnection": {"kubeconfig": str(layout.kubeconfig_of(KUBE_PROXY))},
        "clusterCIDR": POD_RANGE,
        "hostnameOverride": NODE,
        "healthzBindAddress": "127.0.0.1:10256",
        "metricsBindAddress": "127.0.0.1:10249",
        "oomScoreAdj": 0,
        # With the default of a second, a Ready Pod answers on its node port that much later.
        "iptables": {"localhostNodePorts": False, "minSyncPeriod": "100ms"},
        # Limits of connection tracking cannot rise in a network namespace.
        "conntrack": {
            "maxPerCore": 0,
            "min": 0,
            "tcpEstablishedTimeout": _NO_LIMIT,
            "tcpCloseWaitTimeout": _NO_LIMIT,
        },
    }
