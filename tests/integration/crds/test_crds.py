"""The generated CRDs on a real API server: installed, filled in, shown and explained."""

from collections.abc import Mapping
from typing import Any

import pytest

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.gen.crd import KINDS, Kind, crds, digest_of
from tests.integration.crds.cases import frozen
from tests.integration.crds.writer import DRY_RUN, Writer, instance, refusal

CRD_NAMES = [kind.resource.full_name for kind in KINDS]


def test_crds_install_without_a_warning(installed: str) -> None:
    expected = [
        f"customresourcedefinition.apiextensions.k8s.io/{name} serverside-applied"
        for name in CRD_NAMES
    ]

    assert expected == installed.splitlines()


@pytest.mark.parametrize("kind", KINDS, ids=CRD_NAMES)
def test_stored_crd_has_its_digest_and_no_complaint(cluster: Cluster, kind: Kind) -> None:
    [ours] = [crd for crd in crds() if crd["metadata"]["name"] == kind.resource.full_name]
    stored = cluster.api().get(names.CRD.path(ObjectKey("", kind.resource.full_name)))
    conditions = {it["type"]: it["status"] for it in stored["status"]["conditions"]}

    assert digest_of(ours) == digest_of(stored) != ""
    assert {"NamesAccepted": "True", "Established": "True"} == conditions


def test_defaults_are_filled_in_and_nothing_is_made_up_in_the_status(writer: Writer) -> None:
    path = names.INSTANCE.collection(writer.namespace) + DRY_RUN
    made = writer.api.post(path, instance("fresh", {"type": "cpu", "image": "work"}))

    assert {
        "type": "cpu",
        "image": "work",
        "imagePullPolicy": "IfNotPresent",
        "privileged": False,
        "resources": {"acceleratorShared": False},
        "stop": False,
        "volumeMount": "/workspace",
    } == made["spec"]
    assert "status" not in made


@pytest.mark.parametrize(
    ("status", "says"),
    [
        ({"phase": "Idle"}, 'status.phase: Unsupported value: "Idle"'),
        ({"startTime": "today"}, 'status.startTime: Invalid value: "today"'),
        ({"message": "a" * 4097}, "status.message: Too long: may not be more than 4096"),
        ({"conditions": [{"type": "Ready"}]}, "status.conditions[0].status: Required value"),
    ],
)
def test_a_status_out_of_bounds_is_refused(
    writer: Writer, status: Mapping[str, Any], says: str
) -> None:
    path = names.INSTANCE.path(ObjectKey(writer.namespace, "running"), subresource="status")

    assert says in refusal(lambda: writer.api.patch(path + DRY_RUN, {"status": dict(status)}))


def test_get_instances_shows_the_columns(cluster: Cluster, writer: Writer) -> None:
    shown = cluster.kubectl("get", "inst", "--namespace", writer.namespace).splitlines()[0]
    wide = cluster.kubectl("get", "inst", "-o", "wide", "--namespace", writer.namespace)

    assert ["NAME", "TYPE", "PHASE", "PORTS", "NODE", "AGE"] == shown.split()
    assert ["MESSAGE", "IMAGE"] == wide.splitlines()[0].split()[-2:]


def test_category_and_short_names_are_served(cluster: Cluster) -> None:
    listed = cluster.kubectl("api-resources", "--categories=gpustack", "--no-headers")
    short_names = {line.split()[0]: line.split()[1] for line in listed.splitlines()}

    assert {kind.resource.plural: kind.short_name for kind in KINDS} == short_names


def test_explain_tells_what_ports_are(cluster: Cluster) -> None:
    explained = " ".join(cluster.kubectl("explain", "instance.spec.ports").split())

    assert "FIELD: ports <[]Object>" in explained
    assert "A port that stays keeps its node port." in explained
    assert "port <integer> -required- Port that the workload listens on." in explained
    assert "protocol <string> enum: TCP, UDP, SCTP Transport protocol." in explained


def test_kubectl_shows_the_sentence_of_a_refused_edit(cluster: Cluster, writer: Writer) -> None:
    edit = '{"spec": {"ports": []}}'
    where = ("--namespace", writer.namespace, "--type=merge", "--dry-run=server")
    said = cluster.kubectl("patch", "inst", "running", *where, "-p", edit, check=False)

    assert f'The Instance "running" is invalid: {frozen("ports")}\n' == said
