"""Kernels: functions over arrays that run as machine code or as plain Python."""
