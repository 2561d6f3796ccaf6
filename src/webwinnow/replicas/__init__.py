"""Replica removal (DocView 5): fingerprints of pages, clusters of replicas, and the page of each that is kept."""
