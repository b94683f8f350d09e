"""The generator: `python -m tools.generate` writes everything in generated/ from formats/*.ksy.

formats/*.ksy ── grammar ──► compiler (ksc under Node) ──► classes   Kaitai classes, which note positions
                    ├──► stubs      .pyi for these
                    ├──► layouts    record layouts of events, and walks over structures in them
                    ├──► decoders   functions that return the parts of a value
                    ├──► masks, meanings, sizes   what code without objects needs to know
                    └──► webide     a single file with all imports inlined
"""
