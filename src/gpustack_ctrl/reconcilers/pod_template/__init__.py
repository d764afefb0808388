"""The Pod that an Instance should have: rendered from what was seen, and from nothing else."""

from gpustack_ctrl.reconcilers.pod_template.grants import Resources, resources
from gpustack_ctrl.reconcilers.pod_template.template import rendered

__all__ = ["Resources", "rendered", "resources"]
