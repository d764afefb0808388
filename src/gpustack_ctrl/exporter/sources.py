"""Where figures are read from."""

from typing import Protocol

from gpustack_ctrl.api.core import Node


class Kubelets(Protocol):
    """Whoever asks the kubelets."""

    async def get(self, node: Node, path: str) -> bytes:
        """What the kubelet of *node* answers at *path*; raise `SourceError`."""
        ...


class Endpoints(Protocol):
    """Whoever asks other end points on nodes."""

    async def get(self, url: str) -> bytes:
        """What is at *url*; raise `SourceError`."""
        ...
