"""Isolation, edits by hand, and the end."""

from e2e.demo.checks import contains, differs, keeps, lists, same, tells
from e2e.demo.people import ADMIN, RED
from e2e.demo.script import Chapter, Fact, do, look

_POLICY = "networkpolicy gpustack-instance-isolation"
_POD_CIDR = "10.244.0.0/16"
_INGRESS = f"kubectl get {_POLICY} -o jsonpath='{{.spec.ingress}}{{\"\\n\"}}'"

SWITCHED_ON = Chapter(
    title="Isolation",
    says="One Setting shuts the namespaces off from each other, while everything runs.",
    steps=(
        do(
            ADMIN,
            "kubectl patch setting instance-isolation-pod-cidrs -n gpustack-system --type=merge"
            f""" -p '{{"spec":{{"value":"{_POD_CIDR}"}}}}'""",
        ),
        do(RED, "kubectl wait --for=condition=NetworkIsolated instance/notebook"),
        look(
            ADMIN,
            "kubectl get networkpolicies -A",
            Fact(
                "Every namespace with an Instance has the policy.", lists("team-blue", "team-red")
            ),
        ),
        look(
            RED,
            f"kubectl describe {_POLICY}",
            Fact(
                "Instances talk with their own namespace and with the world, not with other Pods.",
                contains("PodSelector: <none>", "CIDR: 0.0.0.0/0", f"Except: {_POD_CIDR}"),
            ),
            Fact("Names can still be looked up.", contains("To Port: 53/UDP", "To Port: 53/TCP")),
        ),
        look(
            RED,
            "kubectl get instances",
            Fact("The Instance runs on.", tells("notebook", PHASE="Ready")),
        ),
    ),
)

PUT_RIGHT = Chapter(
    title="Edits by hand",
    says="What the operator made is put right when somebody changes it.",
    steps=(
        look(
            RED,
            _INGRESS,
            Fact("The policy lets nobody in from other namespaces.", contains("except")),
            remembered="ingress",
        ),
        do(
            RED,
            f"""kubectl patch {_POLICY} --type=merge -p '{{"spec":{{"ingress":[{{}}]}}}}'""",
            Fact("Red opens the policy for everybody.", contains("patched")),
        ),
        look(RED, _INGRESS, Fact("The operator has closed it again.", same(since="ingress"))),
        look(RED, "kubectl get service notebook", remembered="service"),
        do(RED, "kubectl delete service notebook"),
        do(RED, "kubectl wait --for=create service/notebook"),
        look(
            RED,
            "kubectl get service notebook",
            Fact(
                "The Service is back: another one, as its address shows.",
                differs("notebook", "CLUSTER-IP", since="service"),
            ),
            Fact(
                "It has the node ports of the one that was deleted.",
                keeps("notebook", "PORT(S)", since="service"),
            ),
        ),
    ),
)

DELETED = Chapter(
    title="Delete",
    says="An Instance takes along all that it owns. The cluster looks for new kinds twice a minute,"
    " so the first time this may take a while.",
    steps=(
        # Foreground: returns when the collector is done. In the background it would retry with
        # growing pauses what it met before it knew of Instances, for up to a minute.
        do(RED, "kubectl delete instance notebook training --cascade=foreground"),
        look(
            RED,
            "kubectl get instances,pods,services,networkpolicies",
            Fact(
                "Only the policy stays: it belongs to the namespace.",
                lists("networkpolicy.networking.k8s.io/gpustack-instance-isolation"),
            ),
        ),
    ),
)
