"""The registry of cleaning methods, and one module for each method beside the default one."""
