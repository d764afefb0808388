"""Facts: the kinds, names and errors of the Kubernetes API that we read and write.

Nothing here does I/O, reads a clock or decides anything. Wire types carry the names
that their fields have on the wire, so that one name serves Python, the CRD and CEL.
"""
