"""From treebank files to batches of examples."""
