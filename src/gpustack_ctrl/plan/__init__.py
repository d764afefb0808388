"""Decisions that hold for every kind: what an action is, and when one is due."""
