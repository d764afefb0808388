"""What the admission policies refuse, and whom they let through."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from e2e.cluster import TENANTS, Api, ApiStatusError, Cluster, Fleet, running, until
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import ObjectKey, Resource
from gpustack_ctrl.gen.crd import KINDS, crds
from gpustack_ctrl.gen.policies import policies
from gpustack_ctrl.gen.rbac import tenants
from gpustack_ctrl.gen.text import manifest

HOME = "gpustack-system"
TEAM = "team"
TENANT = TENANTS[0]
LABEL = {names.TYPE: names.INSTANCES}
CONTAINER = {"name": "main", "image": "workload:1"}
HOST = {"mountPath": "/host", "hostPath": {"path": "/opt"}}


@pytest.fixture(scope="module")
def guarded() -> Iterator[Cluster]:
    """A cluster of its own, since the policies bind everybody: with CRDs, roles and policies."""
    with running(Fleet(nodes=0)) as cluster:
        cluster.kubectl("apply", "--server-side", "-f", "-", input=manifest(crds()))
        crd_names = [f"crd/{kind.resource.full_name}" for kind in KINDS]
        cluster.kubectl("wait", "--for=condition=Established", *crd_names)
        for namespace in (HOME, TEAM):
            cluster.add_namespace(namespace)
        cluster.kubectl("apply", "-f", "-", input=manifest((*tenants(), *policies(HOME))))
        cluster.kubectl(
            "create", "rolebinding", "edit", "-n", TEAM, "--clusterrole=edit", f"--user={TENANT}"
        )
        until(
            lambda: refused(cluster.api(), names.SETTING, HOME, {}, name="nonsense") != "",
            complaint="the policies are not in force",
        )
        yield cluster


def refused(
    api: Api,
    resource: Resource,
    namespace: str,
    spec: Mapping[str, Any],
    *,
    name: str = "box",
    labels: Mapping[str, str] | None = None,
) -> str:
    """Why the API server does not take the object, in a dry run; "" if it does."""
    body = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"name": name, "labels": labels or {}},
        "spec": spec,
    }
    try:
        api.post(f"{resource.collection(namespace)}?dryRun=All", body)
    except ApiStatusError as error:
        return str(error)
    return ""


def instance(**spec: Any) -> Mapping[str, Any]:
    """The spec of an Instance."""
    return {"type": "any", "image": "workload:1", **spec}


def allow(cluster: Cluster, setting: str, value: str) -> None:
    """Put *setting* in force, as the operator would."""
    api, key = cluster.api(), ObjectKey(HOME, setting)
    if api.find(names.SETTING.path(key)) is None:
        body = {
            "apiVersion": names.SETTING.api_version,
            "kind": names.SETTING.kind,
            "metadata": {"name": setting},
            "spec": {"value": value},
        }
        api.post(names.SETTING.collection(HOME), body)
    api.patch(names.SETTING.path(key, subresource="status"), {"status": {"value": value}})


def test_a_setting_of_an_unknown_name_is_refused_with_the_known_ones(guarded: Cluster) -> None:
    told = refused(guarded.api(), names.SETTING, HOME, {"value": ""}, name="typo")

    assert "there is no Setting of this name" in told
    assert "instance-isolation-pod-cidrs" in told


def test_a_setting_elsewhere_is_refused_with_the_right_namespace(guarded: Cluster) -> None:
    name = "instance-isolation-pod-cidrs"

    assert f"Settings live in namespace {HOME}" in refused(
        guarded.api(), names.SETTING, TEAM, {"value": ""}, name=name
    )
    assert "" == refused(guarded.api(), names.SETTING, HOME, {"value": ""}, name=name)


@pytest.mark.parametrize(
    ("setting", "access"),
    [
        ("instance-privileged-allowed", {"privileged": True}),
        ("instance-host-path-volume-allowed", {"additionalVolumes": [HOST]}),
    ],
)
def test_host_access_needs_its_setting(
    guarded: Cluster, setting: str, access: Mapping[str, Any]
) -> None:
    tenant = guarded.api(TENANT)

    def told() -> str:
        return refused(tenant, names.INSTANCE, TEAM, instance(**access))

    allow(guarded, setting, "false")
    until(lambda: told() != "", complaint="the policy does not know the Setting")

    assert "" == refused(tenant, names.INSTANCE, TEAM, instance())
    assert f"an administrator must set Setting {setting} in namespace {HOME} to true" in told()

    allow(guarded, setting, "true")
    until(lambda: told() == "", complaint="the Setting is not in force")
    name = f"held-{setting}"
    kind = {"apiVersion": names.INSTANCE.api_version, "kind": names.INSTANCE.kind}
    body = {**kind, "metadata": {"name": name}, "spec": instance(**access, stop=True)}
    tenant.post(names.INSTANCE.collection(TEAM), body)
    allow(guarded, setting, "false")
    until(lambda: told() != "", complaint="the Setting is still in force")
    path = names.INSTANCE.path(ObjectKey(TEAM, name))

    assert "kept" == tenant.patch(path, {"spec": {"displayName": "kept"}})["spec"]["displayName"]

    wider = {**HOST, "mountPath": "/more", "hostPath": {"path": "/"}}
    if "additionalVolumes" in access:
        with pytest.raises(ApiStatusError, match="host access is not allowed"):
            tenant.patch(path, {"spec": {"additionalVolumes": [HOST, wider]}})
    tenant.delete(path)


def test_the_label_that_isolation_selects_by_is_not_the_tenants_to_set(guarded: Cluster) -> None:
    tenant, spec = guarded.api(TENANT), {"containers": [CONTAINER]}

    assert "" == refused(tenant, names.POD, TEAM, spec)
    assert "create an Instance instead" in refused(tenant, names.POD, TEAM, spec, labels=LABEL)
    assert "" == refused(guarded.api(), names.POD, TEAM, spec, labels=LABEL)


def test_the_label_is_not_the_tenants_to_remove(guarded: Cluster) -> None:
    admin, path = guarded.api(), names.POD.path(ObjectKey(TEAM, "ours"))
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "ours", "labels": LABEL},
        "spec": {"containers": [CONTAINER]},
    }
    admin.post(names.POD.collection(TEAM), body)

    with pytest.raises(ApiStatusError, match="set by the operator alone"):
        guarded.api(TENANT).patch(path, {"metadata": {"labels": {names.TYPE: None}}})
    guarded.api(TENANT).patch(path, {"metadata": {"labels": {"mine": "yes"}}})
    admin.delete(path)


def test_the_name_of_the_isolation_policy_is_not_the_tenants_to_take(guarded: Cluster) -> None:
    tenant = guarded.api(TENANT)
    spec: Mapping[str, Any] = {"podSelector": {}}
    resource = names.NETWORK_POLICY
    told = refused(tenant, resource, TEAM, spec, name=names.ISOLATION_POLICY)

    assert "is the operator's" in told
    assert "" == refused(tenant, resource, TEAM, spec, name="another")
    assert "" == refused(guarded.api(), resource, TEAM, spec, name=names.ISOLATION_POLICY)


@pytest.mark.parametrize("resource", [names.CONFIG_MAP, names.SECRET])
def test_entries_that_would_open_accelerators_are_refused(
    guarded: Cluster, resource: Resource
) -> None:
    def told(entry: str) -> str:
        body = {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {"name": "settings"},
            "data": {entry: "YWxs"},
        }
        try:
            guarded.api(TENANT).post(f"{resource.collection(TEAM)}?dryRun=All", body)
        except ApiStatusError as error:
            return str(error)
        return ""

    assert "would open accelerators" in told("NVIDIA_VISIBLE_DEVICES")
    assert "" == told("MODE")


@pytest.mark.parametrize("resource", [names.SETTING, names.INSTANCE_TYPE])
def test_tenants_write_neither_settings_nor_types(guarded: Cluster, resource: Resource) -> None:
    told = refused(guarded.api(TENANT), resource, HOME if resource.namespaced else "", {})

    assert "cannot create resource" in told
