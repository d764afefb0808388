"""EFFECTS: the way to the API server. JSON bytes go in and out, errors are `api.errors`."""
