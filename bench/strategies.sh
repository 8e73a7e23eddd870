#!/usr/bin/env bash
# Strategies against each other, for doc/benchmarks.md: plasticity and delivery on Brunel's network with plastic synapses, and deliveries on
# a static one whose neurons outgrow the second-level cache. Run it on an idle machine from the build folder: ../bench/strategies.sh [REPEAT]
set -euo pipefail
repeat=${1:-5}
spikemill=${SPIKEMILL:-./spikemill}
examples=$(dirname "$0")/../examples

echo "## Plasticity and delivery, brunel-plus, 0.2e6 synapses, 100 ms, one thread"
"$spikemill" compare "$examples/brunel-plus.ini" --plasticity all --delivery all --threads 1 --duration 100 --repeat "$repeat" 2>/dev/null

echo
echo "## Delivery, vogels, one and two threads"
for size in "8e6 300" "32e6 200"; do
  read -r synapses ms <<<"$size"
  echo "$synapses synapses, $ms ms:"
  "$spikemill" compare "$examples/vogels.ini" --set define.synapses="$synapses" --duration "$ms" --delivery all --threads 1,2 --repeat "$repeat" 2>/dev/null
done
