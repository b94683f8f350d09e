"""Test vectors for other implementations: a small real log for each event type, and its tree as JSON."""
