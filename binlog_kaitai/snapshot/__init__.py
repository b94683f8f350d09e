"""How a lake begins: the tables of a server, or a dump of them by mysqldump, mariadb-dump or mydumper.

Rule: a dump is read completely, or refused with the file, the line, and what to do.
"""
