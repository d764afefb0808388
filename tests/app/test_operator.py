"""How the parts are joined: what the environment gives, and who wakes whom."""

from gpustack_ctrl.app.operator import seeds
from gpustack_ctrl.flags import FIELDS, variable
from gpustack_ctrl.reconcilers.settings.catalogue import CATALOGUE


def test_a_variable_of_its_name_seeds_a_setting() -> None:
    given = {
        "GPUSTACK_INSTANCE_ISOLATION_POD_CIDRS": "10.0.0.0/8",
        "GPUSTACK_LOG_LEVEL": "debug",
        "PATH": "/bin",
    }

    assert {
        "instance-isolation-pod-cidrs": "10.0.0.0/8",
    } == seeds(given)


def test_no_option_of_the_process_has_the_variable_of_a_setting() -> None:

    options = {variable(field) for field in FIELDS}

    assert set() == options & {definition.variable for definition in CATALOGUE.values()}
