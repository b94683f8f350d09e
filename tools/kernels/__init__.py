"""The build of the kernels' machine code: Numba compiles them, a C compiler links them.

==============  ==================================================================
annotations     the kernels of the package, and the types of their arguments
translate       compiles one kernel, for its argument types, to an object file
worker          a process that compiles kernels
targets         the systems and processors that libraries are built for
linking         links object files to a shared library
build           finds new and changed kernels, and builds the library
recorded_calls  records calls of kernels, to repeat them on other systems
==============  ==================================================================

The package does not need these at run time: `binlog_kaitai.kernels.library` loads the result.
"""
