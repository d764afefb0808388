"""The isolation policy of a namespace: what it says, and whose it is."""
