"""Printed numbers of Macha et al. (2020): Tables 1, 2 and 3."""

# exponents of (n, d) in the bounds of Table 1, with and without a stored kernel matrix
TABLE_1 = {
    "stored": {"evaluation of one step": (0, 0), "update of s": (1, 0), "total": (1, 0)},
    "not stored": {"evaluation of one step": (0, 1), "update of s": (1, 1), "total": (1, 1)},
}

# d, then (n, percentage of positives) of the training, validation and test part
TABLE_2 = {
    "Ionosphere": (34, (176, 64.2), (87, 64.4), (88, 63.6)),
    "Spambase": (57, (2301, 39.4), (1150, 39.4), (1150, 39.4)),
    "WhiteWineQuality": (11, (2449, 21.6), (1224, 21.7), (1225, 21.6)),
    "RedWineQuality": (11, (800, 13.5), (400, 13.8), (399, 13.5)),
    "Fashion-MNIST": (784, (50000, 10.0), (10000, 10.0), (10000, 10.0)),
}

RECALLS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8)

# precision in percent at each recall, mean over the five sets
TABLE_3 = {
    "linear": {
        "TopPush": (79.83, 64.27, 65.55, 61.85, 57.89, 51.83),
        "TopPushK, K = 5": (73.96, 65.41, 64.82, 60.28, 56.94, 50.52),
        "TopPushK, K = 10": (60.63, 61.97, 59.69, 56.89, 54.40, 49.83),
        "Pat&Mat, tau = 0.01": (63.67, 60.30, 58.74, 57.75, 53.32, 48.42),
        "Pat&Mat, tau = 0.05": (54.05, 60.91, 63.32, 55.24, 52.55, 48.30),
        "Pat&Mat, tau = 0.1": (57.02, 61.24, 62.49, 63.11, 59.91, 52.14),
    },
    "rbf": {
        "TopPush": (97.50, 86.06, 81.28, 76.15, 71.13, 60.17),
        "TopPushK, K = 5": (92.50, 87.56, 85.31, 78.47, 70.77, 57.10),
        "TopPushK, K = 10": (89.50, 87.56, 83.15, 79.09, 71.88, 59.27),
        "Pat&Mat, tau = 0.01": (89.65, 89.11, 86.75, 80.77, 75.44, 65.95),
        "Pat&Mat, tau = 0.05": (80.77, 81.28, 85.74, 82.92, 74.91, 65.04),
        "Pat&Mat, tau = 0.1": (81.30, 84.14, 82.58, 83.12, 77.82, 66.50),
    },
}
