"""Train on a Dask cluster: each partition of rows stays with a worker, round by round."""
