"""The site: pages, examples, and what is generated from the ledger, the figures and the library.

This package is in no wheel. It documents the whole repository, so that no other part of `fwlab` may
import `paper_checks` and `figures`.
"""
