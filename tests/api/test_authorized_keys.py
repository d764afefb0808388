"""Which lines of authorized_keys are taken, and what the others are told."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api.authorized_keys import MAX_KEYS, ParsedKeys, parse, rendered
from gpustack_ctrl.api.ssh_wire import string, to_base64
from tests.api.ssh_samples import line, mpint

BASE_POINT = (4 * pow(5, -1, 2**255 - 19) % (2**255 - 19)).to_bytes(32, "little")
ED = line("ssh-ed25519", string(BASE_POINT))
P256_X = 0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296
P256_Y = 0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5
P256_POINT = b"\x04" + P256_X.to_bytes(32, "big") + P256_Y.to_bytes(32, "big")
ECDSA = "ecdsa-sha2-nistp256"
SK_ED = "sk-ssh-ed25519@openssh.com"
SK_ECDSA = "sk-ecdsa-sha2-nistp256@openssh.com"
MODULUS = 2**2047 + 1  # As long as it must be, and odd: nobody asks whether it has two factors.
PRIVATE_BODY = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz"
PRIVATE = (
    f"-----BEGIN OPENSSH PRIVATE KEY-----\n{PRIVATE_BODY}\nc2gtZWQyNTUxOQ==\n"
    "-----END OPENSSH PRIVATE KEY-----\n"
)


def reason(text: str) -> str:
    parsed = parse(text)
    assert () == parsed.keys
    assert 1 == len(parsed.refused), parsed.refused
    return str(parsed.refused[0])


@pytest.mark.parametrize(
    "text",
    [
        ED,
        f"{ED}\n",
        f"{ED}\r\n",
        f"\ufeff{ED}\r\n",
        f"\n# mine\n  \n{ED} me@here",
        f"  {ED}",
        ED.replace(" ", "\t"),
        ED.replace(" ", " \t  "),
        line(ECDSA, string(b"nistp256"), string(P256_POINT)),
        line("ssh-rsa", mpint(65537), mpint(MODULUS)),
        line("ssh-rsa", mpint(3), mpint(2**16383 + 1)),
        line(SK_ED, string(BASE_POINT), string(b"ssh:")),
        line(SK_ECDSA, string(b"nistp256"), string(P256_POINT), string(b"ssh:work laptop")),
    ],
)
def test_i4_a_sound_key_is_taken(text: str) -> None:
    parsed = parse(text)

    assert () == parsed.refused
    assert 1 == len(parsed.keys)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (PRIVATE, "private key"),
        (f"-----BEGIN RSA PRIVATE KEY-----\n{PRIVATE_BODY}", "private key"),
        (f"-----BEGIN ENCRYPTED PRIVATE KEY----- {PRIVATE_BODY}", "private key"),
        (
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQ\n-----END PGP PRIVATE KEY BLOCK-----",
            "priv",
        ),
        (PRIVATE_BODY, "private key"),
        (f"ssh-ed25519 {PRIVATE_BODY}", "private key"),
        (
            "PuTTY-User-Key-File-3: ssh-ed25519\nPublic-Lines: 1\nQQ==\nPrivate-MAC: 00",
            "private key",
        ),
        ("-----BEGIN PUBLIC KEY-----\nMCow\n-----END PUBLIC KEY-----", "-m PKCS8"),
        ("-----BEGIN CERTIFICATE-----\nMCow\n-----END CERTIFICATE-----", "not a public key of SSH"),
        (
            '---- BEGIN SSH2 PUBLIC KEY ----\nComment: "me"\nAAAA\n---- END SSH2 PUBLIC KEY ----',
            "ssh-keygen -i -f",
        ),
        (f"ssh-ed25519-cert-v01@openssh.com {ED.split()[1]}", "certificates are not supported"),
        (f"cert-authority {ED}", "certificate authorities"),
        (f"@cert-authority * {ED}", "certificate authorities"),
        (f'command="reboot" {ED}', "options before the key"),
        (f'from="10.0.0.0/8",no-pty {ED}', "options before the key"),
        (f"restrict {ED}", "options before the key"),
        (f'environment="A=b" {ED}', "options before the key"),
        (f"ssh-dss {ED.split()[1]}", "DSA keys are too weak"),
        ("1024 35 1234567890", "protocol 1"),
        ("hello world", "a key starts with one of ssh-ed25519"),
        (ED.split()[1], "a key starts with one of"),
        ("ssh-ed25519", "the key itself is missing"),
        (f"ssh-ed25519 {ED.split()[1][:-1]}", "not valid base64"),
        (f"ssh-ed25519 {ED.split()[1]}=", "not valid base64"),
        (f"ssh-ed25519 *{ED.split()[1]}", "not valid base64"),
        ("ssh-ed25519 é", "not valid base64"),
        (f"{line('ssh-rsa', mpint(3), mpint(MODULUS))[:-5]}", "not valid base64"),
        (f"ssh-rsa {ED.split()[1]}", "holds another type"),
        (line("ssh-ed25519", string(BASE_POINT)[:-3]), "cut short"),
        (line("ssh-ed25519", b"\0\0"), "cut short"),
        (line("ssh-ed25519", string(BASE_POINT), b"\0"), "bytes follow the key"),
        (line("ssh-ed25519", string(BASE_POINT[:31])), "has 32 bytes"),
        (line("ssh-ed25519", string((2).to_bytes(32, "little"))), "not a point of its curve"),
        (line("ssh-ed25519", string((2**255 - 19 + 3).to_bytes(32, "little"))), "not a point"),
        (line("ssh-ed25519", string(bytes(32))), "not a point"),
        (line("ssh-ed25519", string((1).to_bytes(32, "little"))), "not a point"),
        (line(ECDSA, string(b"nistp384"), string(P256_POINT)), "another curve"),
        (line(ECDSA, string(b"nistp256"), string(P256_POINT[:33])), "uncompressed"),
        (line(ECDSA, string(b"nistp256"), string(b"\x02" + P256_POINT[1:])), "uncompressed"),
        (line(ECDSA, string(b"nistp256"), string(P256_POINT[:-1] + b"\0")), "not a point"),
        (line("ssh-rsa", mpint(65537), mpint(2**1023 + 1)), "this one has 1024"),
        (line("ssh-rsa", mpint(65537), mpint(2**2046 + 1)), "this one has 2047"),
        (line("ssh-rsa", mpint(65537), mpint(2**16384 + 1)), "this one has 16385"),
        (line("ssh-rsa", mpint(65536), mpint(MODULUS)), "unsound"),
        (line("ssh-rsa", mpint(1), mpint(MODULUS)), "unsound"),
        (line("ssh-rsa", mpint(MODULUS + 2), mpint(MODULUS)), "unsound"),
        (line("ssh-rsa", mpint(65537), mpint(2**2047)), "unsound"),
        (line("ssh-rsa", string(b"\0\0\3"), mpint(MODULUS)), "a number of the key is damaged"),
        (line("ssh-rsa", string(b"\x83"), mpint(MODULUS)), "a number of the key is damaged"),
        (line("ssh-rsa", string(b""), mpint(MODULUS)), "a number of the key is damaged"),
        (line(SK_ED, string(BASE_POINT)), "cut short"),
        (line(SK_ED, string(BASE_POINT), string(b"https://x")), "another application"),
        (line(SK_ED, string(BASE_POINT), string(b"ssh:\n")), "another application"),
        (f"{ED} \0", "control character"),
        (f"{ED} a\x1bb", "control character"),
        (f"{ED}\x0b{ED}", "control character"),
        (f"{ED} \u2028{ED}", "control character"),
        (f"{ED} \x85", "control character"),
        (f"{ED}\r{ED}", "control character"),
        (f"{ED} {'x' * 8192}", "longer than 8192"),
    ],
)
def test_i4_anything_else_is_refused_with_what_to_do(text: str, told: str) -> None:
    said = reason(text)

    assert re.search(told, said)
    assert said.startswith("line 1: ")
    assert "\n" not in said


@pytest.mark.parametrize("text", [PRIVATE, PRIVATE_BODY, f"ssh-ed25519 {PRIVATE_BODY}"])
def test_a_private_key_is_never_repeated(text: str) -> None:
    assert PRIVATE_BODY[20:] not in repr(parse(text))


@given(st.text(min_size=20, alphabet=st.characters(min_codepoint=33, max_codepoint=126)))
def test_a_refusal_repeats_nothing_of_the_line(secret: str) -> None:
    assert not [refused for refused in parse(secret).refused if secret in str(refused)]


def test_lines_are_judged_one_by_one_and_keep_their_order_and_number() -> None:
    rsa = line("ssh-rsa", mpint(65537), mpint(MODULUS), comment="second")

    parsed = parse(f"# team\r\n{ED} first\r\nssh-dss AAAA\r\n\r\n{PRIVATE}{rsa}")

    assert ("first", "second") == tuple(key.comment for key in parsed.keys)
    assert (3, 5) == tuple(refused.number for refused in parsed.refused)


def test_a_key_file_without_its_end_hides_no_key_after_it() -> None:
    parsed = parse(f"-----BEGIN OPENSSH PRIVATE KEY-----\n{PRIVATE_BODY}\n{ED}")

    assert 1 == len(parsed.keys)
    assert (1,) == tuple(refused.number for refused in parsed.refused)


def test_thirty_two_lines_count_and_the_rest_is_told_once() -> None:
    parsed = parse("\n".join(f"{ED} {number}" for number in range(MAX_KEYS + 5)))

    assert MAX_KEYS == len(parsed.keys)
    assert "31" == parsed.keys[-1].comment
    assert 1 == len(parsed.refused)
    assert str(parsed.refused[0]).startswith("line 33: only the first 32")


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("me@here", "me@here"),
        ("Jane Doe's laptop", "Jane-Doe-s-laptop"),
        ("Zoë", "Zo"),
        ('"; rm -rf / #', "rm--rf"),
        ("x" * 100, "x" * 64),
        ("é", ""),
    ],
)
def test_a_comment_is_tamed(typed: str, kept: str) -> None:
    (key,) = parse(f"{ED} {typed}").keys

    assert kept == key.comment
    assert f"{ED} {kept}".rstrip() == key.line


def test_what_is_rendered_reads_as_the_same_keys() -> None:
    text = f"{ED}\t Jane Doe\r\n{line('ssh-rsa', mpint(65537), mpint(MODULUS))}"
    keys = parse(text).keys

    assert keys == parse(rendered(keys)).keys
    assert rendered(keys).endswith("\n")
    assert "" == rendered(())


@pytest.mark.parametrize("text", ["", "\n\n", "# none yet\r\n", " \t\r\n", "\ufeff"])
def test_no_lines_are_no_keys_and_no_refusals(text: str) -> None:
    assert ParsedKeys() == parse(text)


@given(st.text())
def test_any_text_is_answered(text: str) -> None:
    parsed = parse(text)

    assert parsed.keys == parse(rendered(parsed.keys)).keys


@given(st.binary(min_size=1, max_size=80))
def test_any_blob_is_a_key_or_refused(blob: bytes) -> None:
    parsed = parse(f"ssh-ed25519 {to_base64(blob)}")

    assert 1 == len(parsed.keys) + len(parsed.refused)
