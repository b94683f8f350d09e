"""Everything that yields the bytes of a log: files, streams, object stores."""
