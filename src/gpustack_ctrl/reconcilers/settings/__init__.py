"""The Settings: their catalogue, and what of each is in force."""
