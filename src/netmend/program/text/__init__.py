"""Source as text and tree: where nodes stand, and edits that keep the layout of everything they do not touch."""
