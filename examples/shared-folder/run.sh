#!/bin/sh
# Runs the job. With an argument in that folder instead of /srv/shared.
set -e
folder=${1:-/srv/shared}
sed "s,/srv/shared,$folder," "$(dirname "$0")/job.yaml" > shared-folder.yaml
job=$(skep job submit shared-folder.yaml)
skep job wait "$job"
cat "$folder"/task-*.txt
