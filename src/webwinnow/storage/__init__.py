"""Files and messages between processes: model files, atomic writes, SQLite, Parquet, frames. Imports nothing above."""
