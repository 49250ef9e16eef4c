"""Change the formulas of the checks one at a time and count the changes that the ledger detects."""
