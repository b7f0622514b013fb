"""One file a framework: from graph to training target, from prediction to graph."""
