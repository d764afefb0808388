"""Where credentials are looked for, and in which order."""

from pathlib import Path

import pytest

from gpustack_ctrl.client.errors import ConfigurationError
from gpustack_ctrl.client.location import (
    ConnectionOptions,
    InCluster,
    Kubeconfig,
    Surroundings,
    locate,
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A home with a kubeconfig, a service account, and two more kubeconfigs."""
    for folder in (".kube", "account"):
        (tmp_path / folder).mkdir()
    for file in (".kube/config", "account/token", "flag", "first", "second"):
        (tmp_path / file).touch()
    return tmp_path


def around(place: Path, **environ: str) -> Surroundings:
    return Surroundings(environ=environ, home=place, service_account=place / "account")


def test_the_flag_comes_first(place: Path) -> None:
    options = ConnectionOptions(kubeconfig=str(place / "flag"), context="c")
    found = locate(options, around(place, KUBECONFIG=str(place / "first")))

    assert Kubeconfig(paths=(place / "flag",), context="c") == found


def test_then_the_files_of_kubeconfig_that_exist(place: Path) -> None:
    value = f"{place / 'first'}:{place / 'absent'}:{place / 'second'}"
    found = locate(ConnectionOptions(), around(place, KUBECONFIG=value))

    assert Kubeconfig(paths=(place / "first", place / "second"), context="") == found


def test_then_the_service_account_of_a_pod(place: Path) -> None:
    found = locate(ConnectionOptions(), around(place))

    assert InCluster(directory=place / "account", environ={}) == found


def test_a_context_asks_for_a_kubeconfig(place: Path) -> None:
    found = locate(ConnectionOptions(context="c"), around(place))

    assert Kubeconfig(paths=(place / ".kube/config",), context="c") == found


def test_then_the_kubeconfig_at_home(place: Path) -> None:
    (place / "account/token").unlink()
    found = locate(ConnectionOptions(), around(place))

    assert Kubeconfig(paths=(place / ".kube/config",), context="") == found


def test_who_finds_nothing_tells_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        locate(ConnectionOptions(), around(tmp_path))

    assert (
        "no kubeconfig: neither --kubeconfig nor KUBECONFIG is set, "
        f"there is no {tmp_path}/.kube/config, and no service account in {tmp_path}/account"
    ) == str(caught.value)


@pytest.mark.parametrize("where", ["--kubeconfig", "KUBECONFIG"])
def test_a_file_that_is_named_must_exist(place: Path, where: str) -> None:
    absent = str(place / "absent")
    by_flag = where == "--kubeconfig"
    options = ConnectionOptions(kubeconfig=absent if by_flag else "")
    environ = {} if by_flag else {"KUBECONFIG": absent}
    with pytest.raises(ConfigurationError) as caught:
        locate(options, around(place, **environ))

    assert f"no kubeconfig: {where} is {absent}, and there is no such file" == str(caught.value)
