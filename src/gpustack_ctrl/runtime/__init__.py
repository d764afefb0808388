"""Effects that know no kind of ours: caches, queues, controllers and their lifetime.

Time, randomness, the API server and the metrics registry are parameters everywhere, so
that each module can be driven by a simulation instead of by the world.
"""
