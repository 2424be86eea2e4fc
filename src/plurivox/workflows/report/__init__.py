"""The report of votes as one HTML file: what the page consists of, how each section is computed, and how it is written."""
