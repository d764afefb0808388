"""A row for each Instance, of whatever series are told."""

from gpustack_ctrl.metering import families as f
from gpustack_ctrl.metering.columns import arranged, table
from gpustack_ctrl.metering.families import Family
from gpustack_ctrl.metering.rows import Device, Row, Series, rows

BOX = {"namespace": "team", "instance_name": "box", "instance_uid": "uid-of-box"}
CARD = {"id": "GPU-1", "index": "0", "manufacturer": "nvidia", "mode": "Sliced"}
GIB = 1024.0**3


def told(of: Family, value: float, **labels: str) -> Series:
    return Series(of.name, {**BOX, **labels}, value)


def test_a_row_has_what_is_told_and_none_for_the_rest() -> None:
    [row] = rows(
        [
            told(f.INFO, 1, type="h100", node="n1", image="work", image_digest=""),
            told(f.PHASE, 1, phase="Ready"),
            told(f.REFERENCE_CPU_USED, 250, node="n1"),
            told(f.CPU_LIMIT, 2),
            told(f.MEMORY_WORKING_SET, GIB, node="n1"),
            told(f.ACCELERATORS, 2, family="Whole"),
        ]
    )

    assert row == Row(
        namespace="team",
        name="box",
        phase="Ready",
        type="h100",
        node="n1",
        cpu_used=0.25,
        cpu_limit=2,
        memory_used=GIB,
        asked="2 Whole",
    )


def test_series_of_others_are_no_rows() -> None:
    assert rows([Series("up", {"job": "x"}, 1)]) == ()


def test_two_instances_of_one_name_are_two_rows() -> None:
    again = Series(f.PHASE.name, {**BOX, "instance_uid": "another", "phase": "Ready"}, 1)

    assert [row.phase for row in rows([again, told(f.PHASE, 1, phase="Deleting")])] == [
        "Ready",
        "Deleting",
    ]


def test_a_card_has_what_is_told_of_it() -> None:
    [row] = rows(
        [
            told(f.DEVICE_MEMORY_USED, GIB, node="n1", **CARD),
            told(f.DEVICE_UTILIZATION, 0.5, node="n1", **{**CARD, "id": "GPU-2"}),
        ]
    )

    assert row.accelerators == (
        Device(id="GPU-1", mode="Sliced", memory_used=GIB),
        Device(id="GPU-2", mode="Sliced", utilization=0.5),
    )
    assert row.accelerator_memory_used == GIB


def test_what_nobody_knows_is_a_dash() -> None:
    head, line = table([Row(namespace="team", name="box")]).splitlines()

    assert head.split() == [
        "NAMESPACE", "NAME", "PHASE", "TYPE", "NODE", "CPU", "CPU%", "MEMORY", "MEM%", "STORAGE",
        "ACCELERATORS",
    ]  # fmt: skip
    assert line.split() == ["team", "box", *["-"] * 9]


def test_what_is_known_is_shown_beside_what_may_be() -> None:
    card = Device(id="GPU-1", mode="Sliced", memory_used=GIB, memory_limit=8 * GIB, utilization=1.2)
    row = Row(
        namespace="team",
        name="box",
        cpu_used=0.5,
        cpu_limit=2,
        memory_used=GIB / 2,
        storage_limit=10 * GIB,
        asked="1 Sliced",
        accelerators=(card,),
    )

    assert table([row]).splitlines()[1].split()[5:] == [
        "0.5/2", "25%", "512Mi/-", "-", "-/10.0Gi", "1", "Sliced", "GPU-1:Sliced:1.0Gi/8.0Gi:120%",
    ]  # fmt: skip


def test_the_greatest_comes_first_and_the_unknown_last() -> None:
    made = [
        Row(namespace="team", name=name, cpu_used=used)
        for name, used in (("a", None), ("b", 0.0), ("c", 3.0), ("d", 1.0))
    ]

    assert [row.name for row in arranged(made, "cpu")] == ["c", "d", "b", "a"]
    assert [row.name for row in arranged(made, "name")] == ["a", "b", "c", "d"]
