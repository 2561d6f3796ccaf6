"""Mining of pages as feature vectors, cleaned or raw: classes and clusters. Nothing here sees a tree."""
