#!/bin/sh
# Runs both jobs.
set -e
here=$(dirname "$0")
job=$(skep job submit "$here/job.yaml")
skep job wait "$job"
skep job get "$job" -o retries-results > /dev/null
cat retries-results/*/sum.txt
job=$(skep job submit "$here/once.yaml")
skep job wait "$job"
skep job logs "$job"
