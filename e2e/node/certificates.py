"""The certificates of a node's control plane, all signed by one authority of its own."""

import datetime as dt
import ipaddress
from collections.abc import Sequence
from pathlib import Path

import attrs
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from e2e.node.layout import NODE, NODE_ADDRESS, SERVICE_RANGE, NodeLayout

_LIFETIME = dt.timedelta(days=30)
_LEEWAY = dt.timedelta(minutes=5)


@attrs.frozen(kw_only=True)
class Authority:
    """Who signs; *folder* is where certificates and their keys go."""

    folder: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def new(cls, folder: Path) -> "Authority":
        """Return an authority with a new key, its certificate written to `ca.crt`."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("gpustack-ctrl-test")
        unsigned = _unsigned(name, name, key).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        made = cls(folder=folder, key=key, certificate=unsigned.sign(key, SHA256()))
        folder.joinpath("ca.crt").write_bytes(made.pem)
        return made

    @property
    def pem(self) -> bytes:
        """The authority's own certificate."""
        return self.certificate.public_bytes(Encoding.PEM)

    def issue(self, name: str, *, user: str, group: str = "", hosts: Sequence[str] = ()) -> None:
        """Write `NAME.crt`, the chain, and `NAME.key` for *user* of *group*, who is at *hosts*."""
        key = ec.generate_private_key(ec.SECP256R1())
        unsigned = _unsigned(_name(user, group), self.certificate.subject, key)
        uses = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
        unsigned = unsigned.add_extension(x509.ExtendedKeyUsage(uses), critical=False)
        if hosts:
            named = x509.SubjectAlternativeName([_host(host) for host in hosts])
            unsigned = unsigned.add_extension(named, critical=False)
        signed = unsigned.sign(self.key, SHA256()).public_bytes(Encoding.PEM)
        self.folder.joinpath(f"{name}.crt").write_bytes(signed + self.pem)
        file = self.folder / f"{name}.key"
        file.touch(mode=0o600)
        file.write_bytes(
            key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        )


def write_certificates(layout: NodeLayout) -> None:
    """Write what API server and kubelet need, unless it is there."""
    if layout.certificate.exists():
        return
    authority = Authority.new(layout.pki)
    authority.issue("kubelet", user=f"system:node:{NODE}", group="system:nodes", hosts=_AT_NODE)
    authority.issue("kubelet-client", user="kube-apiserver", group="system:masters")
    authority.issue("apiserver", user="kube-apiserver", hosts=_AT_SERVER)


_AT_NODE = (NODE, NODE_ADDRESS)
_SERVICE = str(ipaddress.ip_network(SERVICE_RANGE)[1])
_DOMAIN = ("kubernetes", "kubernetes.default", "kubernetes.default.svc")
_AT_SERVER = ("localhost", "127.0.0.1", NODE_ADDRESS, _SERVICE, *_DOMAIN)


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _name(user: str, group: str = "") -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, user)]
    if group:
        parts.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
    return x509.Name(parts)


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)  # noqa: TID251  The daemons judge by the machine's clock.
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _LEEWAY)
        .not_valid_after(now + _LIFETIME)
    )
