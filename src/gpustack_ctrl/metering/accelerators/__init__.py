"""Whose use of a card a figure is: sources read to samples, samples matched to Pods."""
