"""What a person types for what the demo does itself: one source for the demo and the tutorial."""

import shlex
from pathlib import Path

from e2e.cluster import Fleet
from e2e.demo.script import Person

FLEET = Fleet(nodes=1, gpus=8, manufacturer="nvidia")


def start_cluster(directory: Path) -> str:
    """Start the cluster of the demo in *directory*."""
    return (
        f"python -m e2e.cluster up --dir {directory}"
        f" --nodes {FLEET.nodes} --gpus {FLEET.gpus} --manufacturer {FLEET.manufacturer}"
    )


def end_cluster(directory: Path) -> str:
    """End it again."""
    return f"python -m e2e.cluster down --dir {directory}"


def become(person: Person, directory: Path) -> str:
    """Let a shell be *person*'s, at the cluster in *directory*."""
    return f"export KUBECONFIG={directory}/users/{person.user} PATH={directory}/bin:$PATH"


def operator_arguments(kubeconfig: Path, *, metrics: str, probes: str) -> tuple[str, ...]:
    """The arguments of the operator; *metrics* and *probes* are where it listens."""
    return (
        "run",
        f"--kubeconfig={kubeconfig}",
        "--install-crds",
        f"--metrics-bind-address={metrics}",
        f"--health-probe-bind-address={probes}",
    )


def start_operator(arguments: tuple[str, ...]) -> str:
    """Start the operator with *arguments*."""
    return shlex.join(("gpustack-ctrl", *arguments))
