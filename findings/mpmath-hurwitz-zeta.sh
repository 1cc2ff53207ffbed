#!/usr/bin/env bash
# mpmath 1.3.0: zeta(30, 100), the zeta function of Hurwitz, is wrong from the 12th digit on, whatever precision is asked for.
#
# Expected at 40 digits: 3.973234638808089884550923731921820981663e-60, the sum of (k + 100)^-30. Seen: 3.973234638907432...e-60.
# The terms are positive and their sum is exact to far more digits than that. The script fails if it changes. It needs Python 3 and pip.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install mpmath==1.3.0
"$folder/venv/bin/python" - <<'P'
import mpmath

mpmath.mp.dps = 40
value = mpmath.zeta(30, 100)
# The rest behind so many terms is below (20099)^-29 / 29, 1e-126.
terms = mpmath.fsum((mpmath.mpf(k) + 100) ** -30 for k in range(20000))
off = abs(value - terms) / terms
print("mpmath", mpmath.__version__, "zeta", value, "sum", terms, "relative", mpmath.nstr(off, 3))
assert 1e-11 < off < 1e-10, "the behaviour has changed"
P
