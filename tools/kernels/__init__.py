"""Machine code of kernels, made when the package is built: Numba compiles them, a C compiler links them.

=========  =====================================================================
translate  one kernel, for the types of its arguments, to an object file
worker     a process that translates kernels, one after the other
targets    processors: which levels a library has code for
linking    object files to a shared library
build      which kernels are new or changed, and the library of all
wheels     wheels for other machines
=========  =====================================================================

The package itself needs none of this: `binlog_kaitai.columns.kernel.library` loads what is made here.
"""
