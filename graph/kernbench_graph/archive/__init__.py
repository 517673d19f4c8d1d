"""A run as a folder of Parquet files: the record."""
