"""The variables that dashboards of Instances share, and the matchers that stand for them."""

from gpustack_ctrl.metering import families as f
from monitoring.dashboards.board import Variable, choice
from monitoring.recording import INFO

NAMESPACES = 'namespace=~"$namespace"'
OF_NAMESPACES = f"{{{NAMESPACES}}}"
OF_INSTANCE = f'{{{NAMESPACES}, instance_name=~"$instance"}}'
EXPORTERS = 'job=~"$job"'


def namespace() -> Variable:
    """Namespaces that hold Instances."""
    return choice("namespace", "Namespace", f"label_values({INFO}, namespace)")


def instance(*, several: bool = True) -> Variable:
    """Instances of the chosen namespaces."""
    query = f"label_values({INFO}{OF_NAMESPACES}, instance_name)"
    return choice("instance", "Instance", query, several=several)


def exporter_job() -> Variable:
    """Jobs that Prometheus gets figures of Instances by."""
    return choice("job", "Job", f"label_values({f.COLLECTOR_SUCCESS.name}, job)")
