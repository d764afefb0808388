"""What the process was told: flags and environment variables, read once."""

import attrs


@attrs.frozen(kw_only=True)
class Options:
    """The options of `gpustack-ctrl run`; "" means "as usual"."""

    kubeconfig: str = ""
    context: str = ""
    namespace: str = "gpustack-system"
    metrics_bind_address: str = ":8080"
    health_probe_bind_address: str = ":8081"
    leader_elect: bool = False
    log_level: str = "info"
    log_format: str = "auto"
    install_crds: bool = False
    workers: int = 8
