"""The reference of the format: docs/grammar/ and a static site, generated from formats/ and the corpus."""
