"""Leases on the wire."""

from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.runtime.lease import LeaseClient
from tests.client.conftest import Serving
from tests.client.scripted import Answer, in_turn

LEASES = "/apis/coordination.k8s.io/v1/namespaces/system/leases"
LEASE = {"metadata": {"namespace": "system", "name": "gpustack-ctrl"}, "spec": {}}


async def test_an_elector_reads_creates_and_replaces(serving: Serving) -> None:
    async with serving(in_turn(*(Answer.of(200, LEASE) for _ in range(3)))) as served:
        leases: LeaseClient = served.client.leases
        assert LEASE == await leases.get(ObjectKey("system", "gpustack-ctrl"))
        assert LEASE == await leases.create(LEASE)
        assert LEASE == await leases.update(LEASE)

    expected = [
        ("GET", f"{LEASES}/gpustack-ctrl"),
        ("POST", LEASES),
        ("PUT", f"{LEASES}/gpustack-ctrl"),
    ]
    assert expected == [(request.method, request.path) for request in served.server.received]
    assert LEASE == served.server.received[-1].json
