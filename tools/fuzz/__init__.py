"""A fuzzer: real events with mutations, through every entry of the package.

bases      pieces of logs of the corpus: a few transactions behind the head of their log
draft      the events of a log that is being changed, and how they become bytes again
fields     where the fields of an event lie, by the traced classes of the grammar; new bytes for one of them
values     what numbers, text and bytes may become
mutations  one change of a draft; all kinds of them
nested     changes inside of what is compressed, and rows events cut into pieces
statements texts of statements
mutants    the mutant of a number: its base and its mutations, all by chance, all repeatable
entries    what is run on a mutant; which entries, by number
outcome    what an entry gives, and what went wrong with it
invariants what must hold between the outcomes
bounds     time and memory
findings   what was found, one file for each kind; how to do it again
shrink     fewer mutations and events for the same finding
work       processes that share the work
"""
