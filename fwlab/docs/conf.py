"""Settings of Sphinx for the site; `python -m fwlab.docs build` copies this file to the sources."""

import os
import sys
from pathlib import Path

from fwlab import __version__
from fwlab.docs import cite

sys.path.insert(0, str(Path(__file__).parent))

project = "fwlab"
author = "the fwlab developers"
copyright = f"2026, {author}"
release = version = __version__
language = "en"
exclude_patterns = ["examples"]

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "mathml_renderer",
    "gallery_cards",
]
myst_enable_extensions = ["dollarmath", "fieldlist", "colon_fence", "deflist"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

autodoc_typehints = "none"
autodoc_use_type_comments = False  # there are none; looking for them takes seconds
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "furo"
html_title = "fwlab"
html_favicon = "static/favicon.svg"
templates_path = ["theme"]
html_context = {"commit": cite.commit()}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [(name, {"defer": "defer"}) for name in ("long_pages.js", "tables.js")]
html_extra_path = ["extra"]
html_show_sphinx = False
html_copy_source = False

# the outputs of examples are read on paper and on screens, where a bar has ended
os.environ["TQDM_DISABLE"] = "1"
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 60,
    "show_memory": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
}
