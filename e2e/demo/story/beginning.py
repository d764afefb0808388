"""The cluster, the operator, and the tenants."""

from e2e.demo.checks import contains, lists, tells
from e2e.demo.people import ADMIN, BLUE, RED
from e2e.demo.script import Chapter, Fact, Person, StartOperator, Step, do, look


def _joins(person: Person) -> tuple[Step, Step]:
    namespace = person.namespace
    return (
        do(
            ADMIN,
            f"kubectl create rolebinding members -n {namespace} --clusterrole=edit"
            f" --user={person.user}",
        ),
        do(person, f"kubectl config set-context --current --namespace={namespace}"),
    )


CLUSTER = Chapter(
    title="A cluster",
    says="The control plane is a real one; the node and its eight cards are simulated.",
    steps=(
        look(
            ADMIN,
            "kubectl get nodes -o custom-columns="
            r"'NAME:.metadata.name,CARDS:.status.allocatable.nvidia\.com/gpu'",
            Fact("There is one node, with eight cards.", tells("node-0", CARDS="8")),
        ),
    ),
)

OPERATOR = Chapter(
    title="The operator",
    says="It runs beside the cluster, as a process of its own, and installs its CRDs.",
    steps=(
        do(ADMIN, "kubectl apply -f deploy/namespace.yaml"),
        StartOperator(person=ADMIN),
        look(
            ADMIN,
            "kubectl get setting instance-isolation-pod-cidrs -n gpustack-system",
            Fact(
                "It is at work: its Settings are there. This one is blank: isolation is off.",
                tells("instance-isolation-pod-cidrs", VALUE="", ACCEPTED="True"),
            ),
        ),
    ),
)

TENANTS = Chapter(
    title="Two tenants",
    says="The administrator offers types of Instances, and gives red and blue a namespace each.",
    steps=(
        do(
            ADMIN,
            "kubectl apply -f deploy/rbac/tenants.yaml -f deploy/samples/tenants.yaml"
            " -f deploy/samples/types.yaml",
        ),
        look(
            ADMIN,
            "kubectl get instancetypes",
            Fact("Three types are on offer.", lists("cpu", "h100", "h100-large")),
        ),
        *_joins(RED),
        *_joins(BLUE),
        look(
            RED,
            "kubectl auth can-i create instances",
            Fact("Red may make Instances, in team-red.", contains("yes")),
        ),
        look(
            BLUE,
            "kubectl auth can-i create instances",
            Fact("So may blue, in team-blue.", contains("yes")),
        ),
    ),
)
