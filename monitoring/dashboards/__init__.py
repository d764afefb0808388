"""The dashboards, each a module."""

from monitoring.dashboards import fleet, instance, operator, waste

BOARDS = (fleet.BOARD, instance.BOARD, waste.BOARD, operator.BOARD)
