"""Feature vectors of pages: their words, weighted by site; estimators in the style of scikit-learn."""
