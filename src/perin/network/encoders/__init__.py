"""From words to a contextual vector per token: pretrained encoders and one that needs no download."""
