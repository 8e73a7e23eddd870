# What makes the tables of doc/benchmarks.md: `report` and a program a section. None is installed; the measuring program in C is built when
# its section asks for it.
bench_sections = \
  bench/sections/a2 \
  bench/sections/channels \
  bench/sections/construction \
  bench/sections/counters \
  bench/sections/delivery \
  bench/sections/few-candidates \
  bench/sections/functions \
  bench/sections/gpu-chunks \
  bench/sections/gpu-construction \
  bench/sections/gpu-delivery \
  bench/sections/gpu-mining-levels \
  bench/sections/gpu-mining-methods \
  bench/sections/gpu-mining-two-pass \
  bench/sections/gpu-mining-windows \
  bench/sections/gpu-plasticity \
  bench/sections/gpu-setup \
  bench/sections/gpu-significance \
  bench/sections/latest-start \
  bench/sections/nest \
  bench/sections/plasticity \
  bench/sections/prices \
  bench/sections/significance \
  bench/sections/supports \
  bench/sections/threads
EXTRA_DIST += bench/report bench/carry bench/bench.h bench/draw.py bench/sections/measure.py bench/sections/peers.py $(bench_sections)
EXTRA_PROGRAMS += bench/few-candidates bench/gpu-limits bench/gpu-rows bench/mining-levels bench/mining-methods
