"""A trained model on text: the parser."""
