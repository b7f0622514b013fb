"""A trained model on text: the model folder, prediction, the parser."""
