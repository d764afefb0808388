"""What a platform team tunes: edit, then `make gen`. Durations are Prometheus's own."""

OPERATOR_JOB = "(.+/)?gpustack-ctrl(-metrics)?"
"""The label `job` of the operator: by name, by the Service or by the PodMonitor of the chart."""
EXPORTER_JOB = "(.+/)?gpustack-ctrl-exporter"
"""The same of the exporter."""

WATCH_SILENCE_SECONDS = 300
"""The API server sends a bookmark each minute or so, even where nothing happens."""
FAILED_PASSES_RATIO = 0.1
FAILED_REQUESTS_RATIO = 0.1
QUEUE_WAIT_SECONDS = 30
"""How long the slowest twentieth of keys may wait for a worker."""
LOOP_LAG_SECONDS = 1

NOT_READY = "15m"
QUEUED = "1h"
START_FAILURES = 5
"""Instances held back at one gate for one reason, at once."""
CRASHES = 3
"""Restarts of a workload within CRASHES_WITHIN."""
CRASHES_WITHIN = "30m"
OUT_OF_MEMORY_SECONDS = 900
"""For how long a workload that was killed for its memory is told."""

IDLE_RATIO = 0.05
"""Below this use of its cores, an accelerator counts as idle."""
IDLE_HOURS = 4
FIGURES_LOST_WITHIN = "1h"
"""Figures of an accelerator that were there in this time, and are gone, are lost."""

MEMORY_RATIO = 0.9
STORAGE_RATIO = 0.85
"""Above its limit a Pod is evicted, and what it wrote is lost."""
VOLUME_RATIO = 0.9
