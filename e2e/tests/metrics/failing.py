"""Kubelets that cannot be read, and rights that are not there, for a while."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from e2e.node import RealNode

Rule = Mapping[str, Any]
_ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"


def without(node: RealNode, role: str, *resources: str) -> AbstractContextManager[None]:
    """Take *resources* out of a ClusterRole, for the length of the block."""
    gone = set(resources)
    return _changed(node, role, lambda rule: None if gone & set(rule["resources"]) else rule)


def unable(node: RealNode, role: str, verb: str, resource: str) -> AbstractContextManager[None]:
    """Take one verb of a resource out of a ClusterRole, for the length of the block."""

    def less(rule: Rule) -> Rule:
        left = [one for one in rule["verbs"] if one != verb]
        return {**rule, "verbs": left} if resource in rule["resources"] else rule

    return _changed(node, role, less)


@contextmanager
def _changed(node: RealNode, role: str, change: Callable[[Rule], Rule | None]) -> Iterator[None]:
    path = f"{_ROLES}/{role}"
    rules = node.api().get(path)["rules"]
    changed = [rule for rule in map(change, rules) if rule]
    assert changed != rules
    node.api().patch(path, {"rules": changed})
    try:
        yield
    finally:
        node.api().patch(path, {"rules": rules})


@contextmanager
def hanging(node: RealNode) -> Iterator[None]:
    """Have a kubelet that takes connections and answers nothing, for the length of the block."""
    process = node.box.process("kubelet")
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


@contextmanager
def away(node: RealNode) -> Iterator[None]:
    """Have no kubelet, for the length of the block."""
    node.stop("kubelet")
    try:
        yield
    finally:
        node.restart_kubelet()
