"""Who may log in to an Instance, and the key by which its server is known."""
