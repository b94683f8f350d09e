"""What callers see of many events: the views of events and changes as Arrow, and as lines of text."""
