"""Training of the page model: pages with truth, labels, the linear models, the forests, calibration."""
