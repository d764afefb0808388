"""I3, I4: the SSH server beside the workload, as the API server sees it."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from tests.integration.world import Wire, World, condition, until

pytestmark = pytest.mark.usefixtures("operator")

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGCYCcIZOTu7cyZ4Rz6NWU+6OUhWg6r3HXeo+Zmk4Iex me@home"
SSH = {"port": 22}


@pytest.fixture
def key(tmp_path: Path) -> str:
    """A public key of ssh-keygen's."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed")
    path = tmp_path / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me@home", "-f", path], check=True
    )
    return path.with_suffix(".pub").read_text()


async def with_key(world: World, data: str, **spec: Any) -> Wire:
    """An Instance that lets the keys of *data* in, Ready."""
    await world.create(names.SSH_PUBLIC_KEY, {"metadata": {"name": "me"}, "spec": {"data": data}})
    await world.instance(sshPublicKey={"name": "me"}, **{"ports": [SSH], **spec})
    return await world.is_in_phase("Ready")


async def test_i3_main_alone_owns_the_accelerator_and_sshd_asks_for_visibility(
    world: World, key: str
) -> None:
    await with_key(world, key, resources={"accelerator": 2})
    pod = await world.get(names.POD, "box")
    main, sshd = pod["spec"]["containers"]

    assert ["main", "sshd"] == [main["name"], sshd["name"]]
    assert "2" == main["resources"]["limits"]["nvidia.com/gpu"]
    assert {"device.gpustack.ai/nvidia.visibility": "2"} == sshd["resources"]["limits"]
    assert True is pod["spec"]["shareProcessNamespace"]
    assert "hostIPC" not in pod["spec"]
    assert {"name": "GPUSTACK_INSTANCE_CONTAINER", "value": "main"} == main["env"][-1]
    assert "env" not in sshd


async def test_i4_ssh_ready_tells_the_line_to_paste(world: World, key: str) -> None:
    instance = await with_key(world, key)
    await world.tells("SSHReady", "True")
    told = (await world.get(names.INSTANCE, "box"))["status"]["ssh"]
    uid, port = instance["metadata"]["uid"], instance["status"]["ports"][0]["nodePort"]

    assert told["command"].startswith(f"ssh -p {port} -o HostKeyAlias={uid} root@192.0.2.")
    assert told["fingerprint"].startswith("SHA256:")
    assert told["knownHosts"].startswith(f"{uid} ssh-ed25519 ")


async def test_i4_the_host_key_stays_across_stop_start_and_the_loss_of_its_secret(
    world: World, key: str
) -> None:
    before = (await with_key(world, key))["status"]["ssh"]
    volumes = (await world.get(names.POD, "box"))["spec"]["volumes"]
    [secret] = [held["secret"]["secretName"] for held in volumes if "secret" in held]
    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    await world.delete(names.SECRET, secret)
    await world.edit(stop=False)
    after = (await world.is_in_phase("Ready"))["status"]["ssh"]

    assert before["fingerprint"] == after["fingerprint"]
    assert before["knownHosts"] == after["knownHosts"]
    assert await world.find(names.SECRET, secret) is not None


async def test_i4_a_key_without_port_22_is_told_with_the_port_forward_line(
    world: World, key: str
) -> None:
    await with_key(world, key, ports=[])
    told = await world.tells("SSHReady", "False", "PortNotListed")

    assert f"kubectl port-forward -n {world.namespace} pod/box 2222:22" in told["message"]
    assert "root@127.0.0.1" in told["message"]


async def test_i4_port_22_without_a_key_is_told(world: World) -> None:
    await world.instance(ports=[SSH])
    told = await world.tells("SSHReady", "False", "NoKey")

    assert "set spec.sshPublicKey" in told["message"]


async def test_i4_a_missing_key_is_told_and_found_later_without_a_restart(
    world: World, key: str
) -> None:
    await world.instance(sshPublicKey={"name": "me"}, ports=[SSH])
    pod = (await world.is_in_phase("Ready"))["status"]["podUID"]
    await world.tells("SSHReady", "False", "KeyNotFound")
    await world.create(names.SSH_PUBLIC_KEY, {"metadata": {"name": "me"}, "spec": {"data": key}})
    await world.tells("SSHReady", "True")

    assert pod == (await world.get(names.INSTANCE, "box"))["status"]["podUID"]


async def test_i6_a_changed_key_reaches_the_config_map_without_a_restart(
    world: World, key: str
) -> None:
    pod = (await with_key(world, key))["status"]["podUID"]
    await world.patch(names.SSH_PUBLIC_KEY, "me", {"spec": {"data": f"# new\r\n\n{KEY}"}})

    async def is_written() -> bool:
        held = await world.get(names.CONFIG_MAP, names.authorized_keys("me"))
        return bool(held["data"]["authorized_keys"] == f"{KEY}\n")

    await until(is_written)

    assert pod == (await world.get(names.INSTANCE, "box"))["status"]["podUID"]
    assert "False" == condition(await world.get(names.INSTANCE, "box"), "RestartPending")["status"]


async def test_a_config_map_edited_by_hand_is_put_right(world: World, key: str) -> None:
    await with_key(world, key)
    name = names.authorized_keys("me")
    await world.patch(
        names.CONFIG_MAP, name, {"data": {"authorized_keys": "ssh-rsa evil", "more": "x"}}
    )

    async def is_right() -> bool:
        data = (await world.get(names.CONFIG_MAP, name))["data"]
        return list(data) == ["authorized_keys"] and data["authorized_keys"] == key

    await until(is_right)


async def test_bad_lines_are_named_and_good_ones_taken(world: World, key: str) -> None:
    data = f"{key}-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"
    await world.create(names.SSH_PUBLIC_KEY, {"metadata": {"name": "me"}, "spec": {"data": data}})

    async def is_told() -> Wire | None:
        held = await world.get(names.SSH_PUBLIC_KEY, "me")
        return held if held.get("status", {}).get("keys") else None

    held = await until(is_told)

    assert 1 == len(held["status"]["keys"])
    assert "private key" in condition(held, "Accepted")["message"]
    assert "AAAA" not in str(held["status"])


async def test_i3_i4_under_the_dialect_of_nvidia_the_server_is_in_main_and_baseline_allows_it(
    world: World, key: str, cluster: Cluster
) -> None:
    level = "pod-security.kubernetes.io/enforce=baseline"
    cluster.kubectl("label", "namespace", world.namespace, level)
    spec = {"manufacturer": "nvidia", "dialect": "nvidia"}
    name = f"{world.namespace}-plain"
    await world.create(names.INSTANCE_TYPE, {"metadata": {"name": name}, "spec": spec})
    await with_key(world, key, type=name)
    await world.tells("SSHReady", "True")
    held = (await world.get(names.POD, "box"))["spec"]
    [main], [carrier] = held["containers"], held["initContainers"]

    assert "/.gpustack/ssh/start" == main["lifecycle"]["postStart"]["exec"]["command"][0]
    assert "1" == main["resources"]["limits"]["nvidia.com/gpu"]
    assert "nvidia.com/gpu" not in carrier["resources"]["limits"]
    assert "shareProcessNamespace" not in held
    await world.delete(names.INSTANCE_TYPE, name)
