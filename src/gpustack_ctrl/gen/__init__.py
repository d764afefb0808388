"""From the API classes to what Kubernetes and people read: CRDs, roles, reference pages.

Nothing here is imported by a controller. The command line imports `crd` to print or
install the CRDs; `python -m gpustack_ctrl.gen` writes the files of the repository.
"""
