"""Command line: parse options, call a workflow, print the result. numpy and torch are imported only when a command runs."""
