"""The kinds of the Prometheus operator, as far as the chart writes them.

They know the fields that stand here and no other, as those of the real ones are named: the
API server refuses what it does not know.
"""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
SWITCH: Schema = {"type": "boolean"}


def _object(**fields: Schema) -> Schema:
    return {"type": "object", "properties": fields}


def _each(item: Schema) -> Schema:
    return {"type": "array", "items": item}


_KEY = _object(name=TEXT, key=TEXT, optional=SWITCH)
_CERTIFICATE = _object(secret=_KEY, configMap=_KEY)
_SELECTOR = _object(matchLabels={"type": "object", "additionalProperties": TEXT})
_ENDPOINT = {
    "port": TEXT,
    "path": TEXT,
    "interval": {"type": "string", "pattern": "^(0|(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$"},
    "scheme": {"type": "string", "enum": ["http", "https"]},
    "honorLabels": SWITCH,
    "tlsConfig": _object(
        ca=_CERTIFICATE, cert=_CERTIFICATE, keySecret=_KEY, serverName=TEXT,
        insecureSkipVerify=SWITCH,
    ),
    "authorization": _object(type=TEXT, credentials=_KEY),
}  # fmt: skip
_RULE = _object(
    alert=TEXT,
    record=TEXT,
    expr={"x-kubernetes-int-or-string": True},
    keep_firing_for=TEXT,
    labels={"type": "object", "additionalProperties": TEXT},
    annotations={"type": "object", "additionalProperties": TEXT},
    **{"for": TEXT},
)
_KINDS = {
    "ServiceMonitor": _object(
        selector=_SELECTOR, endpoints=_each(_object(**_ENDPOINT, bearerTokenFile=TEXT))
    ),
    "PodMonitor": _object(selector=_SELECTOR, podMetricsEndpoints=_each(_object(**_ENDPOINT))),
    "PrometheusRule": _object(groups=_each(_object(name=TEXT, interval=TEXT, rules=_each(_RULE)))),
}


def monitoring_crds() -> tuple[dict[str, Any], ...]:
    """The definitions of these kinds."""
    return tuple(_crd(kind, spec) for kind, spec in _KINDS.items())


def _crd(kind: str, spec: Schema) -> dict[str, Any]:
    plural, group = f"{kind.lower()}s", "monitoring.coreos.com"
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _object(spec=spec)},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {
                "kind": kind,
                "plural": plural,
                "singular": kind.lower(),
                "listKind": f"{kind}List",
            },
            "scope": "Namespaced",
            "versions": [version],
        },
    }
