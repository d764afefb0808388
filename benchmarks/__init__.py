"""Measurements, as ratios within one run: this is no place for absolute times."""
