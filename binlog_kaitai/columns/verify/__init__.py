"""One pass over a log that finds all damage it can."""
