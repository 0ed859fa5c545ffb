#!/bin/sh
# Runs the job and prints what its tasks printed, in the order of the lines.
set -e
job=$(skep job submit "$(dirname "$0")/job.yaml")
skep job wait "$job"
skep job logs "$job"
