"""How Instances pass their time: who holds what, since when, and what that comes to."""
