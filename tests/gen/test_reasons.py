"""Each reason why a figure is absent is explained to people."""

from pathlib import Path

from gpustack_ctrl.api.unread import MEANINGS, Unread

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "instance-metrics.md"


def test_each_reason_is_explained() -> None:
    assert set(MEANINGS) == set(Unread)
    assert all(f"| `{reason}` |" in PAGE.read_text() for reason in Unread)
