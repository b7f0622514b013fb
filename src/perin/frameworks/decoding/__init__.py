"""From scores to decisions, one file each: labels, anchors, connected edges, trees, edge labels."""
