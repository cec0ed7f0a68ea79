"""The accuracy table: which test ROM must say what, on which evidence, and whether it does.

``table`` reads ``tests/expectations.toml``, ``protocols`` runs one row of it on a
console, ``runner`` all of them in several processes, ``report`` and ``page`` say
what came of it.
"""
