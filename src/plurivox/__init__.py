"""plurivox: from what a crowd says to a trained, honestly judged model."""
