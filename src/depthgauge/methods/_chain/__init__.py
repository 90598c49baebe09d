"""The steps of `stereo-chain`, each exchangeable: cost, aggregation, optimisation, refinement."""
