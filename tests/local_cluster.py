"""How tests open a Dask cluster: without a port that another machine reaches."""

NO_PUBLIC_PORT = {"dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
