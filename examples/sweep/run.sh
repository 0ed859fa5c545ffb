#!/bin/sh
# Runs the sweep and draws its tables into sweep.svg.
set -e
here=$(dirname "$0")
job=$(skep job submit "$here/job.yaml")
skep job wait "$job"
skep job get "$job" -o sweep-results > /dev/null
awk -f "$here/plot.awk" sweep-results/*/*.csv > sweep.svg
echo "$(ls sweep-results/*/*.csv | wc -l | tr -d ' ') tables, drawn into sweep.svg"
