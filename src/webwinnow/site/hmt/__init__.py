"""Hidden Markov trees: passes, expectation maximisation, classification."""
