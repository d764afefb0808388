"""T5: another intent is told and waits: only who owns the workspace restarts it."""

from gpustack_ctrl.api import names
from tests.integration.observer import History
from tests.integration.operations.conftest import Maker
from tests.integration.world import Operator, Wire, World, condition, until

OVERCOMMIT = "instance-general-resources-overcommit"


async def pod_of(world: World, *, other_than: str = "") -> Wire:
    """The Pod, once it is another one than that of the UID *other_than*, and Ready."""

    async def read() -> Wire | None:
        status = (await world.is_in_phase("Ready"))["status"]
        pod = await world.find(names.POD, "box") if status["podUID"] != other_than else None
        return pod if pod and pod["metadata"]["uid"] == status["podUID"] else None

    return await until(read)


async def test_t5_a_changed_type_is_pending_until_the_restart(
    world: World, operator: Operator, offer: Maker, pods: History
) -> None:
    name = await offer(unitResources={"cpu": 1, "ram": "1Gi"})
    await world.instance(type=name)
    await world.is_in_phase("Ready")
    before = await pod_of(world)
    await world.patch(names.INSTANCE_TYPE, name, {"spec": {"unitResources": {"cpu": 2}}})
    told = await world.tells("RestartPending", "True", "IntentChanged")

    assert "stop and start, or set spec.restartedAt" in told["message"]

    await operator.kill()
    await operator.start()
    await world.edit(displayName="looked at again")
    held = await world.is_in_phase("Ready")

    assert "True" == condition(held, "RestartPending")["status"]
    assert (before["metadata"]["uid"],) == (await pods.caught_up()).uids

    await world.edit(restartedAt="now")
    after = await pod_of(world, other_than=before["metadata"]["uid"])

    assert "False" == (await world.tells("RestartPending", "False"))["status"]
    assert ["1", "2"] == [cpu(before), cpu(after)]


def cpu(pod: Wire) -> str:
    """The CPU that the workload may use."""
    return str(pod["spec"]["containers"][0]["resources"]["limits"]["cpu"])


async def test_t5_a_changed_setting_is_pending_until_the_stop_and_start(
    world: World, operator: Operator, pods: History
) -> None:
    await world.instance()
    first = (await world.is_in_phase("Ready"))["status"]["podUID"]
    home = World(world.rest, operator.namespace)
    await until(lambda: home.find(names.SETTING, OVERCOMMIT))
    await home.patch(names.SETTING, OVERCOMMIT, {"spec": {"value": "false"}})
    await world.tells("RestartPending", "True", "IntentChanged")

    assert (first,) == (await pods.caught_up()).uids

    await world.edit(stop=True)
    stopped = await world.is_in_phase("Stopped")
    await world.edit(stop=False)
    started = await world.is_in_phase("Ready")

    assert ["False", "False"] == [
        condition(held, "RestartPending")["status"] for held in (stopped, started)
    ]
    assert first != started["status"]["podUID"]


async def test_t5_a_change_that_is_taken_back_is_not_pending(
    world: World, operator: Operator, offer: Maker, pods: History
) -> None:
    name = await offer(podAnnotations={"example.com/team": "red"})
    await world.instance(type=name)
    await world.is_in_phase("Ready")
    for team, pending in (("blue", "True"), ("red", "False")):
        change = {"spec": {"podAnnotations": {"example.com/team": team}}}
        await world.patch(names.INSTANCE_TYPE, name, change)
        await world.tells("RestartPending", pending)

    assert 1 == len((await pods.caught_up()).uids)


async def test_t5_a_pod_of_an_operator_that_rendered_otherwise_is_not_restarted(
    world: World, operator: Operator, pods: History
) -> None:
    """Another version leaves another fingerprint of its intent on the Pods that it made."""
    await world.instance()
    await world.is_in_phase("Ready")
    await operator.kill()
    other = {"metadata": {"annotations": {names.INTENT: "of another version"}}}
    await world.patch(names.POD, "box", other)
    await operator.start()
    await world.tells("RestartPending", "True", "IntentChanged")
    pod = await world.get(names.POD, "box")

    assert "of another version" == pod["metadata"]["annotations"][names.INTENT]
    assert 1 == len((await pods.caught_up()).uids)
