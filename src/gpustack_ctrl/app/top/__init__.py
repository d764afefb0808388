"""The command `top`: what Instances have and use, in a table."""
