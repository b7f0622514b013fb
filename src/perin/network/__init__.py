"""The neural network: encoder, queries, decoder, heads.  Knows tensors only."""
