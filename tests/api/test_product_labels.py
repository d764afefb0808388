"""What the labels of nodes tell of their cards."""

import pytest

from gpustack_ctrl.api.product_labels import memory_mib


@pytest.mark.parametrize(
    ("text", "mib"),
    [
        ("81920", 81920),
        ("64GB", 65536),
        ("192G", 196608),
        ("1T", 1 << 20),
        ("80GiB", 81920),
        ("0", None),
        ("", None),
        ("much", None),
        ("-1", None),
        ("1e9", None),
    ],
)
def test_memory_is_read_as_makers_write_it(text: str, mib: int | None) -> None:
    assert mib == memory_mib(text)
