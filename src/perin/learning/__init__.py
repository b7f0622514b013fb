"""How a model is trained: recipes here, and drawers for the data, the objective and the run."""
