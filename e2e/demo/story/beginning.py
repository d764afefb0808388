"""The cluster, the operator, and the tenants."""

from e2e.demo.checks import contains, lists, tells
from e2e.demo.people import ADMIN, BLUE, RED
from e2e.demo.script import Chapter, Fact, Person, StartOperator, Step, do, look

CARDS = 8


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
    says="etcd, API server, controllers and scheduler are real; the node and its cards are played.",
    steps=(
        look(
            ADMIN,
            "kubectl get nodes -o custom-columns='NAME:.metadata.name,CPU:.status.allocatable.cpu,"
            r"MEMORY:.status.allocatable.memory,CARDS:.status.allocatable.nvidia\.com/gpu'",
            Fact("There is one node with eight cards.", tells("node-0", CARDS=str(CARDS))),
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
            "kubectl get settings -n gpustack-system",
            Fact(
                "The operator is at work: it made its Settings. Isolation is off.",
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
            Fact("Red may make Instances in team-red.", contains("yes")),
        ),
        look(
            BLUE,
            "kubectl auth can-i create instances",
            Fact("Blue may in team-blue.", contains("yes")),
        ),
    ),
)
