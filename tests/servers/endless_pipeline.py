"""A pipeline that starts Spark, waits for a line on stdin, and runs until it is killed.

python -m tests.servers.endless_pipeline SOURCE LAKE [READERS OF A SNAPSHOT]
"""

from __future__ import annotations

import sys

from binlog_kaitai.pipeline.followed_logs import Following, spooled
from binlog_kaitai.pipeline.pipeline import Job, Pipeline
from binlog_kaitai.pipeline.pipeline_reports import work_of
from binlog_kaitai.pipeline.spark_session import session
from binlog_kaitai.pipeline.spark_tasks import SparkTasks
from binlog_kaitai.sources import is_server

if __name__ == "__main__":
    spark = session("local[2]", ["spark.driver.memory=512m"], has_rows=False)
    source, lake, *readers = sys.argv[1:]
    paths, server = spooled((source,), f"{work_of(lake)}/spool" if is_server(source) else None)
    following = Following(paths, max_bytes=1 << 18, split_size=1 << 16, server=server)
    print("ready", flush=True)
    sys.stdin.readline()
    job = Job(following, lake, work_of(lake), snapshot_readers=int(readers[0]) if readers else 0)
    Pipeline(job).run(SparkTasks(spark), interval=0)
