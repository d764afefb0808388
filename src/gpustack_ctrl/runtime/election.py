"""Leader election as a state machine."""


class LeadershipLostError(Exception):
    """Another process may lead from now on: this one must end at once."""
