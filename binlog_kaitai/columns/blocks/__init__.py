"""A log as blocks of complete events: read, framed, checksummed, and with payloads expanded."""
