"""A Kubernetes operator that runs GPU Instances.

`api` holds facts, `plan` and `reconcilers` decide without any effect, `runtime`,
`client` and `controllers` act, `app` joins them and `cli` is the way in.
"""
