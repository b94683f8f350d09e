"""Values as text, in JSON, in SQL, and as servers and their clients write them; columns of such text.

It does without Arrow, so that commands that print text need not load it.
"""
