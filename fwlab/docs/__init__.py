"""The site: pages, examples, and what is generated from the ledger, the figures and the library.

This package is in no wheel. It documents the whole repository, and imports nothing of it but the
library: of the ledger it reads `ledger.json`, of the figures their stored results.
"""
