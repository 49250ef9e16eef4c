"""A tiny package with compiled functions, for processes of their own."""

import pytest
import tiny_package


@pytest.fixture
def package(tmp_path):
    """Provide the folder of the package's kernels; a helper must be written to it."""
    return tiny_package.make(tmp_path)
