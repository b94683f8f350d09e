"""How fast the package is, on logs of a gigabyte made from the corpus."""
