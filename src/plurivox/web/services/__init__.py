"""What a request does to a study, one file per request: the rules of the study, with the statements of the store."""
