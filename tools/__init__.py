"""Programs that work on the project: the generator, the corpus, the benchmarks."""
