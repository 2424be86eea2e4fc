"""EM and consensus around any classifier, without torch."""
