"""What the nodes offer: what is left of an InstanceType, and which types would fit."""
