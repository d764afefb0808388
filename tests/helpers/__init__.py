"""Stand-ins for the world: a clock, an API server, builders of objects."""
