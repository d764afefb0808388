"""One pass over an Instance: what it reads, what it writes, and when it is done again."""

import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.errors import ApiError, ConflictError, ForbiddenError
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.reconcilers.login.host_key import host_key
from gpustack_ctrl.reconcilers.status.failures import FIRST_WAIT
from gpustack_ctrl.runtime.reconcile import DONE
from tests.controllers.passes import begun, one_pass
from tests.helpers.memory_world import KEY, SETTING, MemoryWorld

WEB = {"port": 80, "protocol": "TCP"}
CIDRS = "10.244.0.0/16"


async def test_an_instance_that_is_gone_is_left_to_the_collector() -> None:
    world = MemoryWorld()

    assert DONE == await one_pass(world)
    assert 0 == world.writer.sent


async def test_i1_from_create_to_ready_there_are_two_objects_and_two_statuses() -> None:
    world = await begun(ports=[WEB])

    await world.settle()

    assert "Ready" == world.status["phase"]
    assert 1 == world.api.writes.count("create Pod")
    assert 1 == world.api.writes.count("create Service")
    assert world.api.writes.count("patch status Instance") <= 2
    assert {"create Pod", "create Service", "patch status Instance"} == set(world.api.writes)


async def test_a_ready_instance_costs_no_write_nor_does_a_new_operator() -> None:
    world = await begun(ports=[WEB])
    await world.settle()

    assert 0 == await world.settle()

    world.start()

    assert 0 == await world.settle()


async def test_t2_ready_is_told_at_once() -> None:
    world = await begun()
    await one_pass(world)
    world.api.run_pods()

    assert DONE == await one_pass(world)
    assert "Ready" == world.status["phase"]


async def test_a_pass_on_a_stale_cache_does_nothing_and_comes_back() -> None:
    world = await begun()
    await one_pass(world)
    sent = world.writer.sent

    result = await world.instances.reconcile(KEY)

    assert result.after is not None
    assert 0 < result.after < 1
    assert sent == world.writer.sent


async def test_t3_a_refused_write_shows_in_the_status_and_is_tried_again() -> None:
    world = await begun()
    world.writer.refuse["Pod"] = ForbiddenError("exceeded quota: small")

    with pytest.raises(ExceptionGroup) as told:
        await one_pass(world)

    assert [ForbiddenError] == [type(error) for error in told.value.exceptions]
    assert "QuotaExceeded" == world.status["blocker"]["reason"]
    assert ["patch status Instance"] == world.api.writes

    world.writer.refuse.clear()
    await world.settle()

    assert "Ready" == world.status["phase"]
    assert "blocker" not in world.status


async def test_t3_a_refusal_that_stays_is_told_once() -> None:
    world = await begun()
    world.writer.refuse["Pod"] = ForbiddenError("exceeded quota: small")
    for _ in range(3):
        with pytest.raises(ExceptionGroup):
            await one_pass(world)
        await world.clock.advance(30)

    assert ["patch status Instance"] == world.api.writes


async def test_a_refusal_that_sounds_different_each_time_is_not_written_each_time() -> None:
    world = await begun()
    for attempt in range(20):
        world.writer.refuse["Pod"] = ForbiddenError(f"attempt {attempt} is not wanted")
        with pytest.raises(ExceptionGroup):
            await one_pass(world)
        await world.clock.advance(0.1)

    assert ["patch status Instance"] == world.api.writes

    await world.clock.advance(5)
    with pytest.raises(ExceptionGroup):
        await one_pass(world)

    assert "attempt 19 is not wanted" in world.status["message"]


async def test_without_settings_an_instance_waits_for_them_and_does_not_ask_again() -> None:
    world = MemoryWorld()
    world.make()

    assert DONE == await one_pass(world)
    assert 0 == world.writer.sent


async def test_a_refused_service_does_not_keep_the_pod_back() -> None:
    world = await begun(ports=[WEB])
    world.writer.refuse["Service"] = ForbiddenError("no")

    with pytest.raises(ExceptionGroup):
        await one_pass(world)

    assert "create Pod" in world.api.writes


@pytest.mark.parametrize("error", [ConflictError("changed"), ApiError("out of order")])
async def test_a_status_that_is_refused_is_tried_again(error: ApiError) -> None:
    world = await begun()
    await one_pass(world)
    world.api.run_pods()
    world.writer.refuse["Instance"] = error

    with pytest.raises(type(error)):
        await one_pass(world)

    world.writer.refuse.clear()
    await world.settle()

    assert "Ready" == world.status["phase"]


async def test_t1_the_status_of_an_earlier_instance_is_never_written_on_its_namesake() -> None:
    world = await begun()
    await world.settle()
    world.edit(stop=True)
    world.sync()
    del world.api.objects[names.INSTANCE, KEY]
    world.make()

    with pytest.raises(ConflictError):
        await world.instances.reconcile(KEY)

    assert {} == world.status


async def test_n2_the_policy_is_there_before_the_first_pod() -> None:
    world = MemoryWorld(seeds={SETTING.name: CIDRS})
    world.make()

    await world.settle()

    policy = world.api.writes.index("create NetworkPolicy")
    assert policy < world.api.writes.index("create Pod")


async def test_i5_stop_and_start_keep_the_service_and_make_another_pod() -> None:
    world = await begun(ports=[WEB])
    await world.settle()
    first, told = world.get(names.POD), world.status["ports"]

    world.edit(stop=True)
    await world.settle()

    assert world.get(names.POD) is None
    assert "Stopped" == world.status["phase"]
    assert told == world.status["ports"]

    world.edit(stop=False)
    await world.settle()
    second = world.get(names.POD)

    assert first is not None
    assert second is not None
    assert first["metadata"]["uid"] != second["metadata"]["uid"]
    assert told == world.status["ports"]


async def test_i5_a_deleted_instance_takes_its_children_along_by_owner_alone() -> None:
    world = await begun(ports=[WEB])
    await world.settle()
    del world.api.objects[names.INSTANCE, KEY]

    await world.settle()

    assert {"InstanceType", "Setting"} == {resource.kind for resource, _ in world.api.objects}


async def test_i4_another_seed_gives_another_host_key_at_the_next_start_and_tells_it() -> None:
    world = await begun(sshPublicKey={"name": "me"})
    await world.settle()
    first = world.status["ssh"]["fingerprint"]

    world.start(host_key_seed=b"x" * 32)
    await world.settle()

    assert first == world.status["ssh"]["fingerprint"]

    world.edit(stop=True)
    await world.settle()
    world.edit(stop=False)
    await world.settle()

    pod = world.get(names.POD)
    assert pod is not None
    [mounted] = [
        held["secret"]["secretName"] for held in pod["spec"]["volumes"] if "secret" in held
    ]
    secret = world.get(names.SECRET, ObjectKey(KEY.namespace, mounted))
    expected = host_key(b"x" * 32, pod["metadata"]["labels"][names.PART_OF])
    assert secret is not None
    assert {names.HOST_KEY_FILE: expected.private_key} == secret["stringData"]
    assert expected.fingerprint == world.status["ssh"]["fingerprint"] != first


async def test_s5_the_holder_of_a_taken_node_port_is_named_and_waited_for() -> None:
    world = await begun(ports=[WEB])
    await world.settle()
    promised = world.status["ports"][0]["nodePort"]
    del world.api.objects[names.SERVICE, KEY]
    other = ObjectKey("other", "web")
    port = {"port": 1, "protocol": "TCP", "nodePort": promised}
    metadata = {"name": other.name, "namespace": other.namespace}
    world.api.create(names.SERVICE, {"metadata": metadata, "spec": {"ports": [port]}})
    world.api.writes.clear()

    await world.settle()

    assert f"{promised} by Service other/web" in world.status["message"]
    assert "create Service" not in world.api.writes

    del world.api.objects[names.SERVICE, other]
    await world.settle()

    assert "Ready" == world.status["phase"]
    assert promised == world.status["ports"][0]["nodePort"]


async def test_t4_a_telling_that_waits_does_not_put_off_the_next_pod() -> None:
    world = await begun()
    await world.settle()
    failed = {"phase": "Failed", "reason": "Evicted", "message": "disk pressure", "conditions": []}
    world.api.patch(names.POD, KEY, {"status": failed})
    await one_pass(world)
    for number in range(200):
        world.instances.patience.wait(ObjectKey("team", f"other-{number}"), 0.0)
    world.api.patch(names.POD, KEY, {"status": {"message": "memory pressure"}})

    result = await one_pass(world)

    assert "disk pressure" in world.status["message"]
    assert result.after is not None
    assert 0 < result.after <= FIRST_WAIT.total_seconds()
