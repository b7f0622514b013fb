"""From words to a contextual vector a token: pretrained encoders and one that needs no download."""
