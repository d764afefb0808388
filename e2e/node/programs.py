"""The programs of a real node, built once from two Go modules of ours."""

from pathlib import Path

import attrs

from e2e.cluster.programs import KUBE, MODULE, Module

# Kubelet and kube-proxy, and what tests need of a kubelet.
NODE = Module(
    name="node",
    directory=MODULE,
    packages={
        "node": "./node",
        "deviceplugin": "./deviceplugin",
        "podresources": "./podresources",
    },
    sources=("*/*.go",),
)
ROUTER = Module(
    name="router",
    directory=Path(__file__).with_name("router"),
    packages={"kube-router": "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router"},
)
CONTROL_PLANE = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubectl",
    "keygen",
)
KUBELETS = ("kubelet", "kube-proxy")
TOOLS = ("deviceplugin", "podresources")


@attrs.frozen(kw_only=True)
class NodePrograms:
    """Where each program of the node lies, by the name it goes by there."""

    paths: dict[str, Path]

    def link(self, folder: Path) -> None:
        """Make a link in *folder* for each program."""
        for name, path in self.paths.items():
            link = folder / name
            link.unlink(missing_ok=True)
            link.symlink_to(path)


def build() -> NodePrograms:
    """Return the programs, built if they are missing. Raises ClusterError when they cannot be."""
    kube = KUBE.build(("kube",))
    node = NODE.build(("node", *TOOLS))
    router = ROUTER.build(("kube-router",))
    return NodePrograms(
        paths={
            **dict.fromkeys(CONTROL_PLANE, kube.path("kube")),
            **dict.fromkeys(KUBELETS, node.path("node")),
            **{name: node.path(name) for name in TOOLS},
            "kube-router": router.path("kube-router"),
        }
    )
