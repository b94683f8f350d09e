"""A log in blocks: read, framed, checked and opened, many whole events in one array."""
