"""The ledger for readers: a table on the terminal, Markdown, and one HTML page.

Each is made from records alone, so it can be made again from stored ones.
"""
