"""A pipeline into a lake: loads logs, each transaction exactly once, as they come.

==============  ==================================================================
followed_logs   where a query or pipeline is in the logs it follows, and what comes next
tasks           what runs the tasks of a batch; processes of this machine that do
healing         tables of a lake that are read from their server again
progress        what each batch of a pipeline loaded, and what remains
pipeline        writes logs to a lake
fleet           several pipelines side by side
spark_session   sessions of Spark, their data sources, and the Python of their workers
spark_tasks     tasks in Spark's workers
spark_catalog   tables of a lake in a catalog of Spark
fleet_file, pipeline_command, pipeline_reports  `binlog-kaitai pipeline`
==============  ==================================================================
"""
