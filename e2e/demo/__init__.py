"""The operator at work on the embedded cluster, told step by step and checked as it is told.

`python -m e2e.demo [--keep]`. What is told is in `story`, as data: the tutorial in
docs/tutorial/first-instance.md gives the same commands to type by hand.
"""
