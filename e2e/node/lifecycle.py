"""The life of a real node: up, down, rebooted, and up for the length of a block."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e.cluster import credentials
from e2e.cluster.errors import ClusterError
from e2e.cluster.parts import Part
from e2e.cluster.waiting import until
from e2e.node import certificates, configuration, daemons, leftovers, machine, network
from e2e.node.box import Box
from e2e.node.images import images
from e2e.node.layout import NODE, NodeLayout
from e2e.node.network import entered
from e2e.node.programs import build
from e2e.node.real_node import RealNode
from e2e.node.requirements import missing

_CHECKOUT = Path(__file__).parents[2]
_PAUSE = "pause"
_RBAC = Path(__file__).with_name("policy-engine.yaml")


def up(directory: Path, *, owned: bool = False) -> RealNode:
    """Start a node that lives until `down`, in *directory*, which is new or empty.

    An *owned* node ends with the calling process at the latest; what the machine then still
    holds of it, `down` removes. The outside of the node is `RealNode.outside`.

    Raises ClusterError when it cannot be started; then nothing of it is left.
    """
    complaint = missing()
    if complaint:
        raise ClusterError(complaint)
    layout = NodeLayout(directory=directory.resolve())
    programs, archive = build(), images()
    _claim(layout)
    node = RealNode(directory=layout.directory)
    try:
        _prepare(layout)
        programs.link(layout.bin)
        _compile_init(layout)
        start(node, archive, owned=owned)
    except BaseException:
        _remove(layout, keep_log=True)
        raise
    return node


@contextmanager
def running(directory: Path | None = None) -> Iterator[RealNode]:
    """Have a node for the length of the block. Without a *directory* it has a temporary one."""
    place = directory or Path(tempfile.mkdtemp(prefix="gpustack-node-"))
    warden = _warden(place)
    try:
        node = up(place, owned=True)
        try:
            yield node
        finally:
            down(place)
    finally:
        warden.kill()
        warden.wait()


def _warden(directory: Path) -> "subprocess.Popen[bytes]":
    """Start who cleans up after us, should we be killed."""
    return subprocess.Popen(
        (sys.executable, "-m", "e2e.node.warden", str(directory), str(os.getpid())),
        cwd=_CHECKOUT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def down(directory: Path) -> None:
    """End the node of *directory* and remove all that the machine holds of it.

    Raises ClusterError when there is none, or when something is left.
    """
    if not holds_node(directory):
        raise ClusterError(f"{directory} holds no node")
    _remove(NodeLayout(directory=directory.resolve()), keep_log=False)


def holds_node(directory: Path) -> bool:
    """Whether a node was started in *directory* and not taken down."""
    return NodeLayout(directory=directory.resolve()).processes.exists()


def reboot(node: RealNode) -> None:
    """Take the node its power and give it back: processes and containers are gone, files stay.

    Control plane and node share the machine, so both come back.
    """
    owned = node.box.is_owned()
    node.box.close()
    until(lambda: not machine.busy(node.layout), "processes of the node do not end")
    start(node, images(), owned=owned)


def start(node: RealNode, archive: Path, *, owned: bool) -> None:
    """Start the daemons over whatever the node's files hold, and return when it is Ready."""
    layout, box = node.layout, node.box
    box.open(layout.bin / _PAUSE, owned=owned)
    launch(box, daemons.runtime(layout))
    launch(box, daemons.storage(layout))
    launch(box, daemons.api_server(layout))
    node.import_images(archive)
    with entered(layout.client_network):
        _start_kubernetes(node)


def launch(box: Box, part: Part) -> None:
    """Start *part* in the node: a program of ours, or else one of the machine's."""
    ours = box.layout.bin / part.name
    box.start(part.name, str(ours) if ours.exists() else part.name, *part.arguments)


def _start_kubernetes(node: RealNode) -> None:
    layout, box = node.layout, node.box
    until(node.answers, _why(node, "the API server is not ready", "kube-apiserver"), seconds=120)
    for part in (*daemons.controllers(layout), daemons.kubelet(layout), daemons.kube_proxy(layout)):
        launch(box, part)
    launch(box, daemons.device_plugin(layout))
    node.kubectl("apply", "-f", str(_RBAC))
    until(node.is_registered, _why(node, "the node is not registered", "kubelet"))
    launch(box, daemons.policy_engine(layout))
    node.wait_for_node(NODE)
    node.wait_for_service_account("default")
    until(node.offers_devices, _why(node, "the simulated devices are not there", "deviceplugin"))


def _why(node: RealNode, complaint: str, part: str) -> str:
    return f"{complaint} (see {node.layout.log_of(part)})"


def _claim(layout: NodeLayout) -> None:
    layout.directory.mkdir(parents=True, exist_ok=True)
    if any(layout.directory.iterdir()):
        raise ClusterError(
            f"{layout.directory} is not empty: name another directory, or end the node in it with"
            f" `python -m e2e.node down --dir {layout.directory}`"
        )


def _prepare(layout: NodeLayout) -> None:
    for folder in (layout.bin, layout.cache, layout.log, layout.processes, layout.devices):
        folder.mkdir()
    layout.pki.mkdir(mode=0o700)
    layout.write_ports(daemons.PORTS)
    machine.save_values(layout)
    machine.make_cgroups(layout)
    network.lay(layout)
    certificates.write_certificates(layout)
    users = (*credentials.new_users(), *daemons.users())
    credentials.write_tokens(layout, users)
    credentials.write_kubeconfigs(layout, users)
    configuration.write_configuration(layout)


def _compile_init(layout: NodeLayout) -> None:
    """Make the node's first process and the key that signs ServiceAccount tokens."""
    source = Path(__file__).parent / "images" / f"{_PAUSE}.c"
    gcc = ("gcc", "-O2", "-static", "-s", "-o", str(layout.bin / _PAUSE), str(source))
    subprocess.run(gcc, check=True)
    made = subprocess.run([layout.bin / "keygen"], capture_output=True, check=True)
    layout.signing_key.touch(mode=0o600)
    layout.signing_key.write_bytes(made.stdout)


def _remove(layout: NodeLayout, *, keep_log: bool) -> None:
    Box(layout=layout).close()
    network.remove(layout)
    machine.remove_cgroups(layout)
    machine.restore_values(layout)
    left = leftovers.left(layout)
    if left:
        raise ClusterError(f"left over of the node: {'; '.join(left)}")
    leftovers.remove_files(layout, keep_log=keep_log)
