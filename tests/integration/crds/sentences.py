"""What the API server says where several cases break one rule."""

TWO_FAMILIES = (
    "spec.resources: Invalid value: ask for one kind of accelerator only: shared, sliced or "
    "partitioned"
)
NO_SLICE = (
    "spec.resources.acceleratorSlicedCoresPercentage: Invalid value: "
    "acceleratorSlicedCoresPercentage needs acceleratorSlicedMemoryPercentage or "
    "acceleratorSlicedMemoryMiB beside it"
)
ONE_CARD = (
    "spec.resources.accelerator: Invalid value: a slice or partition is of one card: leave "
    "accelerator out or set it to 1"
)
ENV_SOURCES = (
    "spec.env[0].valueFrom: Invalid value: valueFrom needs exactly one of configMapKeyRef, "
    "secretKeyRef, fieldRef and resourceFieldRef"
)
RESERVED = (
    "spec.env[0].name: Invalid value: variables that open devices or logins are set by the "
    "operator alone: ask for a card in spec.resources and remove this one"
)
ENV_FROM = (
    "spec.envFrom[0]: Invalid value: an entry of envFrom needs exactly one of configMapRef and "
    "secretRef"
)
ONE_VOLUME = "spec.volume: Invalid value: volume needs exactly one of ephemeral and persistent"
ONE_SOURCE = (
    "spec.additionalVolumes[0]: Invalid value: an additional volume needs exactly one of "
    "persistent, configMap, secret and hostPath"
)
