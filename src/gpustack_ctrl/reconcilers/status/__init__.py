"""What to tell of an Instance: one summary, and a module for each thing it is drawn from."""
