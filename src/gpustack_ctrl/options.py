"""What the process was told: flags and environment variables, read once."""

import attrs


@attrs.frozen(kw_only=True)
class CommonOptions:
    """The options of every long-running command; "" means "as usual"."""

    kubeconfig: str = ""
    context: str = ""
    namespace: str = "gpustack-system"
    metrics_bind_address: str = ":8080"
    metrics_protection: bool = False
    tls_cert_file: str = ""
    tls_key_file: str = ""
    health_probe_bind_address: str = ":8081"
    log_level: str = "info"
    log_format: str = "auto"


@attrs.frozen(kw_only=True)
class Options(CommonOptions):
    """The options of `gpustack-ctrl run`."""

    leader_elect: bool = False
    install_crds: bool = False
    workers: int = 8
    instance_metrics: bool = True


@attrs.frozen(kw_only=True)
class ExporterOptions(CommonOptions):
    """The options of `gpustack-ctrl exporter`."""

    node_name: str = ""
    period_seconds: int = 15
    requests_in_flight: int = 16
    request_seconds: int = 10
    kubelet_insecure_tls: bool = False
    reference_metrics: bool = True
    accelerator_sources: str = ""
    accelerator_mapping: str = ""
    pod_resources_socket: str = ""
