"""A fuzzer: mutated real events as input for every entry point of the package.

bases       parts of corpus logs: the start of a log, and a few of its transactions
draft       the events of a log that is being mutated, and their conversion to bytes
fields      offsets of the fields of an event, from the generated classes; replacing their bytes
values      mutated numbers, text and bytes
mutations   single mutations of a draft
mixtures    events, format descriptions and table maps of several logs
documents   JSON documents with opaque values
nested      mutations of compressed data, and rows events split into pieces
statements  mutated statements
mutants     the mutant of a number: its base and its mutations, random but reproducible
run         the outcomes of the entry points on a log, and violated invariants
outcome     the result of an entry point, and the problems found in it
reading     entry points that read: event reader, columns, verification, scripts, statistics
agreement   entry points that return rows in other forms: objects, Arrow columns, the text of `dump -vv`
remaking    entry points that write: repaired logs, slices, Parquet
printing    the entry point that imitates the clients' output
parts       entry points that read splits or growing logs
wrapped     entry points that read packed or encrypted logs, index files, and a server that lies
commands    the command line
entries     all entry points, and how often each is run
bounds      limits for time and memory
findings    findings, one file for each kind; replaying them
shrink      reduces mutations and events for the same finding
work        processes that share the work
"""
