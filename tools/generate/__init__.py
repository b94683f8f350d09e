"""The generator: `python -m tools.generate` writes everything in generated/ from formats/*.ksy.

formats/*.ksy ── grammar ──► compiler (ksc under Node) ──► classes   Kaitai classes, which note positions
                                        │             └── the compiler's types ──► stubs     .pyi for these
                    ├──► layouts    record layouts of the fixed-size fields
                                        ├──► tables     field tables for documentation
                                        └──► webide     a single file with all imports inlined
"""
