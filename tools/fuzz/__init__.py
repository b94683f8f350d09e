"""A fuzzer: real events with mutations, through every entry of the package.

bases      pieces of logs of the corpus: a few transactions behind the head of their log
draft      the events of a log that is being changed, and how they become bytes again
fields     where the fields of an event lie, by the traced classes of the grammar; new bytes for one of them
values     what numbers, text and bytes may become
mutations  one change of a draft; all kinds of them
nested     changes inside of what is compressed, and rows events cut into pieces
statements texts of statements
mutants    the mutant of a number: its base and its mutations, all by chance, all repeatable
run        the outcomes of the entries on one log, and what does not hold between them
outcome    what an entry gives, and what went wrong with it
reading    entries that read: by the reader, by columns, for damage, for scripts and counts
remaking   entries that write: repaired logs, slices, Parquet
printing   the entry that prints as the clients do
parts      entries that read in splits, by an index file, or as a log grows
commands   the command line
entries    all entries, and how often each is run
bounds     time and memory
findings   what was found, one file for each kind; how to do it again
shrink     fewer mutations and events for the same finding
work       processes that share the work
"""
