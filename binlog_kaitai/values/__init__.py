"""Column values: conversion from the grammar's objects to Python, and to text as the server prints it.

types            the table of column types
schema           the schema of a table, from its table map and its definition
column_metadata  the metadata of each column in a table map
definition       tables and columns as CREATE TABLE defines them
charsets         character sets and collations
numbers          integers, DECIMAL, FLOAT and DOUBLE as servers print them
temporal         dates and times of all formats
strings          padding, compressed columns, ENUM and SET, UUID and INET
json_text        binary JSON documents as the server prints them
json_diff        partial updates of JSON documents
sql_text         SQL literals
json_sql         JSON documents as SQL
"""
