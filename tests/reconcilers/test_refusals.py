"""T3: the API server's own sentence is told, under the gate that it speaks of."""

import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.errors import (
    AlreadyExistsError,
    ApiError,
    ConflictError,
    ForbiddenError,
    GoneError,
    InvalidError,
    NotFoundError,
    ServerError,
    ThrottledError,
    UnauthorizedError,
    UnreachableError,
)
from gpustack_ctrl.plan.actions import Refused, create
from gpustack_ctrl.reconcilers.status.refusals import blocker_of
from gpustack_ctrl.reconcilers.status.summary import status
from tests.helpers.builders import instance, meta, pod_of, seen

POD = create(names.POD, meta(), {})
SERVICE = create(names.SERVICE, meta(), {})

SENTENCES: dict[str, tuple[ApiError, tuple[str, str, str]]] = {
    "quota": (
        ForbiddenError(
            'pods "box" is forbidden: exceeded quota: small, requested: requests.nvidia.com/gpu=1, '
            "used: requests.nvidia.com/gpu=1, limited: requests.nvidia.com/gpu=1"
        ),
        ("quota", "QuotaExceeded", "admin"),
    ),
    "pod security": (
        ForbiddenError(
            'pods "box" is forbidden: violates PodSecurity "restricted:latest": '
            "allowPrivilegeEscalation != false"
        ),
        ("podSecurity", "PodSecurityViolation", "admin"),
    ),
    "limit range": (
        ForbiddenError(
            'pods "box" is forbidden: maximum cpu usage per Container is 1, but limit is 2'
        ),
        ("limitRange", "LimitRangeViolation", "user"),
    ),
    "limit range of a Pod": (
        ForbiddenError('pods "box" is forbidden: maximum memory usage per Pod is 1Gi'),
        ("limitRange", "LimitRangeViolation", "user"),
    ),
    "terminating namespace": (
        ForbiddenError(
            'pods "box" is forbidden: unable to create new content in namespace team because it '
            "is being terminated"
        ),
        ("namespace", "NamespaceTerminating", "user"),
    ),
    "role": (
        ForbiddenError(
            'pods is forbidden: User "system:serviceaccount:gpustack-system:gpustack-ctrl" cannot '
            'create resource "pods" in API group "" in the namespace "team"'
        ),
        ("permission", "Forbidden", "admin"),
    ),
    "owner references": (
        ForbiddenError(
            'pods "box" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers '
            "to a resource you can't set finalizers on"
        ),
        ("permission", "Forbidden", "admin"),
    ),
    "node port": (
        InvalidError(
            'Service "box" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided '
            "port is already allocated"
        ),
        ("ports", "NodePortTaken", "user"),
    ),
    "a policy of the cluster": (
        InvalidError(
            'pods "box" is forbidden: ValidatingAdmissionPolicy \'images\' with binding \'all\' '
            "denied request: images from elsewhere cannot be used"
        ),
        ("admission", "PodRefused", "user"),
    ),
    "a webhook": (
        ForbiddenError('admission webhook "x.example" denied the request: no'),
        ("admission", "PodRefused", "user"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("error", "expected"), SENTENCES.values(), ids=SENTENCES)
def test_t3_a_refusal_is_told_under_its_gate_in_the_server_s_words(
    error: ApiError, expected: tuple[str, str, str]
) -> None:
    told = blocker_of([Refused(POD, error)])

    assert told is not None
    assert expected == (told.gate, told.reason, told.owner)
    assert error.message == told.message


@pytest.mark.parametrize(
    "kind",
    [
        AlreadyExistsError,
        ConflictError,
        GoneError,
        NotFoundError,
        ServerError,
        ThrottledError,
        UnauthorizedError,
        UnreachableError,
    ],
)
def test_what_passes_by_itself_is_not_told(kind: type[ApiError]) -> None:
    assert blocker_of([Refused(POD, kind("exceeded quota"))]) is None


def test_the_first_refusal_that_lasts_is_told() -> None:
    refusals = [
        Refused(SERVICE, ConflictError("changed")),
        Refused(SERVICE, InvalidError("no such type")),
        Refused(POD, ForbiddenError("exceeded quota")),
    ]

    told = blocker_of(refusals)

    assert told is not None
    assert "ServiceRefused" == told.reason


def test_nothing_refused_is_nothing_told() -> None:
    assert blocker_of([]) is None


@pytest.mark.parametrize("sentence", ["", "exceeded quota: "])
def test_a_long_sentence_is_cut_to_what_the_status_takes(sentence: str) -> None:
    told = blocker_of([Refused(POD, InvalidError(sentence + "x" * 9000))])

    assert told is not None
    assert 2048 == len(told.message)


@pytest.mark.parametrize(
    ("snapshot", "expected"),
    [
        (seen(instance()), "QuotaExceeded"),
        (seen(instance(), pod=pod_of(instance())), "QuotaExceeded"),
        (seen(instance(stop=True)), "QuotaExceeded"),
        (seen(instance(), type=None), "TypeNotFound"),
    ],
    ids=["no Pod", "a Ready Pod", "stopped", "a gate that is shut comes first"],
)
def test_t3_a_refused_write_shows_in_the_status(snapshot: object, expected: str) -> None:
    refused = Refused(POD, ForbiddenError("exceeded quota: small"))

    told = status(snapshot, [refused])  # type: ignore[arg-type]

    assert told.blocker is not None
    assert expected == told.blocker.reason
