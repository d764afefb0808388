"""Alerts about Instances that are about to hit a limit."""

from monitoring import recording as r
from monitoring import thresholds
from monitoring.alerts.instances import WHO
from monitoring.rules import Alert, Group, Severity

_SHARE = "{{ $value | humanizePercentage }}"

MEMORY = Alert(
    name="GpustackInstanceMemoryNearLimit",
    expr=f"{r.MEMORY_RATIO} > {thresholds.MEMORY_RATIO}",
    wait="15m",
    severity=Severity.WARNING,
    summary=f"{WHO} uses {_SHARE} of the memory that it may",
    description=(
        "Above its limit the workload is killed, and what it had in memory is lost. Its user"
        " should save, and ask for more memory at the next start."
    ),
)
STORAGE = Alert(
    name="GpustackInstanceStorageNearLimit",
    expr=f"{r.STORAGE_RATIO} > {thresholds.STORAGE_RATIO}",
    wait="5m",
    severity=Severity.WARNING,
    summary=f"{WHO} has filled {_SHARE} of its local storage",
    description=(
        "Above its limit the Pod is evicted, and everything outside persistent volumes is lost."
        " Its user should remove or move files now."
    ),
)
VOLUME = Alert(
    name="GpustackInstanceVolumeNearlyFull",
    expr=f"{r.VOLUME_RATIO} > {thresholds.VOLUME_RATIO}",
    wait="10m",
    severity=Severity.WARNING,
    summary=f"Volume {{{{ $labels.volume }}}} of {WHO} is filled to {_SHARE}",
    description=(
        "Writes will fail. Its user should remove files; a persistent volume may be expanded if"
        " its StorageClass allows it."
    ),
)

GROUP = Group(name="gpustack-limits", rules=(MEMORY, STORAGE, VOLUME))
