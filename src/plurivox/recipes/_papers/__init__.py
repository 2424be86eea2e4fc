"""What the recipes of one paper need: its protocol, conditions and figures."""
