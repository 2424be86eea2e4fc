"""Tables in files and in memory: columns, types, CSV."""
