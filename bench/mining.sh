#!/usr/bin/env bash
# Episode counters against each other, for doc/benchmarks.md: levels 2 to 5 of the mining authors' test stream (SPIKEMILL_DATA), one and two
# threads. Run it on an idle machine from the build folder: ../bench/mining.sh [REPEAT]
set -euo pipefail
repeat=${1:-5}
spikemill=${SPIKEMILL:-./spikemill}
stream=${SPIKEMILL_DATA:?names the folder of the reference data}/stream-new-1.csv
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
job=("$stream" --columns 'type,time_ms' --support 100 --intervals '(0,5] (5,10] (10,15] ms' --max-length 5)

echo "## Counters"
"$spikemill" compare "${job[@]}" --counter serial,latest-start --threads 1,2 --repeat "$repeat" 2>/dev/null

echo
echo "## Threads of latest-start, more runs, and a larger job (support 50, 4 times the candidates)"
"$spikemill" compare "${job[@]}" --counter latest-start --threads 1,2 --repeat $((repeat * 6)) 2>/dev/null
large=("$stream" --columns 'type,time_ms' --support 50 --intervals '(0,5] (5,10] (10,15] ms' --max-length 5)
"$spikemill" compare "${large[@]}" --counter latest-start --threads 1,2 --repeat $((repeat * 2)) 2>/dev/null

echo
echo "## Side by side, the larger job: two runs at once, which share nothing, against one run alone: what two processors can give"
one() { "$spikemill" mine "${large[@]}" --threads 1 --json >"$tmp/$1"; }
wall() { sed -n 's/.*"wall_s": \([0-9.e-]*\).*/\1/p' "$tmp/$1" | awk '{ s += $1 } END { print s }'; }
for ((i = 0; i < repeat; i++)); do
  one a
  alone=$(wall a)
  one a &
  one b
  wait
  awk -v a="$alone" -v x="$(wall a)" -v y="$(wall b)" 'BEGIN { print 2 * a / ((x + y) / 2) }'
done | sort -g | awk '{ v[NR] = $1 } END { printf "median %.2f (%.2f to %.2f)\n", v[int((NR + 1) / 2)], v[1], v[NR] }'
