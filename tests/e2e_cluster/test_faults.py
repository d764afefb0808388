"""Each fault, on the real thing."""

from collections.abc import Iterator

import pytest

from e2e.cluster import Cluster, ClusterError, Fault, until
from e2e.cluster.faults import LABEL
from tests.e2e_cluster.bench import Bench, condition, container_status, ready, waiting_reason


@pytest.fixture
def bench(cluster: Cluster, namespace: str) -> Iterator[Bench]:
    node = f"{namespace}-node"
    cluster.add_node(node, schedulable=False)
    yield Bench(cluster=cluster, namespace=namespace, node=node)
    cluster.remove_node(node)


def test_without_a_fault_a_pod_runs_and_is_gone_when_deleted(bench: Bench) -> None:
    bench.run()

    pod = bench.wait(ready)

    assert "Running" == pod["status"]["phase"]
    assert pod["status"]["podIP"].startswith("10.244.")
    assert pod["status"]["hostIP"].startswith("192.0.2.")
    assert {"running"} == set(container_status(pod)["state"])
    assert container_status(pod)["started"] is True

    bench.delete()
    bench.wait_gone()


def test_a_finalizer_keeps_a_pod_until_it_is_removed(bench: Bench) -> None:
    bench.run(finalizers=("test.example/hold",))
    bench.wait(ready)
    bench.delete()

    pod = bench.wait(lambda pod: pod["metadata"].get("deletionGracePeriodSeconds") == 0)

    assert ["test.example/hold"] == pod["metadata"]["finalizers"]

    path = f"/api/v1/namespaces/{bench.namespace}/pods/main"
    bench.cluster.api().patch(path, {"metadata": {"finalizers": None}})
    bench.wait_gone()


def test_slow_image_pull_shows_container_creating_before_it_is_ready(bench: Bench) -> None:
    bench.cluster.set_fault(bench.node, Fault.SLOW_IMAGE_PULL.lasting("2s"))
    bench.run()

    pulling = bench.wait(lambda pod: waiting_reason(pod) is not None)

    assert "ContainerCreating" == waiting_reason(pulling)
    assert "Pending" == pulling["status"]["phase"]
    assert "False" == condition(pulling, "Ready")

    running = bench.wait(ready)

    assert pulling["status"]["startTime"] == running["status"]["startTime"]
    assert {"running"} == set(container_status(running)["state"])


def test_image_pull_back_off_names_the_image_and_stays(bench: Bench) -> None:
    bench.cluster.set_fault(bench.node, Fault.IMAGE_PULL_BACK_OFF)
    bench.run()

    pod = bench.wait(lambda pod: waiting_reason(pod) == "ImagePullBackOff")

    assert "registry.example/main:1" in container_status(pod)["state"]["waiting"]["message"]
    assert "Pending" == pod["status"]["phase"]

    until(lambda: {"Pulling", "Failed"} <= bench.reasons(), "the Pod has no events")
    bench.delete()
    bench.wait_gone()


def test_crash_loop_back_off_restarts_with_the_last_exit_code(bench: Bench) -> None:
    bench.cluster.set_fault(bench.node, Fault.CRASH_LOOP_BACK_OFF)
    bench.run()

    first = bench.wait(lambda pod: waiting_reason(pod) == "CrashLoopBackOff")
    later = bench.wait(
        lambda pod: (
            waiting_reason(pod) == "CrashLoopBackOff" and container_status(pod)["restartCount"] >= 2
        )
    )

    assert 0 == container_status(first)["restartCount"]
    assert 1 == container_status(first)["lastState"]["terminated"]["exitCode"]
    assert 1 == container_status(later)["lastState"]["terminated"]["exitCode"]
    assert "Running" == later["status"]["phase"]
    assert "False" == condition(later, "Ready")


def test_unexpected_admission_error_fails_the_pod_before_any_container(bench: Bench) -> None:
    bench.cluster.set_fault(bench.node, Fault.UNEXPECTED_ADMISSION_ERROR)
    bench.run()

    pod = bench.wait(lambda pod: pod["status"]["phase"] == "Failed")

    assert "UnexpectedAdmissionError" == pod["status"]["reason"]
    assert pod["status"]["message"].startswith("Pod was rejected: Allocate failed")
    assert "containerStatuses" not in pod["status"]


def test_eviction_fails_a_pod_that_was_ready(bench: Bench) -> None:
    bench.cluster.set_fault(bench.node, Fault.EVICTION)
    bench.run()
    bench.wait(ready)

    pod = bench.wait(lambda pod: pod["status"]["phase"] == "Failed")

    assert "Evicted" == pod["status"]["reason"]
    assert "True" == condition(pod, "DisruptionTarget")
    assert 137 == container_status(pod)["state"]["terminated"]["exitCode"]


def test_slow_termination_uses_the_whole_grace_period(bench: Bench) -> None:
    bench.cluster.set_fault(bench.node, Fault.SLOW_TERMINATION)
    bench.run()
    bench.wait(ready)
    bench.delete()

    pod = bench.wait(lambda pod: "deletionTimestamp" in pod["metadata"])

    assert 2 == pod["metadata"]["deletionGracePeriodSeconds"]
    assert ready(pod)

    bench.wait_gone()


def test_a_fault_that_is_lifted_spares_new_pods(bench: Bench) -> None:
    bench.cluster.set_fault(bench.node, Fault.IMAGE_PULL_BACK_OFF)
    bench.cluster.set_fault(bench.node, None)
    bench.run()

    pod = bench.wait(ready)

    assert "Running" == pod["status"]["phase"]


def test_a_pod_may_carry_a_fault_itself_until_its_label_is_removed(bench: Bench) -> None:
    bench.run(labels={LABEL: Fault.IMAGE_PULL_BACK_OFF})
    bench.wait(lambda pod: waiting_reason(pod) == "ImagePullBackOff")

    bench.relabel({LABEL: None})

    bench.wait(ready)


def test_a_running_pod_can_be_evicted_by_its_label(bench: Bench) -> None:
    bench.run()
    bench.wait(ready)

    bench.relabel({LABEL: Fault.EVICTION.lasting("10ms")})

    pod = bench.wait(lambda pod: pod["status"]["phase"] == "Failed")
    assert "Evicted" == pod["status"]["reason"]


def test_a_lost_node_leaves_its_pods_terminating_until_it_recovers(bench: Bench) -> None:
    bench.run()
    bench.wait(ready)

    bench.cluster.lose_node(bench.node)

    lost = bench.wait(lambda pod: not ready(pod))
    assert "Running" == lost["status"]["phase"]

    until(lambda: "NoExecute" in taints(bench, bench.node), "the node is not tainted", seconds=30)
    bench.delete()
    bench.run("other")  # What comes later is not handled either: the kubelet is silent.
    bench.cluster.add_node(f"{bench.node}-2", schedulable=False)

    stuck = bench.pod()
    other = bench.pod("other")
    assert stuck is not None
    assert "deletionTimestamp" in stuck["metadata"]
    assert other is not None
    assert "Pending" == other["status"]["phase"]

    bench.cluster.recover_node(bench.node)
    bench.cluster.remove_node(f"{bench.node}-2")

    bench.wait_gone()


def taints(bench: Bench, node: str) -> set[str]:
    spec = bench.cluster.api().get(f"/api/v1/nodes/{node}")["spec"]
    return {taint["effect"] for taint in spec.get("taints", ())}


def test_an_unknown_fault_is_refused_with_those_there_are(cluster: Cluster) -> None:
    with pytest.raises(ClusterError, match="fault 'flood' is unknown: use one of slow-image-pull"):
        cluster.set_fault("node-0", "flood")


def test_a_fault_without_duration_refuses_one() -> None:
    with pytest.raises(ClusterError, match="crash-loop-back-off has no duration"):
        Fault.CRASH_LOOP_BACK_OFF.lasting("2s")
