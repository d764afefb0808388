"""Resource versions as numbers, where the API server lets us compare them."""


def revision_of(resource_version: str) -> int | None:
    """The number that *resource_version* is, or None if it cannot be compared.

    Since Kubernetes 1.35 they are promised to be decimal numbers without leading zeros,
    comparable within one resource. Aggregated API servers may still use anything.
    """
    if not (resource_version.isascii() and resource_version.isdigit()):
        return None
    if resource_version[0] == "0" and len(resource_version) > 1:
        return None
    return int(resource_version)


def supersedes(new: str, old: str) -> bool:
    """Whether resource version *new* is later than *old*; yes, if they only differ."""
    if new == old:
        return False
    before, after = revision_of(old), revision_of(new)
    return before is None or after is None or before < after
