"""Image references: what one is, and how an administrator redirects it."""

import re

_REFERENCE = re.compile(
    r"[a-z0-9]([a-z0-9._:/-]*[a-z0-9])?(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?"
    r"(@sha256:[0-9a-f]{64})?"
)


def image_reference(text: str) -> str:
    """*text*, if it is an image reference; raises ValueError with the remedy."""
    if not _REFERENCE.fullmatch(text):
        raise ValueError(f"{text!r} is not an image: write repository:tag or repository@sha256:…")
    return text


def image_at(image: str, *, registry: str, namespace: str) -> str:
    """*image* under another *namespace*, pulled from another *registry*; "" keeps its own."""
    repository = image
    if namespace:
        repository = f"{namespace.strip('/')}/{image.rpartition('/')[2]}"
    return f"{registry.strip('/')}/{repository}" if registry else repository
