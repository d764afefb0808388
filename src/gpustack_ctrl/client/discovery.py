"""What the API server serves, asked before anything relies on it."""

from collections.abc import Iterable

from gpustack_ctrl.api.errors import NotFoundError
from gpustack_ctrl.api.meta import Resource
from gpustack_ctrl.client.rest import Rest


async def missing(rest: Rest, resources: Iterable[Resource]) -> tuple[Resource, ...]:
    """Those of *resources* that the API server does not serve; raise `ApiError`."""
    wanted = tuple(resources)
    served = {root: await _served(rest, root) for root in {_root(resource) for resource in wanted}}
    return tuple(resource for resource in wanted if resource.plural not in served[_root(resource)])


async def _served(rest: Rest, root: str) -> frozenset[str]:
    """The plural names of what is served under *root*, subresources too."""
    try:
        body = await rest.read(root)
    except NotFoundError:
        return frozenset()
    return frozenset(str(resource.get("name")) for resource in body.get("resources") or ())


def _root(resource: Resource) -> str:
    """The URL path of the group and version of *resource*."""
    return resource.collection().rpartition("/")[0]
