"""A pipeline that starts Spark, waits for a line on stdin, and runs until it is killed.

python -m tests.servers.endless_pipeline SOURCE FOLDER
"""

from __future__ import annotations

import sys

from binlog_kaitai.spark.pipeline import Job, Pipeline
from binlog_kaitai.spark.session import session
from binlog_kaitai.spark.stream import Following

if __name__ == "__main__":
    spark = session("local[2]", ["spark.driver.memory=512m"], has_rows=False)
    following = Following((sys.argv[1],), max_bytes=1 << 18, split_size=1 << 16)
    print("ready", flush=True)
    sys.stdin.readline()
    pipeline = Pipeline(Job(following, sys.argv[2]))
    pipeline.start(spark, interval="0 seconds").awaitTermination()
