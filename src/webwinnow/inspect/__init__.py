"""The inspector: one HTML page that shows what was kept and removed, and why."""
