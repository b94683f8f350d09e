"""The public views of events and changes: as Arrow, as lines of text, and as Python objects."""
