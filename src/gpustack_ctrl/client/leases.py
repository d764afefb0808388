"""Leases, as an elector reads and writes them."""

import attrs

from gpustack_ctrl.api.codec import Json
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.names import LEASE
from gpustack_ctrl.client.rest import Rest, decoded


@attrs.frozen
class Leases:
    """Leases over *rest*, which must not share connections with anything that may be slow.

    It writes by PUT: the API server's flow schema for elections knows no patch.
    """

    rest: Rest

    async def get(self, key: ObjectKey) -> Json:
        """The Lease as it is; raise NotFoundError, or another `ApiError`."""
        return await self.rest.read(LEASE.path(key))

    async def create(self, lease: Json) -> Json:
        """Write a Lease that is not there; raise AlreadyExistsError, or another `ApiError`."""
        return decoded(await self.rest.create(LEASE, lease))

    async def update(self, lease: Json) -> Json:
        """Replace the Lease; raise ConflictError if its `resourceVersion` is not current."""
        metadata = lease["metadata"]
        key = ObjectKey(metadata["namespace"], metadata["name"])
        return decoded(await self.rest.update(LEASE, key, lease))
