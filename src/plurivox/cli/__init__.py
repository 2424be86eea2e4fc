"""The command line: flags in, a method called, the answer shown. Nothing numeric is imported before it is needed."""
