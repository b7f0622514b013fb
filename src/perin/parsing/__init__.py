"""A trained model on text: prediction, streams, files, the parser."""
