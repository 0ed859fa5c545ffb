#!/bin/sh
# oscillate.sh FREQUENCY DAMPING writes 200 points of a damped oscillation.
awk -v f="$1" -v d="$2" 'BEGIN {
	for (i = 0; i <= 200; i++) { t = i / 50; printf "%.2f,%.4f\n", t, exp(-d * t) * cos(6.2831853 * f * t) }
}' > "f$1-d$2.csv"
