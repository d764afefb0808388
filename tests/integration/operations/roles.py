"""The operator's generated roles, bound to a user or ServiceAccount of one test."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from e2e.cluster import Cluster
from gpustack_ctrl.gen import rbac
from gpustack_ctrl.gen.text import manifest

Manifest = dict[str, Any]
Rule = Mapping[str, Any]


def user(name: str) -> Manifest:
    """A user, as the subject of a binding."""
    return {"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}


@contextmanager
def granted(
    cluster: Cluster,
    home: str,
    subject: Manifest,
    *,
    keep: Callable[[Rule], Rule | None] = lambda rule: rule,
) -> Iterator[str]:
    """Grant *subject* what the operator needs, with its own namespace *home*, for the block.

    The roles have a name of their own, which is returned. Each rule is what *keep* makes
    of it, or left out.
    """
    documents = [_of_test(document, home, subject, keep) for document in rbac.operator(home)]
    text = manifest(documents)
    cluster.kubectl("apply", "-f", "-", input=text)
    try:
        yield home
    finally:
        cluster.kubectl("delete", "--wait=false", "-f", "-", input=text)


def _of_test(
    document: Manifest, home: str, subject: Manifest, keep: Callable[[Rule], Rule | None]
) -> Manifest:
    made = {**document, "metadata": {**document["metadata"], "name": home}}
    if "rules" in made:
        kept = (keep(rule) for rule in made["rules"])
        return {**made, "rules": [rule for rule in kept if rule is not None]}
    return {**made, "roleRef": {**made["roleRef"], "name": home}, "subjects": [subject]}


def without(verb: str, resource: str) -> Callable[[Rule], Rule | None]:
    """What is left of a rule that may not have *verb* on *resource*."""

    def keep(rule: Rule) -> Rule | None:
        if resource not in rule["resources"] or verb not in rule["verbs"]:
            return rule
        verbs = [held for held in rule["verbs"] if held != verb]
        return {**rule, "verbs": verbs} if verbs else None

    return keep
