"""Training of the page model: pages with truth, labels, linear models, boosted trees, calibration."""
