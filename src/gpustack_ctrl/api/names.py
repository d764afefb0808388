"""Label and annotation keys, and the fixed names of objects: said once, here."""

from gpustack_ctrl.api.meta import Resource

PRODUCT = "gpustack-ctrl"
EXPORTER = f"{PRODUCT}-exporter"

# Labels of the children of an Instance.
PART_OF = "app.kubernetes.io/part-of"
TYPE = "resource.gpustack.ai/type"
INSTANCES = "instances"
SSH_PUBLIC_KEYS = "instancesshpublickeys"
QUEUE_NAME = "kueue.x-k8s.io/queue-name"
HOSTNAME = "kubernetes.io/hostname"

# Marks of the isolation policy.
MANAGED_BY = "resource.gpustack.ai/managed-by"
ISOLATION_POLICY = "gpustack-instance-isolation"
REPLACED_SPEC = "worker.gpustack.ai/replaced-spec"
REPLACED_MARK = "worker.gpustack.ai/replaced-mark"

# Annotations of the Pod and the Service.
INTENT = "worker.gpustack.ai/intent"
HOST_KEY = "worker.gpustack.ai/ssh-host-key"
PORTS = "worker.gpustack.ai/ports"
RESTARTED_AT = "worker.gpustack.ai/restarted-at"
CHARGE = "worker.gpustack.ai/charge"
DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"

MAIN = "main"
SSHD = "sshd"
SSH_PROGRAMS = "ssh-programs"
CONTAINER_MARK = "GPUSTACK_INSTANCE_CONTAINER"
FIELD_MANAGER = PRODUCT

# ClusterRoles of those who read metrics, and of those who ask whether somebody may.
METRICS_READER_ROLE = "gpustack-metrics-reader"
METRICS_GUARD_ROLE = "gpustack-metrics-guard"

HOST_KEY_SEED = "gpustack-ssh-host-key-seed"
AUTHORIZED_KEYS = "authorized_keys"
HOST_KEY_FILE = "ssh_host_ed25519_key"


def host_key_secret(instance_uid: str, mark: str) -> str:
    """The Secret that holds the host key of that *mark*: another key has another Secret."""
    return f"ssh-host-key-{instance_uid}-{mark}"


def authorized_keys(ssh_public_key: str) -> str:
    """The ConfigMap that an InstanceSSHPublicKey is rendered to."""
    return f"{ssh_public_key}.authorized-keys"


_WORKER = "worker.gpustack.ai"
INSTANCE = Resource(group=_WORKER, version="v1", kind="Instance", plural="instances")
INSTANCE_TYPE = Resource(
    group=_WORKER, version="v1", kind="InstanceType", plural="instancetypes", namespaced=False
)
SSH_PUBLIC_KEY = Resource(
    group=_WORKER, version="v1", kind="InstanceSSHPublicKey", plural="instancesshpublickeys"
)
SETTING = Resource(group="gpustack.ai", version="v1", kind="Setting", plural="settings")

POD = Resource(group="", version="v1", kind="Pod", plural="pods")
SERVICE = Resource(group="", version="v1", kind="Service", plural="services")
NODE = Resource(group="", version="v1", kind="Node", plural="nodes", namespaced=False)
NETWORK_POLICY = Resource(
    group="networking.k8s.io", version="v1", kind="NetworkPolicy", plural="networkpolicies"
)
SECRET = Resource(group="", version="v1", kind="Secret", plural="secrets")
CONFIG_MAP = Resource(group="", version="v1", kind="ConfigMap", plural="configmaps")
RUNTIME_CLASS = Resource(
    group="node.k8s.io", version="v1", kind="RuntimeClass", plural="runtimeclasses",
    namespaced=False,
)  # fmt: skip
EVENT = Resource(group="events.k8s.io", version="v1", kind="Event", plural="events")
LEASE = Resource(group="coordination.k8s.io", version="v1", kind="Lease", plural="leases")
CRD = Resource(
    group="apiextensions.k8s.io", version="v1", kind="CustomResourceDefinition",
    plural="customresourcedefinitions", namespaced=False,
)  # fmt: skip
TOKEN_REVIEW = Resource(
    group="authentication.k8s.io", version="v1", kind="TokenReview", plural="tokenreviews",
    namespaced=False,
)  # fmt: skip
SUBJECT_ACCESS_REVIEW = Resource(
    group="authorization.k8s.io", version="v1", kind="SubjectAccessReview",
    plural="subjectaccessreviews", namespaced=False,
)  # fmt: skip
