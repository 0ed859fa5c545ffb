#!/bin/sh
# Runs both jobs, the second on what the first left, and adds up what that found.
set -e
here=$(dirname "$0")
job=$(skep job submit "$here/split.yaml")
skep job wait "$job"
rm -rf "$here/split-results"
skep job get "$job" -o "$here/split-results" > /dev/null
if [ -d "$here/split-results/0" ]; then mv "$here/split-results/0"/* "$here/split-results"; fi
job=$(skep job submit "$here/count.yaml")
skep job wait "$job"
skep job get "$job" -o count-results > /dev/null
echo "$(cat count-results/*/words.txt | awk '{ n += $1 } END { print n }') words in $(ls count-results | wc -l | tr -d ' ') parts"
