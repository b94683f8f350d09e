"""Development tools: generator, kernel build, corpus, servers, benchmarks, fuzzer."""
