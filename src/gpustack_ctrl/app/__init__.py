"""The composition root: the only place that joins client, informers and controllers."""
