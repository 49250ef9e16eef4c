"""What the scripts share: studies, captions, tables, style, pages."""
