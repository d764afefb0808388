"""What goes wrong with an embedded cluster."""


class ClusterError(Exception):
    """Something a person can put right; the message is one line and says how."""
