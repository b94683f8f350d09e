"""The generator: everything in generated/ comes from formats/*.ksy through `python -m tools.generate`.

formats/*.ksy ── grammar ──► compiler (ksc under Node) ──► classes   Kaitai classes, and the traced ones
                    │             └── the compiler's types ──► stubs     .pyi beside them
                    ├──► layouts    record layouts of the fixed-size fields
                    ├──► tables     field tables for people
                    └──► webide     one file with all imports folded in
"""
