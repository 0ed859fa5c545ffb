#!/bin/sh
# Runs the job and prints the mean of the estimates and its standard error.
set -e
job=$(skep job submit "$(dirname "$0")/job.yaml")
skep job wait "$job"
skep job get "$job" -o monte-carlo-results > /dev/null
cat monte-carlo-results/*/pi.txt | awk '
	{ sum += $1; squares += $1 * $1 }
	END { mean = sum / NR; printf "pi is about %.4f ± %.4f, from %d samples\n", mean, sqrt((squares / NR - mean * mean) / NR), NR }'
