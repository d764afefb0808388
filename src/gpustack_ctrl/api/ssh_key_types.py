"""The types of public key that may log in, and what the bytes of each must hold.

A key that a server would never match is refused here, where its owner still reads it,
and so is one that anybody could forge a login for. Plain arithmetic on public numbers:
nothing secret is touched, so constant time is of no concern.
"""

from collections.abc import Callable, Mapping

import attrs

from gpustack_ctrl.api.ssh_wire import KeyFormatError, WireReader

_MIN_RSA_BITS = 2048
_MAX_RSA_BITS = 16384
_MIN_RSA_EXPONENT = 3

# Ed25519 (RFC 8032 §5.1): the field, and d of the curve -x² + y² = 1 + d x² y².
_ED_PRIME = 2**255 - 19
_ED_D = -121665 * pow(121666, -1, _ED_PRIME) % _ED_PRIME
_ED_BYTES = 32

_UNCOMPRESSED = 4  # The first byte of a point that carries both coordinates (SEC 1, 2.3.3).


@attrs.frozen(kw_only=True)
class NistCurve:
    """y² = x³ - 3 x + *b* over the field of *prime* (FIPS 186-4, D.1.2)."""

    name: bytes
    prime: int
    b: int

    def holds(self, x: int, y: int) -> bool:
        """(x, y) is a point of the curve, in reduced coordinates."""
        inside = x < self.prime and y < self.prime
        return inside and (y * y - (x * x * x - 3 * x + self.b)) % self.prime == 0


P256 = NistCurve(
    name=b"nistp256",
    prime=2**256 - 2**224 + 2**192 + 2**96 - 1,
    b=0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
)
P384 = NistCurve(
    name=b"nistp384",
    prime=2**384 - 2**128 - 2**96 + 2**32 - 1,
    b=0xB3312FA7E23EE7E4988E056BE3F82D19181D9C6EFE8141120314088F5013875AC656398D8A2ED19D2A85C8EDD3EC2AEF,
)
P521 = NistCurve(
    name=b"nistp521",
    prime=2**521 - 1,
    b=0x0051953EB9618E1C9A1F929A21A0B68540EEA2DA725B99B315F3B8B489918EF109E156193951EC7E937B1652C0BD3BB1BF073573DF883D2C34F1EF451FD46B503F00,
)


def check(key_type: str, blob: bytes) -> None:
    """*blob* is a whole, sound key of *key_type*, one of `KEY_TYPES`; else `KeyFormatError`."""
    reader = WireReader(blob)
    if reader.string() != key_type.encode():
        raise KeyFormatError(
            f"the line says {key_type}, its base64 holds another type: paste the whole line again"
        )
    KEY_TYPES[key_type](reader)
    reader.end()


def _ed25519(reader: WireReader) -> None:
    point = reader.string()
    if len(point) != _ED_BYTES:
        raise KeyFormatError("an Ed25519 key has 32 bytes: paste the whole line again")
    y = int.from_bytes(point, "little") & (2**255 - 1)
    if not _on_edwards_curve(y) or _of_small_order(y):
        raise _off_curve()


def _on_edwards_curve(y: int) -> bool:
    square = (y * y - 1) * pow(_ED_D * y * y + 1, -1, _ED_PRIME) % _ED_PRIME
    return y < _ED_PRIME and pow(square, (_ED_PRIME - 1) // 2, _ED_PRIME) in {0, 1}


def _of_small_order(y: int) -> bool:
    # The points of order 1, 2, 4 and 8: anyone can sign for such a "key".
    product = y * (y * y - 1) * (_ED_D * y**4 + 2 * y * y - 1)
    return product % _ED_PRIME == 0


def _ecdsa(curve: NistCurve) -> Callable[[WireReader], None]:
    width = (curve.prime.bit_length() + 7) // 8

    def read(reader: WireReader) -> None:
        if reader.string() != curve.name:
            raise KeyFormatError("the key names another curve than its type: paste it again")
        point = reader.string()
        if len(point) != 1 + 2 * width or point[0] != _UNCOMPRESSED:
            raise KeyFormatError("the key's point is not in uncompressed form: paste it again")
        x, y = point[1 : 1 + width], point[1 + width :]
        if not curve.holds(int.from_bytes(x, "big"), int.from_bytes(y, "big")):
            raise _off_curve()

    return read


def _rsa(reader: WireReader) -> None:
    exponent, modulus = reader.positive(), reader.positive()
    bits = modulus.bit_length()
    if not _MIN_RSA_BITS <= bits <= _MAX_RSA_BITS:
        raise KeyFormatError(
            f"an RSA key must have {_MIN_RSA_BITS} to {_MAX_RSA_BITS} bits, this one has {bits}: "
            "make a new pair with ssh-keygen -t ed25519"
        )
    if not exponent % 2 or not modulus % 2 or not _MIN_RSA_EXPONENT <= exponent < modulus:
        raise KeyFormatError("the numbers of the RSA key are unsound: make a new pair")


def _security_key(read: Callable[[WireReader], None]) -> Callable[[WireReader], None]:
    def read_both(reader: WireReader) -> None:
        read(reader)
        application = reader.string()
        printable = all(ord(" ") <= byte <= ord("~") for byte in application)
        if not printable or not application.startswith(b"ssh:"):
            raise KeyFormatError(
                "the security key was made for another application than SSH: "
                "make one with ssh-keygen -t ed25519-sk"
            )

    return read_both


def _off_curve() -> KeyFormatError:
    return KeyFormatError("the key is not a point of its curve: paste the whole line again")


KEY_TYPES: Mapping[str, Callable[[WireReader], None]] = {
    "ssh-ed25519": _ed25519,
    "ecdsa-sha2-nistp256": _ecdsa(P256),
    "ecdsa-sha2-nistp384": _ecdsa(P384),
    "ecdsa-sha2-nistp521": _ecdsa(P521),
    "ssh-rsa": _rsa,
    "sk-ssh-ed25519@openssh.com": _security_key(_ed25519),
    "sk-ecdsa-sha2-nistp256@openssh.com": _security_key(_ecdsa(P256)),
}
