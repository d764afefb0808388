"""The certificate that our own ports show: from files that may change, or made at start."""

import secrets
import socket
import ssl
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import attrs
import structlog
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from gpustack_ctrl.api.names import PRODUCT
from gpustack_ctrl.runtime.clock import Clock
from gpustack_ctrl.runtime.server import ListenError

CLOCKS_DIFFER = timedelta(hours=1)
LONGER_THAN_ANY_PROCESS = timedelta(days=3650)
NOBODY_TO_ASK = ""
"""For a key with a password; OpenSSL would ask for it at the terminal."""

log = structlog.get_logger(__name__)

Stamp = tuple[tuple[int, int, int] | None, ...]


class CertificateError(ListenError):
    """There is no certificate to show; the message names the file."""


def server_tls(*, certificate: str, key: str, clock: Clock) -> ssl.SSLContext:
    """TLS from 1.2 on, with the *certificate* and *key* that these files hold.

    They are looked at as each connection begins: what replaces them is shown from then on.
    Without files a certificate signed by itself is shown, for this machine's name: it keeps
    listeners out, but proves nothing to those who ask.

    Raises CertificateError.
    """
    if not certificate and not key:
        return _self_signed(socket.gethostname(), clock.now())
    if not certificate or not key:
        raise CertificateError("TLS needs two files: that of the certificate and that of its key")
    return Files(certificate=certificate, key=key).context()


@attrs.define(kw_only=True, eq=False)
class Files:
    """A certificate and its key, which somebody may replace at any time."""

    certificate: str
    key: str
    _stamp: Stamp = attrs.field(default=(), init=False)
    _current: ssl.SSLContext | None = attrs.field(default=None, init=False)

    def context(self) -> ssl.SSLContext:
        """A context that shows what the files hold as each connection begins.

        Raises CertificateError when they hold nothing that could be shown now.
        """
        self._stamp = self._seen()
        shown = self._current = self._loaded()
        shown.sni_callback = self._show_current  # Called without a name, too.
        return shown

    def _show_current(self, connection: Any, _: str | None, __: ssl.SSLContext) -> None:
        self._refresh()
        connection.context = self._current

    def _refresh(self) -> None:
        """Take what is new in the files; while it cannot be used, the last one stays."""
        seen = self._seen()
        if seen == self._stamp:
            return
        self._stamp = seen
        try:
            self._current = self._loaded()
        except CertificateError as error:
            log.warning("the certificate is not replaced", error=str(error))

    def _loaded(self) -> ssl.SSLContext:
        context = _context()
        try:
            context.load_cert_chain(self.certificate, self.key, password=NOBODY_TO_ASK)
        except OSError as error:
            both = f"the certificate {self.certificate} with the key {self.key}"
            raise CertificateError(f"cannot use {both}: {_why(error)}") from error
        return context

    def _seen(self) -> Stamp:
        return tuple(_stamp(path) for path in (self.certificate, self.key))


def _stamp(path: str) -> tuple[int, int, int] | None:
    """What changes when a file does, be it by a link to another one; None without a file."""
    try:
        held = Path(path).stat()
    except OSError:
        return None
    return held.st_ino, held.st_mtime_ns, held.st_size


def _why(error: OSError) -> str:
    if not isinstance(error, ssl.SSLError):
        return (error.strerror or str(error)).lower()
    if error.reason == "KEY_VALUES_MISMATCH":
        return "they do not belong together"
    return "they must be PEM, and the key without a password"


def _context() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _self_signed(name: str, now: datetime) -> ssl.SSLContext:
    """The key leaves our memory only encrypted: OpenSSL must be given a file."""
    key, password = ec.generate_private_key(ec.SECP256R1()), secrets.token_bytes(32)
    sealed = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(password))
    context = _context()
    with NamedTemporaryFile() as file:
        file.write(_certificate(key, name, now).public_bytes(Encoding.PEM) + sealed)
        file.flush()
        context.load_cert_chain(file.name, password=password)
    return context


def _certificate(key: ec.EllipticCurvePrivateKey, name: str, now: datetime) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, PRODUCT)])
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCKS_DIFFER)
        .not_valid_after(now + LONGER_THAN_ANY_PROCESS)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, SHA256())
    )
