"""What the sections of ../report share: runs of spikemill in turns, medians and ranges, and Markdown.

A section calls compare() or in_turns(), prints tables, and ends with commands(), which prints what was run as one would type it. figure()
prints a picture's place and its data, from which ../draw.py draws it.

Environment, for the sections whose names begin with gpu:
  BENCH_BACKEND=cpu        tries them where there is no GPU
  BENCH_SIZES="20e3 1e6"   synapses, candidates or supports, in place of their own list; of gpu-mining-windows seconds and support, as 10:15
  BENCH_MS=200             biological time of a run, or of the recording Sym26
  BENCH_STREAMS=sym26      recordings, in place of their own list
  BENCH_SLOW=100           ms: what takes longer is left out of larger numbers, of gpu-mining-methods
  BENCH_KEEP=FILE          keeps what is measured there, and does not measure again what it finds, so that a section may be measured in
                           several calls
  BENCH_SECONDS=300        measures no more after that time, and leaves out what is missing
"""
import concurrent.futures
import csv
import io
import json
import math
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SPIKEMILL = os.environ.get("SPIKEMILL", "./spikemill")
BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLES = os.path.join(os.path.dirname(BENCH), "examples")
DATA = os.environ.get("SPIKEMILL_DATA")
_scratch = tempfile.TemporaryDirectory()
TMP = _scratch.name
INTERVALS = "(0,5] (5,10] (10,15] ms"
_typed = []  # the commands so far, each once
_kept = {}  # of BENCH_KEEP: texts by key
_begun = time.monotonic()


class OutOfTime(Exception):
    """There is something to be measured, and BENCH_SECONDS are over."""


class Times:
    """Median, least and most of some seconds; str() shows all three."""

    def __init__(self, seconds):
        self.median, self.least, self.most = statistics.median(seconds), min(seconds), max(seconds)

    def __str__(self):
        return f"{number(self.median)} s ({number(self.least)}–{number(self.most)})"


def rounds(default):
    return int(sys.argv[1]) if len(sys.argv) > 1 else default


def skip(reason):
    """Ends the section: something that it needs is not here."""
    print(f"{os.path.basename(sys.argv[0])}: {reason}", file=sys.stderr)
    sys.exit(77)


def kept(key, make):
    """What make() returned for this key when it was last called, which may be long ago and elsewhere. It is something that JSON has."""
    path = os.environ.get("BENCH_KEEP")
    if path and not _kept:
        _kept[""] = None
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                _kept.update((entry["key"], entry["value"]) for entry in map(json.loads, file))
    if key not in _kept:
        if time.monotonic() - _begun > float(os.environ.get("BENCH_SECONDS", "inf")):
            raise OutOfTime
        _kept[key] = make()
        if path:
            with open(path, "a", encoding="utf-8") as file:
                print(json.dumps({"key": key, "value": _kept[key]}), file=file)
    return _kept[key]


def backend():
    return os.environ.get("BENCH_BACKEND", "cuda")


def sizes(*default, least=1, most=1000):
    """What a section goes through, as texts: its own list, or BENCH_SIZES, of which there must be so many."""
    if "BENCH_SIZES" not in os.environ:
        return list(default)
    found = os.environ["BENCH_SIZES"].split()
    if not least <= len(found) <= most:
        raise SystemExit(f"BENCH_SIZES = {' '.join(found)}: expected {least}{'' if least == most else ' or more'}")
    return found


def duration(default):
    """Biological time of a run, in ms."""
    return float(os.environ.get("BENCH_MS", default))


def need_gpu():
    if backend() != "cuda":
        print(f"On {backend()}, not on a GPU: for a trial of the section.\n")
        return
    found = kept("cuda", lambda: json.loads(run_program([SPIKEMILL, "info", "device", "--json"]))["cuda"])
    if not found["devices"]:
        skip(found.get("reason", "no GPU"))
    device = found["devices"][0]
    print(f"{device['name']}, {device['multiprocessors']} multiprocessors, driver for CUDA {found['driver']}.\n")


COPY, REDUCTIONS, SHARED_ATOMICS, INSTRUCTIONS = 4.3e12, 105e9, 3.1e12, 132 * 128 * 1.98e9
"""What an H200 does a second: bytes moved, reductions into memory that stays in the second-level cache, additions at random addresses of shared memory;
and what it can at most: threads' instructions, 128 of a multiprocessor at 1.98 GHz."""

# What an event costs each delivery at the least, in seconds, and why.
FLOORS = {
    "shared-memory": (2 / COPY, f"moving its 16-bit target at {COPY / 1e12:g} TB/s (adding it at {SHARED_ATOMICS / 1e12:g} T/s in shared memory takes less)"),
    "row-wise and cache-aware": (1 / REDUCTIONS, f"a reduction at {REDUCTIONS / 1e9:g} G/s into rings that stay in the second-level cache"),
}


def floor_heads(*deliveries):
    return ["G events", *(f"floor, {delivery}" for delivery in deliveries)]


def events_of(report):
    """Synaptic events of a biological second."""
    return report["synaptic_events_per_s"] * report["real_time_factor"]


def floor_cells(report, *deliveries):
    """Events of a biological second in 1e9, and the real-time factors that they take at the least."""
    events = events_of(report)
    return [number(events / 1e9), *(number(events * FLOORS[delivery][0]) for delivery in deliveries)]


def floor_text(*deliveries):
    return ("*Events* are those of a biological second, in 10⁹. *Floors* are real-time factors that an H200 is held to, by what each event takes: " +
            "; ".join(f"{delivery}, {FLOORS[delivery][1]}" for delivery in deliveries) + ".")


def test_stream(support, *options):
    """Arguments that mine the mining authors' test stream with three intervals."""
    if not DATA:
        skip("SPIKEMILL_DATA does not name the folder of the reference data")
    stream = os.path.join(DATA, "stream-new-1.csv")
    return [stream, "--columns", "type,time_ms", "--support", str(support), "--intervals", INTERVALS, *options]


def recordings(*default):
    """Those of BENCH_STREAMS, or of the list, by name, with the files and their columns (or "-"): stream-new-1, the mining authors' test
    stream; culture 2-1-20, a recording of 45 minutes from 60 electrodes in a culture; sym26, which is made here."""
    files = {"stream-new-1": ("stream-new-1.csv", "type,time_ms"), "culture": ("wagenaar_2-1-20.spk.txt", "-")}
    found = {}
    for name in os.environ.get("BENCH_STREAMS", " ".join(default)).split():
        if name == "sym26":
            found[name] = os.path.join(TMP, "sym26.smk"), "-"
            spikemill("generate", ["sym26", "--duration", f"{duration(60000):g}", "-o", found[name][0]])
            continue
        if not DATA or not os.path.exists(os.path.join(DATA, files[name][0])):
            skip("SPIKEMILL_DATA does not name a folder with " + files[name][0])
        found[name] = os.path.join(DATA, files[name][0]), files[name][1]
    return found


def program(name, *arguments):
    """The lines of a measuring program of bench/, which is built when it is called, as lists of words. With BENCH_KEEP, what is there."""
    def run():
        if shutil.which("make"):  # else it is there (../carry)
            run_program(["make", "-s", f"bench/{name}"])
        os.environ.setdefault("SPIKEMILL_PLUGIN_PATH", os.pathsep.join(os.path.abspath(p) for p in ("miners/.libs", "plugins/.libs")))
        return [line.split() for line in run_program([f"bench/{name}", *arguments]).splitlines()]

    _note(as_program(name) + as_typed(arguments))
    return kept(as_typed([name, *arguments]), run)


def network(name, *options):
    return [os.path.join(EXAMPLES, name + ".ini"), *options]


def as_program(name):
    """How a measuring program is called by hand, up to its arguments."""
    return f"make -s bench/{name} && SPIKEMILL_PLUGIN_PATH=miners/.libs:plugins/.libs bench/{name} "


class Failed(SystemExit):
    """A command did; ends the section unless somebody expects it."""

    def __init__(self, arguments, status, told):
        super().__init__(f"{shlex.join(arguments)}: status {status}\n{told}")
        self.status = status


def run_program(arguments):
    """The standard output of a command."""
    answer = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if answer.returncode != 0:
        raise Failed(arguments, answer.returncode, answer.stderr.strip())
    return answer.stdout


def as_typed(arguments):
    """A command with folders by the names that a reader has for them."""
    def shown(argument):
        for folder, name in ((EXAMPLES, "../examples"), (DATA, "$SPIKEMILL_DATA"), (BENCH, "../bench"), (TMP, ".")):
            if folder and argument.startswith(folder + os.sep):
                return name + argument[len(folder):]
        return shlex.quote(argument)

    return " ".join(map(shown, arguments))


def note(arguments):
    """Keeps a command for commands(), output folders left out."""
    _note(as_typed(arguments))


def _note(line):
    if line not in _typed:
        _typed.append(line)


def typed(*lines):
    """Shows these lines instead of the commands so far, which differ only in what they say."""
    _typed[:] = lines


def spikemill(command, arguments, scratch="out"):
    """One run of a command; returns what --json says. Networks write their results to a folder of their own."""
    note(["spikemill", command, *arguments])
    output = ["-o", os.path.join(TMP, scratch)] if command == "run" else []
    return json.loads(run_program([SPIKEMILL, command, *arguments, *output, "--json"]))


def compare(arguments, repeat):
    """spikemill compare, which interleaves the variants and fails when results differ. Returns the Times by the name of the variant,
    which tells what varies."""
    report = spikemill("compare", [*arguments, "--repeat", str(repeat)])
    return {v["name"]: Times((v["min_s"], v["median_s"], v["max_s"])) for v in report["variants"]}  # whose median is median_s


def in_turns(command, variants, repeat):
    """Runs each variant (name: arguments) once a round. Returns the reports of each by name. With BENCH_KEEP, of runs that are there already;
    a variant for which there was no time has fewer, perhaps none."""
    reports = {name: [] for name in variants}
    for turn in range(repeat):
        for name, arguments in variants.items():
            try:
                reports[name].append(kept(f"{turn} {command} {as_typed(arguments)}", lambda: spikemill(command, arguments)))
            except OutOfTime:
                pass
    return reports


def times(reports, key="wall_s"):
    return Times([report[key] for report in reports])


def side_by_side(command, arguments, repeat):
    """What two processors can give: two runs at once, which share nothing, against one run alone. Returns a phrase."""
    gains = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for _ in range(repeat):
            alone = spikemill(command, arguments, "a")["wall_s"]
            both = list(pool.map(lambda name: spikemill(command, arguments, name)["wall_s"], ("a", "b")))
            gains.append(2 * alone / statistics.mean(both))
    return f"{statistics.median(gains):.2f} times the speed of one ({min(gains):.2f}–{max(gains):.2f} in {count(repeat, 'round')})"


def number(x):
    """Three significant digits, with an exponent only below 0.00001."""
    return f"{x:.{max(0, 2 - math.floor(math.log10(x)))}f}" if x >= 1e-5 else f"{x:.3g}"


def whole(n):
    return f"{n:,}" if n >= 10000 else str(n)


def millions(n):
    return f"{number(n / 1e6)} M" if n < 1e9 else f"{number(n / 1e9)} G"


def count(n, what):
    return f"{whole(n)} {what}{'' if n == 1 else 's'}"


def table(head, rows):
    print("|", " | ".join(head), "|\n|" + "---|" * len(head))
    for row in rows:
        print("|", " | ".join(map(str, row)), "|")


def spread(value, unit=""):
    """Median and range of Times, of a number without a unit or of one with."""
    return f"{number(value.median)}{unit} ({number(value.least)}–{number(value.most)})"


def points(pairs):
    """Points of a series from (x, Times)."""
    return [(x, value.median, value.least, value.most) for x, value in pairs]


def figure(name, title, x, y, measured, other=None):
    """A picture's place and its data. x and y are (label, scale); measured and other name series of points (x, y) or (x, y, least, most),
    those of `other` being from elsewhere. Series without points are left out, and so is a picture without measured ones."""
    if not any(measured.values()):
        return
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("figure", name, title))
    writer.writerow(("x", *x))
    writer.writerow(("y", *y))
    for kind, series in (("measured", measured), ("other", other or {})):
        for label, points in series.items():
            for point in points:
                writer.writerow((label, kind, *(f"{value:.4g}" for value in point), *("",) * (4 - len(point))))
    print(f"\n![{title}](figures/{name}.svg)\n\n<details><summary>Its data</summary>\n\n```figure\n{out.getvalue()}```\n\n</details>\n")


def commands(how):
    """The end of a section: how often it was measured, and by what."""
    print(f"\n{how}:\n")
    for line in _typed:
        print("    " + line)
