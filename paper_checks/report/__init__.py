"""Show the ledger to readers: a table on the terminal, Markdown, and one HTML page.

Each is made from records only, so it can be rebuilt from stored records.
"""
