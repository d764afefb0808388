"""What a tenant may try, by the rows of docs/explanation/threat-model.md (R1, R2 ...)."""

from typing import Any

import pytest

from e2e.cluster import ApiStatusError, Cluster
from gpustack_ctrl.api import names
from gpustack_ctrl.api.errors import ApiError
from tests.integration.devices.fleet import Own, blocked
from tests.integration.observer import History
from tests.integration.world import Operator, World, until

pytestmark = pytest.mark.usefixtures("operator")

CONTAINER = {"name": "main", "image": "workload:1"}


async def allow(world: World, operator: Operator, setting: str) -> None:
    """Set a Setting to true, and see it in force."""
    settings = World(world.rest, operator.namespace)
    await settings.patch(names.SETTING, setting, {"spec": {"value": "true"}})

    async def is_in_force() -> bool:
        held = await settings.get(names.SETTING, setting)
        return bool(held.get("status", {}).get("value") == "true")

    await until(is_in_force)


@pytest.mark.parametrize(
    ("access", "setting"),
    [
        ({"privileged": True}, "instance-privileged-allowed"),
        (
            {"additionalVolumes": [{"mountPath": "/host", "hostPath": {"path": "/"}}]},
            "instance-host-path-volume-allowed",
        ),
    ],
    ids=["privileged", "hostPath"],
)
async def test_r1_r3_r21_host_access_needs_its_setting_and_the_level_of_the_namespace(
    world: World, own: Own, operator: Operator, cluster: Cluster, *, access: Any, setting: str
) -> None:
    """No admission policy is installed here: the operator itself says no."""
    own.add_node()
    level = "pod-security.kubernetes.io/enforce"
    cluster.kubectl("label", "namespace", world.namespace, f"{level}=baseline")
    await world.instance(type=own.name, **access)
    told = await blocked(world, "admission", "HostAccessDenied")

    assert f"must set Setting {setting} to true" in told["message"]
    assert await world.find(names.POD, "box") is None

    await allow(world, operator, setting)
    told = await blocked(world, "podSecurity", "PodSecurityViolation")

    assert 'violates PodSecurity "baseline' in told["message"]
    assert await world.find(names.POD, "box") is None

    cluster.kubectl("label", "--overwrite", "namespace", world.namespace, f"{level}=privileged")
    await world.is_in_phase("Ready")


@pytest.mark.parametrize(
    "field",
    [
        {"hostNetwork": True},
        {"hostPID": True},
        {"hostIPC": True},
        {"runtimeClassName": "kata"},
        {"nodeSelector": {"a": "b"}},
        {"tolerations": [{"operator": "Exists"}]},
        {"priorityClassName": "system-node-critical"},
        {"schedulerName": "mine"},
        {"serviceAccountName": "admin"},
        {"podLabels": {"a": "b"}},
        {"podAnnotations": {"cdi.k8s.io/x": "y"}},
        {"imagePullSecret": {"name": "pull", "namespace": "other"}},
        {"sshPublicKey": {"name": "me", "namespace": "other"}},
        {"volume": {"persistent": {"name": "home", "namespace": "other"}}},
        {"envFrom": [{"secretRef": {"name": "token", "namespace": "other"}}]},
    ],
    ids=lambda field: next(iter(field)),
)
async def test_r2_r4_r15_there_is_no_field_for_what_a_tenant_may_not_say(
    world: World, own: Own, field: dict[str, Any]
) -> None:
    with pytest.raises(ApiError, match="unknown field"):
        await world.instance(type=own.name, **field)


async def test_r5_labels_and_annotations_of_an_instance_stay_with_it(
    world: World, own: Own
) -> None:
    own.add_node()
    own_words = {
        "cdi.k8s.io/cards": "nvidia.com/gpu=all",
        "container.apparmor.security.beta.kubernetes.io/main": "unconfined",
        names.INTENT: "forged",
    }
    labels = {names.QUEUE_NAME: "mine", names.PART_OF: "forged", names.TYPE: "forged"}
    meta = {"name": "box", "annotations": own_words, "labels": labels}
    spec = {"type": own.name, "image": "workload:1"}
    instance = await world.create(names.INSTANCE, {"metadata": meta, "spec": spec})
    await world.is_in_phase("Ready")
    held = (await world.get(names.POD, "box"))["metadata"]

    assert {names.PART_OF: instance["metadata"]["uid"], names.TYPE: names.INSTANCES}.items() <= (
        held["labels"].items()
    )
    assert names.QUEUE_NAME not in held["labels"]
    assert set(own_words) & set(held["annotations"]) == {names.INTENT}
    assert "forged" != held["annotations"][names.INTENT]


async def test_r5_a_variable_that_opens_devices_is_refused_at_admission(
    world: World, own: Own
) -> None:
    with pytest.raises(ApiError, match="variables that open devices or logins"):
        await world.instance(
            type=own.name, env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]
        )


async def test_r6_a_pod_carries_no_token_and_no_service_links(world: World, own: Own) -> None:
    own.add_node()
    await world.instance(type=own.name)
    await world.is_in_phase("Ready")
    spec = (await world.get(names.POD, "box"))["spec"]

    assert False is spec["automountServiceAccountToken"]
    assert False is spec["enableServiceLinks"]
    assert "default" == spec.get("serviceAccountName", "default")
    assert ["emptyDir"] == [kind for held in spec["volumes"] for kind in held if kind != "name"]


@pytest.mark.parametrize(
    "theft",
    [
        {"labels": {names.TYPE: None}},
        {"labels": {names.PART_OF: "another"}},
        {"ownerReferences": []},
        {"labels": {names.TYPE: None}, "ownerReferences": []},
    ],
    ids=["type", "part-of", "owner", "type and owner"],
)
async def test_r7_r11_marks_that_were_taken_off_the_pod_are_put_back(
    world: World, own: Own, pods: History, theft: dict[str, Any]
) -> None:
    own.add_node()
    await world.instance(type=own.name)
    await world.is_in_phase("Ready")
    before = (await world.get(names.POD, "box"))["metadata"]
    await world.patch(names.POD, "box", {"metadata": theft})

    async def is_healed() -> bool:
        held = (await world.get(names.POD, "box"))["metadata"]
        return all(held.get(key) == before[key] for key in ("uid", "labels", "ownerReferences"))

    await until(is_healed)
    await pods.caught_up()

    assert (before["uid"],) == pods.uids


async def test_r9_a_pod_that_was_there_first_is_never_touched(world: World, own: Own) -> None:
    own.add_node()
    meta = {"name": "box", "labels": {"app": "mine"}}
    spec = {"containers": [CONTAINER], "nodeSelector": {"absent": "node"}}
    made = await world.create(names.POD, {"metadata": meta, "spec": spec})
    await world.instance(type=own.name, ports=[{"port": 80}])
    told = await blocked(world, "name", "NameConflict")

    assert f"Pod {world.namespace}/box is without an owner and not ours" in told["message"]
    assert f"kubectl delete pod box -n {world.namespace}" in told["message"]

    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    await world.delete(names.INSTANCE, "box")
    await world.gone(names.INSTANCE, "box")
    left = await world.get(names.POD, "box")

    assert [made["metadata"][key] for key in ("uid", "labels")] == [
        left["metadata"][key] for key in ("uid", "labels")
    ]
    assert "deletionTimestamp" not in left["metadata"]


async def test_r11_an_object_that_claims_to_be_the_instances_is_left_alone(
    world: World, own: Own
) -> None:
    own.add_node()
    instance = await world.instance(type=own.name)
    await world.is_in_phase("Ready")
    owner = {
        "apiVersion": names.INSTANCE.api_version,
        "kind": names.INSTANCE.kind,
        "name": "box",
        "uid": instance["metadata"]["uid"],
        "controller": True,
    }
    meta = {"name": "box", "ownerReferences": [owner], "labels": {names.TYPE: names.INSTANCES}}
    made = await world.create(names.CONFIG_MAP, {"metadata": meta, "data": {"a": "b"}})
    await world.edit(stop=True)
    await world.is_in_phase("Stopped")

    assert made == await world.get(names.CONFIG_MAP, "box")


@pytest.mark.parametrize(
    ("field", "entries"),
    [
        ("ports", [{"port": number} for number in range(1, 34)]),
        ("env", [{"name": f"V{number}"} for number in range(257)]),
        ("command", ["x"] * 129),
        (
            "additionalVolumes",
            [{"mountPath": f"/{number}", "secret": {"name": "a"}} for number in range(33)],
        ),
    ],
    ids=["ports", "env", "command", "additionalVolumes"],
)
async def test_r25_a_huge_spec_is_refused(
    world: World, cluster: Cluster, field: str, entries: list[Any]
) -> None:
    spec = {"type": "any", "image": "workload:1", field: entries}
    body = {
        "apiVersion": names.INSTANCE.api_version,
        "kind": names.INSTANCE.kind,
        "metadata": {"name": "box"},
        "spec": spec,
    }
    with pytest.raises(ApiStatusError, match=f"spec.{field}: Too many"):
        cluster.api().post(names.INSTANCE.collection(world.namespace), body)
