"""Sources: everything that yields the bytes of a log, such as files, streams and object stores."""
