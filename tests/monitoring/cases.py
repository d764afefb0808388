"""For each alert: series that make it fire, and series that are near it and do not."""

from collections.abc import Mapping

import attrs

from monitoring.alerts import accelerators, exporter, instances, limits, operator
from monitoring.rules import Alert

Series = Mapping[str, str]
"""Values by series, one a minute, in the notation of promtool."""
OPERATOR, EXPORTER = 'job="gpustack-ctrl"', 'job="gpustack-ctrl-exporter"'
BOX = {"namespace": "red", "instance_name": "box", "instance_uid": "u1"}


@attrs.frozen(kw_only=True)
class Case:
    """*series* make *alert* fire by *at*, once, with *labels* and *summary*; *quiet* do not."""

    alert: Alert
    series: Series
    at: str
    labels: Mapping[str, str]
    summary: str
    quiet: Series
    quiet_at: str | None = None


def box(number: int = 1, /, **more: str) -> str:
    """What names an Instance, and *more*, as matchers."""
    held = {**BOX, "instance_uid": f"u{number}", **more}
    return ", ".join(f'{name}="{value}"' for name, value in held.items())


def told(family: str, number: int = 1, /, **more: str) -> str:
    """The series of *family* of an Instance, as the operator tells it."""
    return f"gpustack_instance_{family}{{{OPERATOR}, {box(number, **more)}}}"


def card(family: str, number: int = 1) -> str:
    """The series of *family* of an accelerator, as the exporter tells it."""
    device = {"node": "n1", "id": "GPU-1", "index": "0", "manufacturer": "nvidia"}
    labels = box(number, **device, mode="Exclusive")
    return f"gpustack_instance_accelerator_{family}{{{EXPORTER}, {labels}}}"


def by(job: str, family: str, **labels: str) -> str:
    """The series of *family* that *job* tells of itself, with *labels*."""
    held = "".join(f', {name}="{value}"' for name, value in labels.items())
    return f"{family}{{{job}{held}}}"


def passes(result: str) -> str:
    """The series of passes that ended so."""
    family = "controller_runtime_reconcile_total"
    return by(OPERATOR, family, controller="instance", result=result)


def waits(le: str) -> str:
    """The series of keys that waited so long at most."""
    return by(OPERATOR, "workqueue_queue_duration_seconds_bucket", name="instance", le=le)


def read(node: str, source: str) -> str:
    """The series of how reading *source* of *node* went."""
    family = "gpustack_instance_metrics_collector_success"
    return by(EXPORTER, family, node=node, source=source)


def held_back(number: int = 1) -> Series:
    """An Instance whose image cannot be pulled."""
    why = {"gate": "image", "reason": "ImagePullBackOff", "owner": "user"}
    return {
        told("ready", number): "0x90",
        told("phase", number, phase="Starting"): "1x90",
        told("blocked", number, **why): "1x90",
    }


def several(count: int) -> Series:
    """So many Instances whose images cannot be pulled."""
    found: dict[str, str] = {}
    for number in range(count):
        found |= held_back(number)
    return found


def node(answers: str) -> Series:
    """An Instance on a node whose kubelet *answers*, or does not."""
    where = {"node": "n1", "type": "h100", "image": "i", "image_digest": ""}
    return {told("info", **where): "1x40", read("n1", "kubelet"): answers}


IMAGE = {"gate": "image", "reason": "ImagePullBackOff", "owner": "user"}

CASES = (
    Case(
        alert=operator.DOWN,
        series={'up{job="other", instance="a"}': "1x20"},
        at="6m",
        labels={},
        summary="No operator answers Prometheus",
        quiet={
            by(OPERATOR, "up", instance="a"): "0x20",
            by(OPERATOR, "up", instance="b"): "1x20",
        },
    ),
    Case(
        alert=operator.NO_LEADER,
        series={
            by(OPERATOR, "leader_election_master_status", instance="a", name="lease"): "0x20",
            by(OPERATOR, "leader_election_master_status", instance="b", name="lease"): "1x2 0x20",
        },
        at="10m",
        labels={"name": "lease"},
        summary="No operator holds the lease lease",
        quiet={
            by(OPERATOR, "leader_election_master_status", instance="a", name="lease"): "0x20",
            by(OPERATOR, "leader_election_master_status", instance="b", name="lease"): "1x20",
        },
    ),
    Case(
        alert=operator.WATCH_STALE,
        series={by(OPERATOR, "informer_silence_seconds", instance="a", resource="pods"): "400x20"},
        at="10m",
        labels={"job": "gpustack-ctrl", "instance": "a", "resource": "pods"},
        summary="a has not heard of pods for 6m 40s",
        quiet={
            by(OPERATOR, "informer_silence_seconds", instance="a", resource="pods"): "60x20",
            by(OPERATOR, "informer_silence_seconds", instance="b", resource="pods"): "NaN " * 20,
        },
    ),
    Case(
        alert=operator.RECONCILE_ERRORS,
        series={
            by(OPERATOR, "controller_runtime_reconcile_errors_total", controller="instance"): (
                "0+6x40"
            ),
            passes("error"): "0+6x40",
            passes("success"): "0+24x40",
        },
        at="30m",
        labels={"controller": "instance"},
        summary="20% of the passes of instance fail",
        quiet={
            by(OPERATOR, "controller_runtime_reconcile_errors_total", controller="instance"): (
                "0+1x40"
            ),
            passes("success"): "0+24x40",
        },
    ),
    Case(
        alert=operator.PANICS,
        series={
            by(OPERATOR, "controller_runtime_reconcile_panics_total", controller="setting"): (
                "0x5 1x30"
            )
        },
        at="9m",
        labels={"controller": "setting"},
        summary="A pass of setting failed in a way that nobody foresaw",
        quiet={
            by(OPERATOR, "controller_runtime_reconcile_panics_total", controller="setting"): (
                "3x40"
            )
        },
    ),
    Case(
        alert=operator.QUEUE_WAIT,
        series={
            waits("10"): "0x40",
            waits("60"): ("0+10x40"),
            waits("+Inf"): ("0+10x40"),
        },
        at="30m",
        labels={"name": "instance"},
        summary="Work of instance waits 57.5s for a worker",
        quiet={
            waits("10"): ("0+10x40"),
            waits("+Inf"): ("0+10x40"),
        },
    ),
    Case(
        alert=operator.REQUESTS,
        series={
            by(OPERATOR, "rest_client_requests_total", instance="a", code="503"): "0+1x40",
            by(OPERATOR, "rest_client_requests_total", instance="a", code="<error>"): "0+1x40",
            by(OPERATOR, "rest_client_requests_total", instance="a", code="200"): "0+8x40",
        },
        at="30m",
        labels={"job": "gpustack-ctrl", "instance": "a"},
        summary="20% of the requests of a to the API server fail",
        quiet={
            by(OPERATOR, "rest_client_requests_total", instance="a", code="409"): "0+4x40",
            by(OPERATOR, "rest_client_requests_total", instance="a", code="200"): "0+8x40",
        },
    ),
    Case(
        alert=operator.LOOP_LAG,
        series={by(EXPORTER, "event_loop_lag_seconds", instance="a"): "2x20"},
        at="12m",
        labels={"job": "gpustack-ctrl-exporter", "instance": "a"},
        summary="a is 2s late with everything",
        quiet={by(EXPORTER, "event_loop_lag_seconds", instance="a"): "0.1x5 2 0.1x20"},
    ),
    Case(
        alert=instances.NOT_READY,
        series=held_back(),
        at="20m",
        labels={**BOX, **IMAGE},
        summary="red/box is not Ready for 15m: ImagePullBackOff",
        quiet={
            # Stopped; made ten minutes ago; Ready five minutes ago; stopped for a while.
            told("ready", 1): "0x40",
            told("phase", 1, phase="Stopped"): "1x40",
            told("ready", 2): "_x10 0x40",
            told("phase", 2, phase="Pending"): "_x10 1x40",
            told("ready", 3): "1x15 0x40",
            told("phase", 3, phase="Starting"): "1x40",
            told("ready", 4): "0x40",
            told("phase", 4, phase="Stopped"): "0x8 1x2 0x40",
            told("phase", 5, phase="Queued"): "1x40",
            told("ready", 5): "0x40",
        },
        quiet_at="20m",
    ),
    Case(
        alert=instances.START_FAILURES,
        series=several(5),
        at="15m",
        labels=IMAGE,
        summary="5 Instances are held back by image: ImagePullBackOff",
        quiet=several(4),
    ),
    Case(
        alert=instances.QUEUED,
        series={told("phase", phase="Queued"): "1x90"},
        at="65m",
        labels={**BOX, "phase": "Queued"},
        summary="red/box waits in its queue for 1h",
        quiet={
            told("phase", phase="Queued"): "1x30 0x60",
            told("phase", phase="Ready"): "0x30 1x60",
        },
    ),
    Case(
        alert=instances.PORTS,
        series={told("blocked", gate="ports", reason="NodePortsExhausted", owner="admin"): "1x20"},
        at="5m",
        labels={"reason": "NodePortsExhausted"},
        summary="No node port is left in the cluster; Instances that wait for one: 1",
        quiet={told("blocked", gate="ports", reason="NodePortTaken", owner="user"): "1x20"},
    ),
    Case(
        alert=instances.ISOLATION,
        series={told("isolated"): "0x20", told("start_time_seconds"): "0x20"},
        at="10m",
        labels=BOX,
        summary="red/box runs, and is not isolated as the Setting asks",
        quiet={
            told("isolated", 1): "1x20",
            told("start_time_seconds", 1): "0x20",
            told("isolated", 2): "0x20",  # It has no Pod: that is how isolation fails closed.
        },
    ),
    Case(
        alert=instances.CRASH_LOOP,
        series={told("restarts_total"): "0+1x60"},
        at="40m",
        labels=BOX,
        summary="The workload of red/box starts again and again",
        quiet={told("restarts_total"): "0x20 1x10 2x30"},
    ),
    Case(
        alert=instances.OUT_OF_MEMORY,
        series={
            told("last_termination_timestamp_seconds", reason="OOMKilled"): "_x10 600x60",
        },
        at="15m",
        labels=BOX,
        summary="The workload of red/box was killed because it used more memory than it may",
        quiet={
            told("last_termination_timestamp_seconds", 1, reason="OOMKilled"): "600x60",
            told("last_termination_timestamp_seconds", 2, reason="Error"): "2300x60",
        },
        quiet_at="40m",
    ),
    Case(
        alert=limits.MEMORY,
        series={
            told("memory_working_set_bytes", node="n1"): "95x40",
            told("memory_limit_bytes"): "100x40",
        },
        at="20m",
        labels=BOX,
        summary="red/box uses 95% of the memory that it may",
        quiet={
            told("memory_working_set_bytes", 1, node="n1"): "80x40",
            told("memory_limit_bytes", 1): "100x40",
            told("memory_working_set_bytes", 2, node="n1"): "95x40",  # Without a limit.
        },
    ),
    Case(
        alert=limits.STORAGE,
        series={
            told("ephemeral_storage_used_bytes", node="n1"): "90x40",
            told("ephemeral_storage_limit_bytes"): "100x40",
        },
        at="10m",
        labels=BOX,
        summary="red/box has filled 90% of its local storage",
        quiet={
            told("ephemeral_storage_used_bytes", node="n1"): "80x40",
            told("ephemeral_storage_limit_bytes"): "100x40",
        },
    ),
    Case(
        alert=limits.VOLUME,
        series={
            told("volume_used_bytes", node="n1", volume="data"): "95x40",
            told("volume_capacity_bytes", node="n1", volume="data"): "100x40",
            told("volume_used_bytes", node="n1", volume="home"): "5x40",
            told("volume_capacity_bytes", node="n1", volume="home"): "100x40",
        },
        at="15m",
        labels={**BOX, "volume": "data"},
        summary="Volume data of red/box is filled to 95%",
        quiet={
            told("volume_used_bytes", node="n1", volume="data"): "85x40",
            told("volume_capacity_bytes", node="n1", volume="data"): "100x40",
        },
    ),
    Case(
        alert=accelerators.UNHEALTHY,
        series={card("unhealthy"): "1x20"},
        at="5m",
        labels={**BOX, "node": "n1", "id": "GPU-1", "manufacturer": "nvidia"},
        summary="Accelerator GPU-1 on n1, held by red/box, is ill",
        quiet={card("unhealthy"): "0x20"},
    ),
    Case(
        alert=accelerators.LOST,
        series={card("utilization_ratio"): "0.5x10 _x50", told("ready"): "1x60"},
        at="40m",
        labels=BOX,
        summary="The accelerators of red/box are not measured any more",
        quiet={
            # Stopped; still measured; never measured.
            card("utilization_ratio", 1): "0.5x10 _x50",
            told("ready", 1): "1x10 0x50",
            card("utilization_ratio", 2): "0.5x60",
            told("ready", 2): "1x60",
            told("ready", 3): "1x60",
        },
    ),
    Case(
        alert=accelerators.IDLE,
        series={card("utilization_ratio"): "0.01x300", told("start_time_seconds"): "0x300"},
        at="260m",
        labels=BOX,
        summary="red/box has left its accelerators idle for 4 hours",
        quiet={
            # Busy for a minute; started two hours ago; not measured; measured since now.
            card("utilization_ratio", 1): "0.01x200 0.9 0.01x100",
            told("start_time_seconds", 1): "0x300",
            card("utilization_ratio", 2): "0.01x300",
            told("start_time_seconds", 2): "8400x300",
            told("start_time_seconds", 3): "0x300",
            card("utilization_ratio", 4): "_x200 0.01x100",
            told("start_time_seconds", 4): "0x300",
        },
    ),
    Case(
        alert=exporter.DOWN,
        series={by(EXPORTER, "up", instance="a"): "0x20"},
        at="6m",
        labels={"job": "gpustack-ctrl-exporter", "instance": "a"},
        summary="Exporter a does not answer Prometheus",
        quiet={by(EXPORTER, "up", instance="a"): "1x20"},
    ),
    Case(
        alert=exporter.DOWN,
        series={by(OPERATOR, "up", instance="a"): "1x20"},
        at="6m",
        labels={},
        summary="No exporter is scraped",
        quiet={by(EXPORTER, "up", instance="a"): "1x5 0 1x20"},
    ),
    Case(
        alert=exporter.BLIND,
        series={
            read("n1", "dcgm"): "0x20",
            read("n2", "dcgm"): "1x20",
        },
        at="12m",
        labels={"node": "n1", "source": "dcgm"},
        summary="dcgm of node n1 cannot be read",
        quiet={
            read("n1", "dcgm"): "1x5 0x4 1x20",
        },
    ),
    Case(
        alert=exporter.NODE_LOST,
        series={
            **node("1x2 0x40"),
            told("ready"): "0x40",
            told("phase", phase="Unknown"): "1x40",
        },
        at="10m",
        labels={"node": "n1"},
        summary="Node n1 does not answer; Instances on it that are down: 1",
        quiet={
            # The kubelet does not answer us, and the Instance is well.
            **node("0x40"),
            told("ready"): "1x40",
            told("phase", phase="Ready"): "1x40",
        },
    ),
)
