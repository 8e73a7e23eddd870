# shellcheck shell=bash
# A GPU for shell tests, after tap.sh: the machine's own, with the environment as it is; else the emulator of tests/cuda-emulator. Sets gpu to real
# or emulated and device to its name. Without any: the test is over, skipped with the reason, or failed when SPIKEMILL_REQUIRE_GPU=1 and there is
# no real one. Compiled programs are kept in SPIKEMILL_CACHE, for the length of the test, or in GPU_CACHE, a folder, for other tests too.
export SPIKEMILL_CACHE=${GPU_CACHE:-$tmp/cache}
# From here on programs are compiled, and kept in a folder that is empty now.
gpu_forget() { SPIKEMILL_CACHE=$(mktemp -d "$tmp/cache-XXXXXX"); }
gpu_device() {
  printf '[simulation]\nbackend = cuda\nduration = 0\n[population.p]\nmodel = parrot\nsize = 1\n' >"$tmp/trial.ini"
  "$SPIKEMILL" run "$tmp/trial.ini" --json -o "$tmp/trial" 2>"$tmp/trial.err" | sed -n 's/.*"device":[[:space:]]*"\(.*\)".*/\1/p'
}
gpu_entries() { find "$SPIKEMILL_CACHE" -type f 2>/dev/null | wc -l; }

device=$(gpu_device)
gpu=real
if [ -z "$device" ] || [ "$device" = emulated ]; then
  reason=$(tail -n 1 "$tmp/trial.err")
  if [ "${SPIKEMILL_REQUIRE_GPU:-}" = 1 ]; then
    ok "there is a GPU: $reason" false
    done_testing
    exit
  fi
  export SPIKEMILL_CUDA_DRIVER=$top_builddir/tests/cuda-emulator/.libs/driver.so SPIKEMILL_NVRTC=$top_builddir/tests/cuda-emulator/.libs/nvrtc.so
  export EMULATOR_STRICT=1
  gpu=emulated
  device=$(gpu_device)
  if [ -z "$device" ]; then
    skip 1 "no GPU ($reason), and no emulated one: $(tail -n 1 "$tmp/trial.err")"
    done_testing
    exit
  fi
fi
diag "$gpu: $device"
[ -n "${GPU_CACHE:-}" ] || gpu_forget
