#!/usr/bin/env bash
# Episode counters against each other, for doc/benchmarks.md: levels 2 to 5 of the mining authors' test stream (SPIKEMILL_DATA), one and two
# threads, at three supports with the share that two-pass culls; and where MapConcatenate beats PTPE. Run it on an idle machine from the build folder: ../bench/mining.sh [REPEAT]
set -euo pipefail
repeat=${1:-5}
spikemill=${SPIKEMILL:-./spikemill}
stream=${SPIKEMILL_DATA:?names the folder of the reference data}/stream-new-1.csv
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
job=("$stream" --columns 'type,time_ms' --support 100 --intervals '(0,5] (5,10] (10,15] ms' --max-length 5)

echo "## Counters"
"$spikemill" compare "${job[@]}" --counter serial,latest-start --threads 1,2 --repeat "$repeat" 2>/dev/null

for support in 100 50 200; do
  part=("$stream" --columns 'type,time_ms' --support $support --intervals '(0,5] (5,10] (10,15] ms' --max-length 5)
  echo
  echo "## Exact counters, one thread, support $support"
  "$spikemill" compare "${part[@]}" --counter serial,ptpe,two-pass,mapconcatenate,hybrid,latest-start --threads 1 --repeat "$repeat" 2>/dev/null
  echo "culled by two-pass:"
  "$spikemill" mine "${part[@]}" --counter two-pass --json 2>/dev/null | sed -n \
    's/.*"level": \([0-9]*\), "candidates": \([0-9]*\), "culled": \([0-9]*\), "frequent": \([0-9]*\).*/\1 \2 \3 \4/p' | awk '
    $2 { printf "level %d: %d of %d candidates (%.0f %%), %d frequent\n", $1, $3, $2, 100 * $3 / $2, $4; c += $2; x += $3 }
    END { printf "all: %d of %d (%.0f %%)\n", x, c, 100 * x / c }'
done

echo
echo "## Exact counters, two threads, support 100"
"$spikemill" compare "${job[@]}" --counter serial,ptpe,two-pass,mapconcatenate,hybrid,latest-start --threads 2 --repeat "$repeat" 2>/dev/null

echo
short=("$stream" --columns 'type,time_ms' --support 100 --intervals '(0,5] (5,10] (10,15] ms' --max-length 3)
echo "## a2 alone, levels 2 and 3: what it lets through makes further candidates"
"$spikemill" compare "${short[@]}" --counter serial,ptpe,two-pass,a2 --threads 1 --repeat "$repeat" 2>/dev/null

echo
echo "## Few candidates: PTPE against MapConcatenate on two threads; the stream, and half an hour of Sym26"
make -s bench/few-candidates
export SPIKEMILL_PLUGIN_PATH=${SPIKEMILL_PLUGIN_PATH:-$PWD/miners/.libs:$PWD/plugins/.libs}
"$spikemill" generate sym26 --duration 1800000 -o "$tmp/sym26.smk" >/dev/null
bench/few-candidates "$stream" type,time_ms 2 $((repeat * 20))
bench/few-candidates "$tmp/sym26.smk" - 2 $((repeat * 3))

echo
echo "## Threads of latest-start, more runs, and a larger job (support 50, 4 times the candidates)"
"$spikemill" compare "${job[@]}" --counter latest-start --threads 1,2 --repeat $((repeat * 6)) 2>/dev/null
large=("$stream" --columns 'type,time_ms' --support 50 --intervals '(0,5] (5,10] (10,15] ms' --max-length 5)
"$spikemill" compare "${large[@]}" --counter latest-start --threads 1,2 --repeat $((repeat * 2)) 2>/dev/null

echo
echo "## Side by side, the larger job: two runs at once, which share nothing, against one run alone: what two processors can give"
one() { "$spikemill" mine "${large[@]}" --threads 1 --json >"$tmp/$1"; }
wall() { sed -n 's/.*"wall_s": \([0-9.e-]*\).*/\1/p' "$tmp/$1" | awk '{ s += $1 } END { print s }'; }
. "$(dirname "$0")/side-by-side.sh"
side_by_side "$repeat"
