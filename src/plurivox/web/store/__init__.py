"""Store: the database of a study. A file a topic; every function takes a connection inside a transaction."""
