"""Services: the actions of workers and owners, one file per action; they combine the study's rules with the store."""
