"""Benchmarks of the package, on logs of one gigabyte made from the corpus."""
