"""Who may talk to the cluster: tokens and kubeconfigs."""

import base64
import csv
import json
import secrets
import string

import attrs

from e2e.cluster.layout import Layout

ADMIN = "admin"
CONTROLLER_MANAGER = "system:kube-controller-manager"
SCHEDULER = "system:kube-scheduler"
# The API server reads its token file once, so the users a test may want are all there from
# the start; what each may do is decided by the RoleBindings that the test makes.
TENANTS = tuple(f"tenant-{letter}" for letter in string.ascii_lowercase[:4])
OTHERS = ("operator", *(f"user-{number:02d}" for number in range(16)))
USERS = (ADMIN, *TENANTS, *OTHERS)
TENANTS_GROUP = "gpustack-ctrl:tenants"


@attrs.frozen(kw_only=True)
class User:
    """A user of the cluster and the secret that proves it is her."""

    name: str
    group: str = ""
    token: str = attrs.field(factory=lambda: secrets.token_hex(16), repr=False)


def new_users() -> tuple[User, ...]:
    """Return every user of a new cluster, each with a token of her own."""
    return (
        User(name=ADMIN, group="system:masters"),
        User(name=CONTROLLER_MANAGER),
        User(name=SCHEDULER),
        *(User(name=name, group=TENANTS_GROUP) for name in TENANTS),
        *(User(name=name) for name in OTHERS),
    )


def write_tokens(layout: Layout, users: tuple[User, ...]) -> None:
    """Write *users* as the API server's token file, readable by its owner only."""
    layout.tokens.touch(mode=0o600)
    with layout.tokens.open("w", newline="") as file:
        csv.writer(file).writerows((user.token, user.name, user.name, user.group) for user in users)


def read_token(layout: Layout, name: str) -> str:
    """Return the token of the user *name*, who must exist."""
    with layout.tokens.open(newline="") as file:
        return next(row[0] for row in csv.reader(file) if row[1] == name)


def write_kubeconfigs(layout: Layout, users: tuple[User, ...]) -> None:
    """Write a kubeconfig for each of *users*, once the API server has its certificate."""
    layout.users.mkdir(mode=0o700, exist_ok=True)
    for user in users:
        path = layout.users / user.name
        path.touch(mode=0o600)
        path.write_text(kubeconfig(layout, token=user.token))
    layout.kubeconfig.symlink_to(layout.users / ADMIN)


def kubeconfig(layout: Layout, *, token: str) -> str:
    """Return a kubeconfig, all data embedded, for the bearer of *token*."""
    cluster = {
        "server": f"https://{layout.host}:{layout.read_ports().api_server}",
        "certificate-authority-data": base64.b64encode(layout.certificate.read_bytes()).decode(),
    }
    name = "gpustack-ctrl"
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    return json.dumps(content, indent=1)
