"""Column values: conversion from the grammar's objects to Python, and to text as the server prints it."""
