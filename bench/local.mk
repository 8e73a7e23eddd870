# Measuring programs and the scripts that make the published tables; none is installed, and programs are built when a script asks for them.
EXTRA_DIST += bench/against-nest.py bench/cpu.sh bench/mining.sh bench/significance.sh bench/side-by-side.sh bench/strategies.sh
EXTRA_PROGRAMS += bench/few-candidates
