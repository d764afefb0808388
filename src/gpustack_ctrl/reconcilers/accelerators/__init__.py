"""What an Instance asks of device plugins, and what else comes with a card."""
