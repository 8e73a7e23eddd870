#!/usr/bin/env python3
"""Draws the figures of a document: draw.py [--check] FILE FOLDER reads the blocks ```figure of the Markdown in FILE and writes
FOLDER/NAME.svg for each. Needs matplotlib, but for --check, which only compares each picture with the data that it was drawn from.

A block is CSV: `figure,NAME,title`, then `x,label,scale` and `y,label,scale` (linear, log or log2), then a line for each point, in order:
`series,kind,x,y,least,most`; kind is `measured` (here, a full line, with least and most as bars when they are given) or `other` (what
somebody else published or another program took, dashed). The sections make blocks by measure.figure().

The same block gives the same bytes with the same matplotlib: no dates, a fixed salt. The last line of a picture is a hash of its block.
"""
import csv
import hashlib
import io
import os
import re
import sys

SCALES = {"linear": "linear", "log": "log", "log2": "log"}
KINDS = ("measured", "other")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999")  # told apart by everybody
MARKERS = "os^Dv<>P"


def stop(text):
    print(f"draw: {text}", file=sys.stderr)
    sys.exit(2)


def number(text, where):
    try:
        return float(text) if text else None
    except ValueError:
        stop(f"{where}: `{text}` is no number")


def read_block(text):
    """A block as (name, title, axes, series): series[label] = (kind, [(x, y, least, most)])."""
    rows = list(csv.reader(io.StringIO(text)))
    if len(rows) < 4 or len(rows[0]) != 3 or rows[0][0] != "figure" or not re.fullmatch(r"[a-z0-9-]+", rows[0][1]):
        stop("a block begins with `figure,NAME,title`, an x, a y and points; the name has small letters, digits and -")
    name, title, axes, series = rows[0][1], rows[0][2], {}, {}
    for row in rows[1:3]:
        if len(row) != 3 or row[0] not in "xy" or row[2] not in SCALES:
            stop(f"{name}: expected `x,label,scale` and `y,label,scale` of {', '.join(SCALES)}, found `{','.join(row)}`")
        axes[row[0]] = row[1:]
    if len(axes) != 2:
        stop(f"{name}: there is one axis only")
    for row in rows[3:]:
        if len(row) != 6 or row[1] not in KINDS:
            stop(f"{name}: expected `series,{'|'.join(KINDS)},x,y,least,most`, found `{','.join(row)}`")
        x, y, least, most = (number(cell, f"{name}, {row[0]}") for cell in row[2:])
        if x is None or y is None:
            stop(f"{name}, {row[0]}: a point has an x and a y")
        kind, points = series.setdefault(row[0], (row[1], []))
        if kind != row[1]:
            stop(f"{name}: `{row[0]}` is of two kinds")
        points.append((x, y, least, most))
    return name, title, axes, series


def label_axis(axis, label, scale, values):
    """Ticks where points are, when these are large numbers, as far as they have room; else at 1, 2 and 5."""
    from matplotlib import ticker
    axis.set_label_text(label)
    if scale == "linear":
        return
    if scale == "log2" or max(values) >= 1e4:
        apart = (max(values) / min(values)) ** (1 / 14)
        ticks = values[:1]
        for value in values[1:]:
            if value >= ticks[-1] * max(apart, 1.02):
                ticks.append(value)
        axis.set_major_locator(ticker.FixedLocator(ticks))
        axis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:.0f}" if scale == "log2" else short(x)))
    else:
        axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_locator(ticker.NullLocator())


def short(x):
    unit, text = (1e9, " G") if x >= 1e9 else (1e6, " M") if x >= 1e5 else (1, "")
    return f"{float(f'{x / unit:.2g}'):g}{text}"


def draw(block):
    """The bytes of the picture."""
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    name, title, axes, series = read_block(block)
    matplotlib.rcParams.update({"svg.hashsalt": "spikemill", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9,
                                "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#dddddd",
                                "grid.linewidth": 0.6, "lines.linewidth": 1.4, "lines.markersize": 4})
    handles = []
    figure, plot = pyplot.subplots(figsize=(6.4, 4), layout="constrained")
    for which, scale in (("x", axes["x"][1]), ("y", axes["y"][1])):
        if scale != "linear":
            getattr(plot, f"set_{which}scale")("log", base=2 if scale == "log2" else 10)
    for i, (label, (kind, points)) in enumerate(series.items()):
        x, y = [p[0] for p in points], [p[1] for p in points]
        bars = [[p[1] - p[2] if p[2] is not None else 0 for p in points], [p[3] - p[1] if p[3] is not None else 0 for p in points]]
        look = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)], "label": label}
        if kind == "other":
            handles += plot.plot(x, y, linestyle="--", markerfacecolor="white", **look)
        else:
            handles.append(plot.errorbar(x, y, yerr=bars, capsize=2, **look))
    for axis, which in ((plot.xaxis, "x"), (plot.yaxis, "y")):
        place = 0 if which == "x" else 1
        label_axis(axis, *axes[which], sorted({p[place] for _, points in series.values() for p in points}))
    plot.set_title(title, fontsize=10)
    plot.legend(handles=handles, frameon=False, fontsize=8)
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    return out.getvalue().rstrip() + b"\n" + stamp(block)


def stamp(block):
    return f"<!-- of {hashlib.sha256(block.encode()).hexdigest()} -->\n".encode()


def main(arguments):
    check = arguments[:1] == ["--check"]
    if len(arguments) != 2 + check:
        stop("usage: draw.py [--check] FILE FOLDER")
    source, folder = arguments[check:]
    with open(source, encoding="utf-8") as file:
        blocks = re.findall(r"^```figure\n(.*?)^```$", file.read(), re.M | re.S)
    names = [read_block(block)[0] for block in blocks]
    if len(set(names)) != len(names):
        stop(f"{source} has two figures of one name")
    if not check and blocks:
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            stop(f"there is no matplotlib for {sys.executable}, so that {', '.join(names)} cannot be drawn; it is Debian's "
                 "python3-matplotlib, or: pip install matplotlib")
        os.makedirs(folder, exist_ok=True)
    bad = 0
    for name, block in zip(names, blocks):
        path = os.path.join(folder, name + ".svg")
        if not check:
            picture = draw(block)
            with open(path + ".part", "wb") as file:
                file.write(picture)
            os.replace(path + ".part", path)
            continue
        try:
            with open(path, "rb") as file:
                good = file.read().endswith(stamp(block))
        except OSError:
            good = False
        if not good:
            print(f"draw: {path} is not drawn from the data in {source}", file=sys.stderr)
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
