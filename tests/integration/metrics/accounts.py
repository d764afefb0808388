"""ServiceAccounts of one test, with the generated roles, and the process as one of them."""

import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from e2e.cluster import Cluster
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.gen.text import manifest
from tests.integration.world import client_of

Manifest = Mapping[str, Any]


def add_account(cluster: Cluster, namespace: str, name: str) -> Path:
    """Make a ServiceAccount without any right; return its kubeconfig."""
    cluster.kubectl("create", "serviceaccount", name, f"--namespace={namespace}")
    return cluster.kubeconfig_for_service_account(namespace, name)


def token(cluster: Cluster, namespace: str, name: str) -> str:
    """A fresh token of a ServiceAccount."""
    return cluster.kubectl("create", "token", name, f"--namespace={namespace}").strip()


@contextmanager
def home_with(cluster: Cluster, roles: Callable[[str], Iterable[Manifest]]) -> Iterator[str]:
    """Have a namespace of the operator's own, with the *roles* in it in force."""
    name = f"operator-{secrets.token_hex(4)}"
    cluster.add_namespace(name)
    documents = tuple(roles(name))
    grant(cluster, name, documents)
    yield name
    revoke(cluster, name, documents)
    cluster.remove_namespace(name)


def grant(cluster: Cluster, namespace: str, documents: Iterable[Manifest]) -> None:
    """Put the generated *documents* in force; cluster-wide bindings are those of this test."""
    made = [_of_test(document, namespace) for document in documents]
    cluster.kubectl("apply", "-f", "-", input=manifest(made))


def revoke(cluster: Cluster, namespace: str, documents: Iterable[Manifest]) -> None:
    """Remove the cluster-wide bindings among the *documents*."""
    for document in documents:
        if document["kind"] == "ClusterRoleBinding":
            name = _of_test(document, namespace)["metadata"]["name"]
            cluster.kubectl("delete", "clusterrolebinding", name, "--ignore-not-found")


def _of_test(document: Manifest, namespace: str) -> Manifest:
    if document["kind"] != "ClusterRoleBinding":
        return document
    name = f"{namespace}-{document['metadata']['name']}"
    return {**document, "metadata": {"name": name}}


@asynccontextmanager
async def acting(kubeconfig: Path) -> AsyncIterator[Client]:
    """A client as the user of *kubeconfig*."""
    async with client_of(str(kubeconfig)) as client:
        yield client
