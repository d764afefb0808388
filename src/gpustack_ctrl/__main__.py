"""Lets `python -m gpustack_ctrl` be the command."""

from gpustack_ctrl.cli import main

main()
