"""Layers of images: made once, and gone when their sources have changed."""

import os
from pathlib import Path

import pytest

from e2e.node.images.layers import Layer, Work

HOUR = 3600


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def layer(recipe: str, name: str = "thing") -> Layer:
    def make(work: Work) -> None:
        work.write("file", recipe)

    return Layer(name=name, recipe=recipe, make=make)


def used_long_ago(one: Layer) -> Path:
    folder = one.made()
    then = folder.stat().st_mtime - 2 * HOUR
    os.utime(folder.with_suffix(".lock"), (then, then))
    return folder


def test_a_new_layer_takes_the_place_of_older_ones_of_its_name() -> None:
    older = used_long_ago(layer("older"))
    older.with_suffix(".context").mkdir()
    newer = layer("newer").made()

    assert {newer, newer.with_suffix(".lock")} == set(newer.parent.iterdir())
    assert "newer" == newer.joinpath("file").read_text()


def test_what_somebody_may_be_at_work_with_stays() -> None:
    recent, taken_again = layer("recent").made(), layer("taken again")
    used_long_ago(taken_again)
    held = taken_again.made()
    layer("newer").made()

    assert recent.exists()
    assert held.exists()


def test_layers_of_other_names_stay() -> None:
    others = [used_long_ago(layer("older", name)) for name in ("other", "thing-else")]
    layer("newer").made()

    assert [True, True] == [folder.exists() for folder in others]


def test_a_layer_is_made_once() -> None:
    made = layer("once").made()
    made.joinpath("file").write_text("kept")

    assert made == layer("once").made()
    assert "kept" == made.joinpath("file").read_text()
