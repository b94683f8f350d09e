"""Records the corpus: real logs, the SQL that made them, and what their servers say about them."""
