"""Who holds what of the cards, and who gets nothing."""

from e2e.demo.checks import contains, tells
from e2e.demo.people import ADMIN, BLUE, RED
from e2e.demo.script import Chapter, Fact, do, look, until_condition

_TYPES = "kubectl get instancetypes"
_VIEWS = "EX/SH/SL/PT"

SLICES = Chapter(
    title="Slices",
    says="Two tenants share cards by slices of memory; a type tells what is left of it: whole"
    " cards, shares, slices in percent, and partitions, each as the most that one Instance could"
    " get, and all there is.",
    steps=(
        look(
            ADMIN,
            _TYPES,
            Fact(
                "Of 8 cards red has one, and of 800 percent blue has 25.",
                tells("h100", **{_VIEWS: "7/7  80/80  100/775  1/56"}),
            ),
        ),
        do(RED, "kubectl apply -f e2e/demo/half.yaml"),
        until_condition(RED, "Ready", "training"),
        look(
            ADMIN,
            _TYPES,
            Fact(
                "Red took another 50 percent.",
                tells("h100", **{_VIEWS: "7/7  80/80  100/725  1/56"}),
            ),
        ),
        look(
            ADMIN,
            "kubectl get instancetype h100 -o jsonpath='{.status.sliced}{\"\\n\"}'",
            Fact(
                "The status has the same in full.",
                contains('"allocated":75', '"capacity":800', '"remaining":725'),
            ),
        ),
        do(
            RED,
            """kubectl patch instance training --type=merge -p '{"spec":{"stop":true}}'""",
        ),
        until_condition(RED, "Stopped", "training"),
        look(
            ADMIN,
            _TYPES,
            Fact(
                "A stopped Instance holds nothing.",
                tells("h100", **{_VIEWS: "7/7  80/80  100/775  1/56"}),
            ),
        ),
    ),
)

BLOCKED = Chapter(
    title="Instances that cannot start",
    says="What holds an Instance back is told by name, in the words of whoever said no.",
    steps=(
        do(BLUE, "kubectl apply -f e2e/demo/mistakes.yaml"),
        look(
            BLUE,
            "kubectl get instances mistake greedy -o custom-columns='NAME:.metadata.name,"
            "GATE:.status.blocker.gate,MESSAGE:.status.blocker.message'",
            Fact(
                "One asks for a type that is not there.",
                tells("mistake", GATE="type"),
            ),
            Fact("Its message says where to look.", contains("h200 does not exist: see")),
            Fact(
                "The other asks for more cards than a node has.",
                tells("greedy", GATE="scheduling"),
            ),
            Fact(
                "Its message has the scheduler's words, and says what can be done.",
                contains("Insufficient nvidia.com/gpu", "choose another type"),
            ),
        ),
        do(BLUE, "kubectl delete instance mistake greedy"),
    ),
)
