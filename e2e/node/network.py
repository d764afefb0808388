"""Network namespaces and the cables between them: the node, a client outside, another node."""

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e.node.layout import (
    CLIENT_ADDRESS,
    NODE_ADDRESS,
    OTHER_NODE_ADDRESS,
    OTHER_NODE_POD_RANGE,
    OTHER_NODE_TUNNEL,
    TO_OTHER_NODE_ADDRESS,
    NodeLayout,
    network_path,
)

_LIBC = ctypes.CDLL(None, use_errno=True)
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET


def ip(*arguments: str) -> None:
    """Run `ip` with *arguments*. Raises CalledProcessError when it fails."""
    subprocess.run(("ip", *arguments), check=True)


def inside(network: str) -> tuple[str, ...]:
    """Return what to put before a command so that it runs in *network*.

    `ip netns exec` would not do: it mounts a /sys without cgroups.
    """
    return ("nsenter", f"--net={network_path(network)}")


def lay(layout: NodeLayout) -> None:
    """Make the namespaces and connect them; the client is the node's way out."""
    node, client, other = layout.node_network, layout.client_network, layout.other_network
    for network in layout.networks:
        ip("netns", "add", network)
        ip("-n", network, "link", "set", "lo", "up")
    _connect((node, "eth0", NODE_ADDRESS), (client, "eth0", CLIENT_ADDRESS))
    _connect((node, "eth1", TO_OTHER_NODE_ADDRESS), (other, "eth0", OTHER_NODE_ADDRESS))
    ip("-n", node, "route", "add", "default", "via", CLIENT_ADDRESS)
    ip("-n", node, "route", "add", OTHER_NODE_POD_RANGE, "via", OTHER_NODE_ADDRESS)
    ip("-n", other, "route", "add", "default", "via", TO_OTHER_NODE_ADDRESS)
    ip("-n", other, "address", "add", f"{OTHER_NODE_TUNNEL}/32", "dev", "lo")
    forward = ("sysctl", "-qw", "net.ipv4.ip_forward=1")
    subprocess.run((*inside(node), *forward), check=True)


def _connect(*ends: tuple[str, str, str]) -> None:
    """Lay a cable between two ends, each a namespace, a name there and an address."""
    (one, name, _), (two, peer, _) = ends
    cable = ("link", "add", name, "type", "veth", "peer", "name", peer, "netns", two)
    ip("-n", one, *cable)
    for network, device, address in ends:
        ip("-n", network, "address", "add", f"{address}/24", "dev", device)
        ip("-n", network, "link", "set", device, "up")


def remove(layout: NodeLayout) -> None:
    """Delete the namespaces; links and filter rules go with them."""
    for network in layout.networks:
        if network_path(network).exists():
            ip("netns", "delete", network)


def users(network: str) -> list[int]:
    """Return the processes that are in *network*, which may not exist."""
    path = network_path(network)
    if not path.exists():
        return []
    inode = path.stat().st_ino
    return [int(process.name) for process in Path("/proc").glob("[0-9]*") if _in(process, inode)]


def _in(process: Path, inode: int) -> bool:
    try:
        return process.joinpath("ns/net").stat().st_ino == inode
    except OSError:
        return False  # It ended meanwhile.


@contextmanager
def entered(network: str) -> Iterator[None]:
    """Let this thread, and every process it starts, be in *network* for the block."""
    with _handle("/proc/thread-self/ns/net") as before:
        with _handle(str(network_path(network))) as there:
            _enter(there)
        try:
            yield
        finally:
            _enter(before)


@contextmanager
def _handle(path: str) -> Iterator[int]:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield handle
    finally:
        os.close(handle)


def _enter(handle: int) -> None:
    if _LIBC.setns(handle, _NEW_NETWORK):
        number = ctypes.get_errno()
        raise OSError(number, f"cannot enter a network namespace: {os.strerror(number)}")
