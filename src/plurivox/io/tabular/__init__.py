"""Tables: read and write CSV, JSON, Parquet and Arrow files, and convert columns between types."""
