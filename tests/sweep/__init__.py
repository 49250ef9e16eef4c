"""A seeded sweep: random problems, hostile arrays and extreme scales, each run judged exactly."""
