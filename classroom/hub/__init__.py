"""A class on one machine: JupyterHub with a roster, deadlines, and hand-ins that are collected and given back."""
