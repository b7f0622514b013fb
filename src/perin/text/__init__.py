"""Raw text to sentences, tokens, lemmas and character ranges."""
