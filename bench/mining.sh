#!/usr/bin/env bash
# Episode counters against each other, for doc/benchmarks.md: levels 2 to 5 of the mining authors' test stream (SPIKEMILL_DATA), one and two
# threads. Run it on an idle machine from the build folder: ../bench/mining.sh [REPEAT]
set -euo pipefail
repeat=${1:-5}
spikemill=${SPIKEMILL:-./spikemill}
stream=${SPIKEMILL_DATA:?names the folder of the reference data}/stream-new-1.csv
job=("$stream" --columns 'type,time_ms' --support 100 --intervals '(0,5] (5,10] (10,15] ms' --max-length 5)

echo "## Counters"
"$spikemill" compare "${job[@]}" --counter serial,latest-start --threads 1,2 --repeat "$repeat" 2>/dev/null

echo
echo "## Threads of latest-start, more runs"
"$spikemill" compare "${job[@]}" --counter latest-start --threads 1,2 --repeat $((repeat * 6)) 2>/dev/null
