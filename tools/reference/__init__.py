"""The format reference: docs/grammar/ and a static site, generated from formats/ and the corpus."""
