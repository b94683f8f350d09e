"""Which transaction each event of a block belongs to, and what a transaction is in all."""
