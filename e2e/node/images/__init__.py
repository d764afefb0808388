"""Images without a registry and without a daemon: layers are made here and imported."""

from e2e.node.images.catalogue import images

__all__ = ["images"]
