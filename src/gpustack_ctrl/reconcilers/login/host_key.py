"""The SSH host key of an Instance, derived: the same for as long as the Instance lives.

Nothing is stored per Instance, so nothing can be lost with a Secret, and no Secret of a
tenant has to be read. Whoever holds the seed can be any Instance's server: it is the
operator's own.
"""

import hashlib
import textwrap

import attrs
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gpustack_ctrl.api.ssh_wire import fingerprint, string, to_base64

KEY_TYPE = "ssh-ed25519"
MIN_SEED_BYTES = 32
_PURPOSE = b"gpustack-ctrl ssh host key v1"
_BLOCK = 8  # An unencrypted private section is padded to this, as for a cipher of 8 bytes.


@attrs.frozen(kw_only=True)
class HostKey:
    """A key pair that an SSH server shows; *private_key* is a file as OpenSSH reads it."""

    private_key: str = attrs.field(repr=False)
    public_line: str
    fingerprint: str

    @property
    def mark(self) -> str:
        """What tells this key from others in the name of an object."""
        return hashlib.sha256(self.public_line.encode()).hexdigest()[:8]


def host_key(seed: bytes, uid: str) -> HostKey:
    """The one Ed25519 host key of the Instance *uid* under *seed*: same input, same bytes.

    Raises `ValueError` where *seed* is shorter than 32 bytes or *uid* is empty: either
    would give a key that others have too.
    """
    if len(seed) < MIN_SEED_BYTES:
        raise ValueError(f"the seed of the SSH host keys must have {MIN_SEED_BYTES} bytes or more")
    if not uid:
        raise ValueError("an SSH host key needs the UID of its Instance")
    secret = _derived(seed, uid)
    public = Ed25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()
    blob = string(KEY_TYPE.encode()) + string(public)
    return HostKey(
        private_key=_openssh_file(secret, public, blob, comment=uid),
        public_line=f"{KEY_TYPE} {to_base64(blob)} {uid}",
        fingerprint=fingerprint(blob),
    )


def _derived(seed: bytes, uid: str) -> bytes:
    info = _PURPOSE + uid.encode()
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(seed)


def _openssh_file(secret: bytes, public: bytes, blob: bytes, *, comment: str) -> str:
    # Other writers draw the check number by lot. It only shows that a decryption worked,
    # and nothing is encrypted here, so it may as well be the same every time.
    check = hashlib.sha256(blob).digest()[:4]
    section = check * 2 + blob + string(secret + public) + string(comment.encode())
    padding = bytes(range(1, 1 + -len(section) % _BLOCK))
    held = (
        b"openssh-key-v1\0"
        + string(b"none")
        + string(b"none")
        + string(b"")
        + (1).to_bytes(4, "big")
        + string(blob)
        + string(section + padding)
    )
    body = "\n".join(textwrap.wrap(to_base64(held), 70))
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----\n"
