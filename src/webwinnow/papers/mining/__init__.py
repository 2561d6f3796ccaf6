"""Mining of labelled pages before and after cleaning (thesis chapter 5)."""
