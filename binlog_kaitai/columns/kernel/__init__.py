"""Kernels: small functions over arrays, run as they are or as machine code."""
