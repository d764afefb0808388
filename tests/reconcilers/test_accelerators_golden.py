"""Every family of every manufacturer in every dialect, as one page that people read.

After a change that is meant, write the page anew and read its difference:
`python -m tests.reconcilers.test_accelerators_golden`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from gpustack_ctrl.api.instance_type import Dialect, InstanceTypeSpec
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from gpustack_ctrl.api.resources import InstanceResources
from gpustack_ctrl.reconcilers.accelerators.request import Refusal, request

GOLDEN = Path(__file__).parent / "golden" / "accelerators.md"
ASKED: Mapping[str, InstanceResources] = {
    "nothing said": InstanceResources(),
    "none": InstanceResources(accelerator="0"),
    "whole 4": InstanceResources(accelerator="4"),
    "shared": InstanceResources(acceleratorShared=True),
    "shared 2": InstanceResources(accelerator="2", acceleratorShared=True),
    "slice 25%": InstanceResources(acceleratorSlicedMemoryPercentage=25),
    "slice 20 GiB, cores 50%": InstanceResources(
        acceleratorSlicedMemoryMiB=20480, acceleratorSlicedCoresPercentage=50
    ),
    "partition 3g.40gb": InstanceResources(acceleratorPartitionedProfile="3g.40gb"),
}


def test_i2_i3_every_family_of_every_maker_in_every_dialect_is_as_on_the_page() -> None:
    assert GOLDEN.read_text() == page()


def page() -> str:
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# What an Instance asks of its node, on types of cards with 80 GiB"
    for dialect in Dialect:
        for maker in MANUFACTURERS:
            offered = InstanceTypeSpec(
                manufacturer=maker, dialect=dialect, acceleratorMemoryMiB=81920
            )
            yield f"\n## {dialect}, {maker}\n"
            for words, asked in ASKED.items():
                yield f"- **{words}**: {_answer(offered, asked)}"


def _answer(offered: InstanceTypeSpec, asked: InstanceResources) -> str:
    answer = request(offered, asked)
    if isinstance(answer, Refusal):
        return f"{answer.reason}: {answer.message}"
    if answer.family is None:
        assert not answer.main
        assert not answer.sidecar
        return f"nothing; sized as {answer.share} units"
    sidecar = f"; sshd {_keys(answer.sidecar)}" if answer.sidecar else ""
    return f"main {_keys(answer.main)}{sidecar}; sized as {answer.share} units"


def _keys(held: Mapping[str, str]) -> str:
    return " ".join(f"`{name}={amount}`" for name, amount in held.items())


if __name__ == "__main__":
    GOLDEN.write_text(page())
