"""What rooms hand to each other: the sentence, the training target and the prediction.

``frameworks`` turns a graph into a :class:`~perin.contract.heads.Target` and a
:class:`~perin.contract.heads.Prediction` into a graph; the network learns the one and gives the other.
"""
