"""The life of an Instance: started, stopped, changed."""

from e2e.demo.checks import (
    contains,
    exposes,
    keeps,
    keeps_node_port,
    lacks,
    lists,
    tells,
)
from e2e.demo.people import BLUE, RED
from e2e.demo.script import Chapter, Fact, do, look, refused, until_condition

_PATCH = "kubectl patch instance notebook --type=merge -p "
_SERVICE = "kubectl get service notebook"
_LIMITS = "kubectl get pod notebook -o jsonpath='{.spec.containers[0].resources.limits}{\"\\n\"}'"


READY = Chapter(
    title="Ready",
    says="Each tenant asks for an Instance, and gets a Pod, and a Service that gives it ports.",
    steps=(
        do(RED, "kubectl apply -f deploy/samples/whole.yaml"),
        until_condition(RED, "Ready", "notebook"),
        look(
            RED,
            "kubectl get instances",
            Fact("The Instance is Ready.", tells("notebook", PHASE="Ready", NODE="node-0")),
            Fact(
                "Both of its ports have a node port.",
                exposes("notebook", "PORTS", "6006/TCP", "8888/TCP"),
            ),
        ),
        look(
            RED,
            "kubectl get pods,services",
            Fact(
                "It is one Pod and one Service, both of its name.",
                lists("pod/notebook", "service/notebook"),
            ),
        ),
        look(
            RED,
            _LIMITS,
            Fact(
                "It asked for nothing, so it has one whole card.",
                contains('"cpu":"8"', '"memory":"48Gi"', '"nvidia.com/gpu":"1"'),
            ),
        ),
        do(BLUE, "kubectl apply -f deploy/samples/sliced.yaml"),
        until_condition(BLUE, "Ready", "inference"),
        look(
            BLUE,
            "kubectl get instances",
            Fact(
                "TCP and UDP on one number are two ports.",
                exposes("inference", "PORTS", "8000/TCP", "8000/UDP"),
            ),
        ),
        refused(
            BLUE,
            "kubectl get instances -n team-red",
            Fact("Blue cannot look at what is red's.", contains("Forbidden", BLUE.user)),
        ),
    ),
)

STOP = Chapter(
    title="Stop",
    says="A stop deletes the Pod, and with it gives back the card; everything else stays.",
    steps=(
        look(RED, _SERVICE, remembered="started"),
        do(RED, f"""{_PATCH}'{{"spec":{{"stop":true}}}}'"""),
        until_condition(RED, "Stopped", "notebook"),
        look(RED, "kubectl get pods", Fact("The Pod is gone.", contains("No resources found"))),
        look(
            RED,
            _SERVICE,
            Fact(
                "The Service is still there, with the same address.",
                keeps("notebook", "CLUSTER-IP", since="started"),
            ),
            Fact(
                "Both ports keep their node port.",
                keeps_node_port("notebook", "PORT(S)", "6006/TCP", "8888/TCP", since="started"),
            ),
        ),
    ),
)

PORTS = Chapter(
    title="Ports",
    says="Ports are edited while the Instance is stopped, and take effect when it starts.",
    steps=(
        do(RED, f"""{_PATCH}'{{"spec":{{"ports":[{{"port":8888}},{{"port":8000}}]}}}}'"""),
        look(
            RED,
            f"{_SERVICE} --no-headers",
            Fact("The edit leaves the Service alone for now.", contains("6006:", "8888:")),
            Fact("The new port has to wait as well.", lacks("8000:")),
        ),
        do(RED, f"""{_PATCH}'{{"spec":{{"stop":false}}}}'"""),
        until_condition(RED, "Ready", "notebook"),
        look(
            RED,
            _SERVICE,
            Fact(
                "6006 is dropped, 8000 is added.",
                exposes("notebook", "PORT(S)", "8000/TCP", "8888/TCP"),
            ),
            Fact(
                "8888 is kept, and so is its node port.",
                keeps_node_port("notebook", "PORT(S)", "8888/TCP", since="started"),
            ),
            remembered="edited",
        ),
        refused(
            RED,
            f"""{_PATCH}'{{"spec":{{"ports":[]}}}}'""",
            Fact(
                "While it runs an edit is refused, with the remedy.",
                contains("set spec.stop to true first"),
            ),
        ),
    ),
)

TYPE = Chapter(
    title="Another type",
    says="The type, too, is changed while the Instance is stopped: the next Pod is made by it.",
    steps=(
        do(RED, f"""{_PATCH}'{{"spec":{{"stop":true}}}}'"""),
        until_condition(RED, "Stopped", "notebook"),
        do(RED, f"""{_PATCH}'{{"spec":{{"type":"h100-large","stop":false}}}}'"""),
        until_condition(RED, "Ready", "notebook"),
        look(
            RED,
            _LIMITS,
            Fact(
                "The Pod has the cores and the memory of the larger type.",
                contains('"cpu":"16"', '"memory":"192Gi"', '"nvidia.com/gpu":"1"'),
            ),
        ),
        look(
            RED,
            _SERVICE,
            Fact("The address has not moved.", keeps("notebook", "CLUSTER-IP", since="started")),
            Fact("Nor have the ports.", keeps("notebook", "PORT(S)", since="edited")),
        ),
    ),
)
