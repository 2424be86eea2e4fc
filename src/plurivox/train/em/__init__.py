"""Label estimation from votes and any classifier together (Raykar's EM, CROWDLAB), without torch."""
