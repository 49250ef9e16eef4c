"""Parts shared by all scripts: studies, captions, tables, style, pages."""
