"""Times of calls, for the comparisons in this folder."""

import statistics
import time


def median(call, least):
    """The median of so many calls as take `least` seconds, at least three, in milliseconds; and their number."""
    call()
    times, start = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < least:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3, len(times)
