"""Store: the database of a study, one file per topic; functions take a connection inside a transaction."""
