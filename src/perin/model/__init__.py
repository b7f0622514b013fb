"""What a trained model is, in memory and on disk: shared by parsing and learning."""
