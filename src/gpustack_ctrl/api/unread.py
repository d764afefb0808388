"""Why a source of figures told nothing: one word for series, and what it means."""

from enum import StrEnum


class Unread(StrEnum):
    """The values of the label `reason`."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    UNTRUSTED = "untrusted"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    HTTP_ERROR = "http_error"
    TRUNCATED = "truncated"
    TOO_LARGE = "too_large"
    INVALID_DATA = "invalid_data"
    BROKEN = "broken"
    NO_ADDRESS = "no_address"
    NO_NODE = "no_node"
    LATE = "late"
    FAULT = "fault"
    NOT_IN_ANSWER = "not_in_answer"
    NOT_MEASURED_YET = "not_measured_yet"


MEANINGS = {
    Unread.UNREACHABLE: "No connection came about.",
    Unread.TIMEOUT: "The answer was not there in time.",
    Unread.UNTRUSTED: "Its certificate is not signed by the cluster's authority, or for another "
    "address; see `--kubelet-insecure-tls`.",
    Unread.UNAUTHORIZED: "It does not know our token.",
    Unread.FORBIDDEN: "We lack the right: `nodes/stats`, or `nodes/metrics` for the fall-back.",
    Unread.NOT_FOUND: "It has no such page.",
    Unread.HTTP_ERROR: "It answers with another status than 200.",
    Unread.TRUNCATED: "It closed the connection before its answer was complete.",
    Unread.TOO_LARGE: "Its answer has more than 16 MiB.",
    Unread.INVALID_DATA: "Its answer is not what it is documented to write.",
    Unread.BROKEN: "The connection broke in another way; our log tells it.",
    Unread.NO_ADDRESS: "The Node tells no address.",
    Unread.NO_NODE: "There is no Node of the name that a Pod is on.",
    Unread.LATE: "Two periods passed and its turn to be read again did not come.",
    Unread.FAULT: "A defect of this program; our log tells it.",
    Unread.NOT_IN_ANSWER: "The kubelet answers, and does not mention the Pod.",
    Unread.NOT_MEASURED_YET: "The kubelet mentions the Pod, with zeros alone: it is new.",
}
