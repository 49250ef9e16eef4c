"""Selection of the few largest entries of a long row, in two passes over it.

The first pass keeps the maximum of each of 64 lanes (entry j belongs to lane j mod 64). A number
that k lanes reach is a lower bound of the k-th largest entry, and a close one while k is well below
64. The second pass collects the entries from a bound on, and skips a group of 64 without any after
one count. The compiler knows the length of the inner loops and makes vector code of them: each pass
takes 0.2 ns per entry (one core, AVX-512, d = 10^4). `python -m figures.benchmarks projections`
prints the time of np.partition, too.
"""

import numpy as np

from fwlab.kernels._jit import compiled

LANES = 64
# halvings in the search for the k-th largest lane; more do not make the bound much closer
BISECTIONS = 8
# a sample of 64 entries pays for rows this many times as long
SAMPLED = 8
# insertion takes a third of the time of the library's sort on 16 entries, and half on 64
INSERTION_LENGTH = 64
# the library's sort is faster up to this length; beyond, it takes 5 to 10 times as long
RADIX_LENGTH = 1024
# longest selection that is sorted: Newton's method takes half the time on 50 entries
FEW = 16
# a bisection passes over the row several times; for longer rows a sample of it is faster
BISECTED_LENGTH = 4096
EPS = 2.0**-52
# Newton's method usually ends after 3 to 8 steps
NEWTON_STEPS = 20


@compiled
def lane_maxima(row, largest, lanes):
    """Fill the 64 `lanes`; return how many entries are NaN or larger than `largest` in size."""
    lanes[:] = -np.inf
    whole = len(row) // LANES * LANES
    refused = 0
    for start in range(0, whole, LANES):
        for lane in range(LANES):
            entry = row[start + lane]
            lanes[lane] = max(lanes[lane], entry)
            refused += not abs(entry) <= largest
    for j in range(whole, len(row)):
        lanes[j - whole] = max(lanes[j - whole], row[j])
        refused += not abs(row[j]) <= largest
    return refused


@compiled
def window_of_kth(row, k):
    """Return low, high, the number of entries >= high, and the largest entry, by bisection.

    The k-th largest entry is at least `low` and below `high`.
    """
    low, largest = row[0], row[0]
    for j in range(1, len(row)):
        low, largest = min(low, row[j]), max(largest, row[j])
    high, above = np.inf, 0
    if k == 1:
        return largest, high, above, largest
    for _ in range(BISECTIONS):
        middle = 0.5 * low + 0.5 * min(high, largest)
        hits = 0
        for j in range(len(row)):
            hits += row[j] >= middle
        if hits >= k:
            low = middle
        else:
            high, above = middle, hits
        if hits == k:
            break
    return low, high, above, largest


@compiled
def reached_by(lanes, k):
    """Return a number that at least k of the lanes reach, and the largest lane."""
    low, _, _, largest = window_of_kth(lanes, k)
    return low, largest


@compiled
def collect_between(row, low, high, values):
    """Write the entries in [low, high) to the front of `values`; return their number."""
    count = 0
    whole = len(row) // LANES * LANES
    for start in range(0, whole, LANES):
        hits = 0
        for lane in range(LANES):
            hits += (row[start + lane] >= low) & (row[start + lane] < high)
        if hits > 0:
            for j in range(start, start + LANES):
                values[count] = row[j]
                count += (row[j] >= low) & (row[j] < high)
    for j in range(whole, len(row)):
        if low <= row[j] < high:
            values[count] = row[j]
            count += 1
    return count


@compiled
def collect_from(row, bound, index, values):
    """Write the entries >= bound and their indices to the front of arrays as long as the row.

    Returns their number. Within a group every index is written, and kept if its entry counts, so
    that there is no branch to predict.
    """
    count = 0
    whole = len(row) // LANES * LANES
    for start in range(0, whole, LANES):
        hits = 0
        for lane in range(LANES):
            hits += row[start + lane] >= bound
        if hits > 0:
            for j in range(start, start + LANES):
                index[count] = j
                count += row[j] >= bound
    for j in range(whole, len(row)):
        if row[j] >= bound:
            index[count] = j
            count += 1
    for j in range(count):
        values[j] = row[index[j]]
    return count


@compiled
def guess_below(row, k, sample):
    """Return a number that the k-th largest entry of the row probably exceeds, -inf for a large k.

    Of 64 entries, evenly spread over the row, it is the one with 3 standard deviations more entries
    above it than the share k of the row.
    """
    step = len(row) // LANES
    share = k * LANES / len(row)
    rank = int(share + 3.0 * np.sqrt(share)) + 1
    if rank >= LANES or step < SAMPLED:
        return -np.inf
    for j in range(LANES):
        sample[j] = row[j * step]
    insert_ascending(sample)
    return sample[LANES - 1 - rank]


@compiled
def kth_largest(values, k):
    """Return the k-th largest entry, and change the order of all; O(n) on average.

    Each round splits what is left by the median of three entries; after many rounds it is sorted.
    """
    first, last, place = 0, len(values) - 1, len(values) - k
    for _ in range(4 * int(np.log2(len(values) + 1.0)) + 4):
        if last - first < FEW:
            break
        a, b, c = values[first], values[(first + last) // 2], values[last]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = first, last
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            last = j
        elif place >= i:
            first = i
        else:
            return values[place]
    if last - first < FEW:
        insert_ascending(values[first : last + 1])
    else:
        sort_by_bytes(values[first : last + 1])
    return values[place]


@compiled
def kth_of_row(row, k, index, values, sample):
    """Return the k-th largest entry of the row.

    The other arrays are scratch: index and values as long as the row, sample with 64 entries.
    """
    if len(row) <= BISECTED_LENGTH:
        low, high, above, _ = window_of_kth(row, k)
        found = collect_between(row, low, high, values)
        return kth_largest(values[:found], k - above)
    found = collect_from(row, guess_below(row, k, sample), index, values)
    if found < k:
        found = collect_from(row, -np.inf, index, values)
    return kth_largest(values[:found], k)


@compiled
def flip_bits(bits):
    """Turn the bits of numbers into integers in their order, and back."""
    for j in range(len(bits)):
        bits[j] ^= (bits[j] >> 63) & 0x7FFFFFFFFFFFFFFF


@compiled(inline=True)
def digit_of(key, byte):
    """Return a byte of an integer, for the order of integers with a sign."""
    return ((key >> (8 * byte)) & 255) ^ (128 * (byte == 7))


@compiled(allocates=True)
def sort_by_bytes(values):
    """Sort in place: radix sort from the last byte to the first, without bytes that all share."""
    bits, other = values.view(np.int64), np.empty(len(values), np.int64)
    starts = np.zeros((8, 256), np.int64)
    flip_bits(bits)
    for key in bits:
        for byte in range(8):
            starts[byte, digit_of(key, byte)] += 1
    source, target = bits, other
    for byte in range(8):
        if starts[byte, digit_of(source[0], byte)] == len(values):
            continue
        first = 0
        for digit in range(256):
            first, starts[byte, digit] = first + starts[byte, digit], first
        for key in source:
            digit = digit_of(key, byte)
            target[starts[byte, digit]] = key
            starts[byte, digit] += 1
        source, target = target, source
    for j in range(len(bits)):
        bits[j] = source[j]
    flip_bits(bits)


@compiled(allocates=True)
def sort_ascending(values):
    """Sort in place."""
    if len(values) > RADIX_LENGTH:
        sort_by_bytes(values)
        return
    if len(values) > INSERTION_LENGTH:
        values.sort()
        return
    insert_ascending(values)


@compiled
def insert_ascending(values):
    """Sort a few entries in place, by insertion."""
    for j in range(1, len(values)):
        value, place = values[j], j
        while place > 0 and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value


@compiled(fastmath=True)
def split_sums(values, shift, t, v):
    """Return the number of the differences values - shift >= v, of the differences in (t, v), and
    both sums.
    """
    full, moving, full_sum, moving_sum = 0, 0, 0.0, 0.0
    for j in range(len(values)):
        difference = values[j] - shift
        full += difference >= v
        moving += (difference > t) & (difference < v)
        full_sum += difference if difference >= v else 0.0
        moving_sum += difference if (difference > t) & (difference < v) else 0.0
    return full, moving, full_sum, moving_sum


@compiled
def beside_gap(values, shift, t, below):
    """Return the largest difference values - shift that is at most t, or the smallest above t."""
    low, high = -np.inf, np.inf
    for j in range(len(values)):
        difference = values[j] - shift
        low = max(low, difference if difference <= t else -np.inf)
        high = min(high, difference if difference > t else np.inf)
    return low if below else high


@compiled(fastmath=True)
def mean_between(values, shift, t, v, mean):
    """Return the mean of values - shift - t over the differences values - shift in (t, v).

    `mean` approximates it: the sum of small numbers loses fewer digits. At least one difference
    lies in (t, v).
    """
    count, total = 0, 0.0
    for j in range(len(values)):
        difference = values[j] - shift
        moving = (difference > t) & (difference < v)
        count += moving
        total += (difference - t) - mean if moving else 0.0
    return mean + total / count


@compiled(inline=True)
def add_compensated(total, lost, term):
    """Return total + term and what the addition loses, after Kahan; `lost` enters the sum."""
    term -= lost
    larger = total + term
    return larger, (larger - total) - term


@compiled
def sum_of_differences(values, base, shift, v):
    """Return the sum of values - base over the values with values - shift >= v."""
    total, lost = 0.0, 0.0
    for value in values:
        if value - shift >= v:
            total, lost = add_compensated(total, lost, value - base)
    return total
