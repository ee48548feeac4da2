"""Bits against parameters as SVG, by hand: no library, the same bytes from the same numbers."""
import math

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 72, 190, 36, 52
# One colour and one mark for each kind of model, in every figure.
KINDS = {"HQMM, real, state": ("#d1495b", "circle"), "HQMM, real, edge": ("#c98a00", "circle"),
         "HQMM, complex, edge": ("#1b6ca8", "circle"), "HQMM, complex, state": ("#008b8b", "circle"),
         "HQMM, pure": ("#8f5fbf", "circle"), "HMM, EM": ("#222222", "square"), "Mealy HMM, EM": ("#777777", "square"),
         "Markov chain": ("#2e933c", "cross")}


def text(x, y, content, anchor="middle", size=12, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" {extra}>{content}</text>'


def mark(x, y, colour, shape):
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    if shape == "square":
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>'
    return f'<path d="M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8" stroke="{colour}" stroke-width="2"/>'


def kind_of(row):
    return next((kind for kind in KINDS if row["model"].startswith(kind)), None)


def lines_of(rows, greatest):
    """For each kind the fewest bits at each number of parameters, by validation where there are several models."""
    lines = {}
    for row in rows:
        kind = kind_of(row)
        if kind is None or row["parameters"] > greatest:
            continue
        found = lines.setdefault(kind, {})
        size = row["parameters"]
        if size not in found or (row["validation_bits"] or 0) < (found[size]["validation_bits"] or 0):
            found[size] = row
    return {kind: sorted((size, row["bits"]) for size, row in lines[kind].items()) for kind in KINDS if kind in lines}


def round_step(span):
    """About five steps of 1, 2 or 5 times a power of ten."""
    unit = 10.0 ** math.floor(math.log10(span / 4))
    return next(unit * k for k in (1, 2, 5, 10) if span / (unit * k) <= 6)


def figure(title, unit, rows, greatest):
    """Models with at most `greatest` parameters."""
    lines = lines_of(rows, greatest)
    points = [point for line in lines.values() for point in line]
    first, last = (math.log10(f(size for size, _ in points)) for f in (min, max))
    low, high = (f(bits for _, bits in points) for f in (min, max))
    step = round_step(high - low)
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step

    def across(size):
        return LEFT + 12 + (math.log10(size) - first) / (last - first) * (WIDTH - RIGHT - LEFT - 24)

    def up(bits):
        return HEIGHT - BOTTOM - (bits - low) / (high - low) * (HEIGHT - BOTTOM - TOP)

    middle, centre = (LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" fill="#222">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', text(middle, 22, title, size=14),
           text(middle, HEIGHT - 12, "parameters"),
           text(18, centre, f"bits per {unit}, held out", extra=f'transform="rotate(-90 18 {centre:.1f})"')]
    for k in range(math.floor(first), math.ceil(last) + 1):
        for part in (1, 2, 5):
            if first <= math.log10(part * 10**k) <= last:
                x = across(part * 10**k)
                out.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#eee"/>')
                out.append(text(x, HEIGHT - BOTTOM + 18, f"{part * 10**k:,}"))
    places = max(0, -math.floor(math.log10(step)))
    for k in range(round((high - low) / step) + 1):
        y = up(low + k * step)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(text(LEFT - 8, y + 4, f"{low + k * step:.{places}f}", anchor="end"))
    legend = TOP + 8
    for kind, line in lines.items():
        colour, shape = KINDS[kind]
        path = " ".join(f"{across(size):.1f},{up(bits):.1f}" for size, bits in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        out += [mark(across(size), up(bits), colour, shape) for size, bits in line]
        out += [mark(WIDTH - RIGHT + 20, legend, colour, shape), text(WIDTH - RIGHT + 32, legend + 4, kind, anchor="start")]
        legend += 20
    return "\n".join(out) + "\n</svg>\n"
