"""The exporter: what is read of nodes, kept, and told at a scrape."""
