"""Roles: no wildcard, no Secret, nothing that the list of permissions does not name."""

from collections.abc import Iterator
from typing import Any

import pytest

from gpustack_ctrl.gen import permissions, rbac

HOME = "gpustack-system"
PER_NODE = rbac.exporter_per_node("gpustack-exporter", HOME)
ALL = (
    *rbac.operator(HOME),
    *rbac.crd_installer(HOME),
    *rbac.tenants(),
    *rbac.exporter(HOME),
    *PER_NODE,
    *rbac.metrics_guard(HOME),
    *rbac.metrics_reader(),
)
TENANT_ROLES = {role["metadata"]["name"]: role for role in rbac.tenants()}


def _grants(kind: str, name: str) -> set[tuple[str, str, str]]:
    [role] = [it for it in ALL if (it["kind"], it["metadata"]["name"]) == (kind, name)]
    return set(_flat(role))


def _flat(role: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for rule in role["rules"]:
        [group], [resource] = rule["apiGroups"], rule["resources"]
        yield from ((group, resource, verb) for verb in rule["verbs"])


def test_nothing_is_a_wildcard() -> None:
    rules = [rule for document in ALL for rule in document.get("rules", ())]
    named = {word for rule in rules for words in rule.values() for word in words}

    assert not {word for word in named if "*" in word}
    assert not {word for word in named if "exec" in word or "proxy" in word}


def test_no_secret_is_read_but_the_operators_own_seed() -> None:
    everywhere = {
        verb for _, held, verb in _grants("ClusterRole", "gpustack-ctrl") if held == "secrets"
    }
    at_home = [
        rule
        for document in rbac.operator(HOME)
        if document["kind"] == "Role"
        for rule in document["rules"]
        if "secrets" in rule["resources"] and "get" in rule["verbs"]
    ]

    assert {"create"} == everywhere
    assert [["gpustack-ssh-host-key-seed"]] == [rule["resourceNames"] for rule in at_home]


def test_the_operator_writes_only_what_it_makes() -> None:
    writes = {
        (resource, verb)
        for _, resource, verb in _grants("ClusterRole", "gpustack-ctrl")
        if verb not in permissions.READ
    }

    assert {
        ("instances/status", "patch"),
        ("instances/finalizers", "update"),
        ("instancetypes/status", "patch"),
        ("instancesshpublickeys/status", "patch"),
        ("configmaps", "create"),
        ("configmaps", "patch"),
        ("secrets", "create"),
        ("events", "create"),
        ("events", "patch"),
        *((child, verb) for child in ("pods", "services", "networkpolicies")
          for verb in ("create", "patch", "delete")),
    } == writes  # fmt: skip


def test_leases_and_settings_are_granted_at_home_only() -> None:
    at_home = {resource for _, resource, _ in _grants("Role", "gpustack-ctrl")}
    everywhere = {resource for _, resource, _ in _grants("ClusterRole", "gpustack-ctrl")}

    assert {"settings", "settings/status", "leases", "secrets"} == at_home
    assert {"secrets"} == at_home & everywhere


def test_crds_are_changed_only_by_name() -> None:
    assert ("apiextensions.k8s.io", "customresourcedefinitions", "patch") not in _grants(
        "ClusterRole", "gpustack-ctrl"
    )
    [create, change] = rbac.crd_installer(HOME)[0]["rules"]

    assert ["create"] == create["verbs"]
    assert ["get", "patch"] == change["verbs"]
    assert 4 == len(change["resourceNames"])


@pytest.mark.parametrize(
    ("role", "labels"),
    [
        ("gpustack-view", {"aggregate-to-view"}),
        ("gpustack-edit", {"aggregate-to-edit", "aggregate-to-admin"}),
    ],
)
def test_tenant_roles_join_the_built_in_ones(role: str, labels: set[str]) -> None:
    found = TENANT_ROLES[role]["metadata"]["labels"]

    assert {f"rbac.authorization.k8s.io/{label}": "true" for label in labels} == found


def test_tenants_touch_neither_status_nor_types_nor_settings() -> None:
    roles = [role for role in TENANT_ROLES.values() if "rules" in role]
    granted = {grant for role in roles for grant in _flat(role)}
    writes = {resource for _, resource, verb in granted if verb not in permissions.READ}

    assert {"instances", "instancesshpublickeys"} == writes


def test_bindings_name_the_service_account_of_the_namespace() -> None:
    documents = (*rbac.operator(HOME), *rbac.crd_installer(HOME))
    subjects = [it["subjects"] for it in documents if "subjects" in it]

    assert [
        [{"kind": "ServiceAccount", "name": "gpustack-ctrl", "namespace": HOME}]
    ] * 3 == subjects


def test_all_who_are_known_may_read_what_is_offered_and_no_more() -> None:
    [binding] = [it for it in rbac.tenants() if it["kind"] == "ClusterRoleBinding"]
    [role] = [it for it in rbac.tenants() if it["metadata"]["name"] == binding["roleRef"]["name"]
              and it["kind"] == "ClusterRole"]  # fmt: skip

    assert ["system:authenticated"] == [it["name"] for it in binding["subjects"]]
    assert [["instancetypes"]] == [rule["resources"] for rule in role["rules"]]
    assert [["get", "list", "watch"]] == [rule["verbs"] for rule in role["rules"]]


def test_the_exporter_reads_a_few_kinds_and_what_kubelets_measure() -> None:
    everywhere = _grants("ClusterRole", "gpustack-ctrl-exporter")
    followed = ("nodes", "pods", "instances", "instancetypes")

    assert {
        ("nodes/metrics", "get"),
        ("nodes/stats", "get"),
        *((kind, verb) for kind in followed for verb in ("list", "watch")),
    } == {(resource, verb) for _, resource, verb in everywhere}
    assert {("gpustack.ai", "settings", "list"), ("gpustack.ai", "settings", "watch")} == _grants(
        "Role", "gpustack-ctrl-exporter"
    )


def test_who_asks_about_scrapers_may_do_nothing_else_by_that_role() -> None:
    assert {
        ("authentication.k8s.io", "tokenreviews", "create"),
        ("authorization.k8s.io", "subjectaccessreviews", "create"),
    } == _grants("ClusterRole", "gpustack-metrics-guard")
    [binding] = [it for it in rbac.metrics_guard(HOME) if it["kind"] == "ClusterRoleBinding"]
    assert ["gpustack-ctrl", "gpustack-ctrl-exporter"] == [it["name"] for it in binding["subjects"]]


def test_scrapers_are_bound_by_whoever_runs_them() -> None:
    [role] = rbac.metrics_reader()

    assert [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}] == role["rules"]


def test_exporters_of_nodes_are_bound_to_roles_that_are_there() -> None:
    made = {(it["kind"], it["metadata"]["name"]) for it in ALL}
    names = [(it["kind"], it["metadata"]["name"]) for it in ALL]

    assert len(names) == len(made)
    assert {(it["roleRef"]["kind"], it["roleRef"]["name"]) for it in PER_NODE} <= made
    assert {"gpustack-exporter"} == {
        subject["namespace"] for it in PER_NODE for subject in it["subjects"]
    }


def test_every_permission_says_what_for() -> None:
    lists = (
        permissions.OPERATOR,
        permissions.OPERATOR_AT_HOME,
        permissions.CRD_INSTALLER,
        permissions.EXPORTER,
        permissions.EXPORTER_AT_HOME,
        permissions.METRICS_GUARD,
        permissions.METRICS_READER,
        permissions.EVERYBODY,
        permissions.TENANT_VIEW,
        permissions.TENANT_EDIT,
    )

    assert all(grant.why for grants in lists for grant in grants)
