"""Records the corpus: real logs, the SQL that produced them, and their servers' own descriptions of them."""
