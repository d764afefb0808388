"""What is not served is found out before anything relies on it."""

import pytest

from gpustack_ctrl.api.errors import ForbiddenError
from gpustack_ctrl.api.names import INSTANCE, INSTANCE_TYPE, POD, SETTING
from gpustack_ctrl.client.discovery import missing
from tests.client.conftest import Serving
from tests.client.scripted import Answer, Received

SERVED = {
    "/api/v1": ["pods", "pods/status"],
    "/apis/worker.gpustack.ai/v1": ["instances", "instances/status"],
}


def discovery(request: Received) -> Answer:
    if request.path not in SERVED:
        return Answer(404, b"404 page not found")
    return Answer.of(200, {"resources": [{"name": name} for name in SERVED[request.path]]})


async def test_kinds_and_whole_groups_that_are_missing_are_named(serving: Serving) -> None:
    async with serving(discovery) as served:
        resources = (POD, INSTANCE, INSTANCE_TYPE, SETTING)
        found = await missing(served.client.rest, resources)

    assert (INSTANCE_TYPE, SETTING) == found
    assert 3 == len(served.server.received)


async def test_who_may_not_ask_is_told(serving: Serving) -> None:
    async with serving(lambda _: Answer(403, b"forbidden: no discovery")) as served:
        with pytest.raises(ForbiddenError, match="no discovery"):
            await missing(served.client.rest, (POD,))
