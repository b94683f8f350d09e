"""What a log consists of: events one at a time, or blocks of many, and the transactions that they form."""
