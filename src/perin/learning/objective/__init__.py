"""From a batch to losses and gradients: matching, ties, losses, their balance."""
