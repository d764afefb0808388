"""The cluster lacks something: what is missing is told with how to mend it."""

import json
from collections.abc import Iterable
from typing import Any

from e2e.cluster import Cluster
from gpustack_ctrl.gen import rbac
from gpustack_ctrl.gen.crd import KINDS, crds
from gpustack_ctrl.gen.text import manifest
from tests.cli.command import free_addresses, operating, run
from tests.cli.test_no_connection import ELSEWHERE, complaint
from tests.cli.test_signals import Log


def told(cluster: Cluster, *arguments: str, user: str = "admin") -> str:
    """The one line of an operator that cannot start as *user*."""
    kubeconfig = f"--kubeconfig={cluster.kubeconfig_for(user)}"
    return complaint(run("run", *ELSEWHERE, kubeconfig, *arguments))


def test_a_missing_namespace_is_told(unprepared: Cluster) -> None:
    said = told(unprepared, "--namespace=nowhere")

    assert "namespace nowhere does not exist: create it, or name another --namespace" == said


def test_missing_crds_are_told_with_both_remedies(bare: Cluster, home: str) -> None:
    said = told(bare, f"--namespace={home}")

    assert said.startswith("the API server does not serve instances.worker.gpustack.ai, ")
    assert "`gpustack-ctrl crds | kubectl apply -f -`" in said
    assert said.endswith("or start with --install-crds")


def test_the_printed_crds_are_what_the_operator_misses(bare: Cluster, home: str, log: Log) -> None:
    printed = run("crds").out
    applied = bare.kubectl("apply", "-f", "-", input=printed)
    bare.kubectl("wait", "--for=condition=Established", "--timeout=30s", "-f", "-", input=printed)

    assert len(KINDS) == applied.count(" created")

    with operating(bare.kubeconfig, log("one"), f"--namespace={home}") as operator:
        assert [] == [line for line in operator.lines() if line["level"] == "warning"]


def test_install_crds_creates_them_and_brings_old_ones_up_to_date(
    bare: Cluster, home: str, log: Log
) -> None:
    arguments = (f"--namespace={home}", "--install-crds")
    with operating(bare.kubeconfig, log("first"), *arguments):
        assert digests(crds()) == digests(held(bare))

    grow_old(bare)
    with operating(bare.kubeconfig, log("second"), *arguments):
        assert columns(crds()) == columns(held(bare))
        assert digests(crds()) == digests(held(bare))

    written = generation(bare)
    with operating(bare.kubeconfig, log("third"), *arguments):
        assert written == generation(bare)


def test_a_crd_of_another_version_is_warned_of_and_left_alone(
    bare: Cluster, home: str, log: Log
) -> None:
    bare.kubectl("apply", "-f", "-", input=manifest(crds()))
    grow_old(bare)
    with operating(bare.kubeconfig, log("one"), f"--namespace={home}") as operator:
        [warned] = [line for line in operator.lines() if line["level"] == "warning"]

    assert "instances.worker.gpustack.ai" == warned["crd"]
    assert columns(crds()) != columns(held(bare))


def test_whoever_may_do_nothing_is_told_what_they_would_have_to_do(
    bare: Cluster, home: str
) -> None:
    said = told(bare, f"--namespace={home}", user="user-00")

    assert 'User "user-00" cannot get resource "secrets"' in said
    assert f'in the namespace "{home}"' in said
    assert said.endswith("bind the roles in deploy/rbac to this user")


def test_a_verb_that_is_missing_is_told_with_its_resource(bare: Cluster, home: str) -> None:
    bare.kubectl("apply", "-f", "-", input=manifest((*crds(), *roles(home, without="nodes"))))
    said = told(bare, f"--namespace={home}", user="user-01")

    assert 'User "user-01" cannot list resource "nodes" in API group ""' in said
    assert said.endswith("bind the roles in deploy/rbac to this user")


def test_installing_crds_needs_its_own_role_and_says_so(bare: Cluster, home: str) -> None:
    said = told(bare, f"--namespace={home}", "--install-crds", user="user-02")

    assert 'cannot get resource "customresourcedefinitions"' in said
    assert said.endswith("bind the roles in deploy/rbac to this user")


def test_with_its_own_role_and_that_of_the_installer_it_installs_and_starts(
    bare: Cluster, home: str, log: Log
) -> None:
    documents = (*roles(home), *bound(rbac.crd_installer(home)))
    bare.kubectl("apply", "-f", "-", input=manifest(documents))
    flags = (f"--namespace={home}", "--install-crds")
    with operating(bare.kubeconfig_for("user-01"), log("one"), *flags):
        assert digests(crds()) == digests(held(bare))


def test_an_address_that_is_taken_is_told(bare: Cluster, home: str, log: Log) -> None:
    arguments = (f"--namespace={home}", "--install-crds")
    with operating(bare.kubeconfig, log("one"), *arguments) as operator:
        taken = operator.metrics_address
        [free] = free_addresses(1)
        ended = run(
            *("run", f"--kubeconfig={bare.kubeconfig}", f"--namespace={home}", "--log-level=error"),
            *(f"--metrics-bind-address={taken}", f"--health-probe-bind-address={free}"),
        )

    assert f"cannot listen on {taken}: address already in use" == complaint(ended)


def held(cluster: Cluster) -> list[dict[str, Any]]:
    """Our CRDs as the cluster has them."""
    names = [f"crd/{kind.resource.full_name}" for kind in KINDS]
    items: list[dict[str, Any]] = json.loads(cluster.kubectl("get", "-o=json", *names))["items"]
    return items


def grow_old(cluster: Cluster) -> None:
    """Make the CRD of Instances one of an earlier version, which had no columns."""
    name = f"crd/{KINDS[0].resource.full_name}"
    path = "/spec/versions/0/additionalPrinterColumns"
    patch = [
        {"op": "remove", "path": path},
        {"op": "remove", "path": "/metadata/annotations/gpustack.ai~1crd-digest"},
    ]
    cluster.kubectl("patch", name, "--type=json", f"--patch={json.dumps(patch)}")


def columns(definitions: Any) -> list[list[str]]:
    """The names of the columns that kubectl shows of each kind."""
    shown = (
        held["spec"]["versions"][0].get("additionalPrinterColumns", ()) for held in definitions
    )
    return [[column["name"] for column in each] for each in shown]


def digests(definitions: Any) -> list[str]:
    """Of which version each definition is."""
    return [
        held["metadata"]["annotations"].get("gpustack.ai/crd-digest", "") for held in definitions
    ]


def generation(cluster: Cluster) -> int:
    """How often the spec of the CRD of Instances was written."""
    return int(held(cluster)[0]["metadata"]["generation"])


def roles(home: str, *, without: str = "") -> list[dict[str, Any]]:
    """The operator's roles, bound to user-01, who gets nothing on the resource *without*."""
    documents = bound(rbac.operator(home))
    for document in documents:
        if "rules" in document:
            rules = document["rules"]
            document["rules"] = [rule for rule in rules if rule["resources"] != [without]]
    return documents


def bound(documents: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """*documents*, their roles bound to user-01."""
    user = [{"kind": "User", "name": "user-01"}]
    return [{**held, "subjects": user} if "subjects" in held else held for held in documents]
