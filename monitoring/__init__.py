"""Rules, alerts and dashboards for Prometheus and Grafana, as data.

They stand outside the package: nothing that runs in a cluster needs them, nor the library
that the dashboards are built with. `python -m monitoring` writes `deploy/monitoring/`.
"""
