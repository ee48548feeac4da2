"""A log-log plot as SVG, by hand: no library, the same bytes from the same numbers."""
import math

COLOURS = ("#1b6ca8", "#d1495b", "#2e933c", "#8f5fbf", "#c98a00", "#4a4a4a", "#008b8b", "#a0522d")
WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 80, 200, 40, 56


class Axis:
    """Powers of ten from below the least to above the greatest value, or nearly so."""

    def __init__(self, values, start, end):
        self.first = math.floor(math.log10(min(values)) + 0.05)
        self.last = math.ceil(math.log10(max(values)) - 0.05)
        self.last += self.first == self.last
        self.start, self.end = start, end

    def at(self, value):
        share = (math.log10(value) - self.first) / (self.last - self.first)
        return self.start + share * (self.end - self.start)

    def ticks(self):
        return [(10.0**k, k) for k in range(self.first, self.last + 1)]


def text(x, y, content, anchor="middle", size=12, extra=""):
    escaped = content.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" {extra}>{escaped}</text>'


def tick_name(k):
    digits = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return "10" + str(k).translate(digits)


def log_log(title, x_title, y_title, series, guides=()):
    """`series`: (name, [(x, y)]); `guides`: (name, function of x), dashed."""
    every = [point for _, points in series for point in points]
    x_axis = Axis([x for x, _ in every], LEFT, WIDTH - RIGHT)
    y_axis = Axis([y for _, y in every], HEIGHT - BOTTOM, TOP)
    middle, centre = (LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2
    dashed = 'stroke="#888" stroke-dasharray="6 4"'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" fill="#222">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<clipPath id="inside"><path d="M{LEFT} {TOP}H{WIDTH - RIGHT}V{HEIGHT - BOTTOM}H{LEFT}z"/></clipPath>',
        text(middle, 22, title, size=14),
        text(middle, HEIGHT - 14, x_title),
        text(20, centre, y_title, extra=f'transform="rotate(-90 20 {centre:.1f})"'),
    ]
    for value, k in x_axis.ticks():
        x = x_axis.at(value)
        out.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        out.append(text(x, HEIGHT - BOTTOM + 18, tick_name(k)))
    for value, k in y_axis.ticks():
        y = y_axis.at(value)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(text(LEFT - 8, y + 4, tick_name(k), anchor="end"))
    legend = TOP + 10
    for name, function in guides:
        ends = [10.0**x_axis.first, 10.0**x_axis.last]
        line = " ".join(f"{x_axis.at(x):.1f},{y_axis.at(function(x)):.1f}" for x in ends)
        out.append(f'<polyline points="{line}" fill="none" {dashed} clip-path="url(#inside)"/>')
        out.append(f'<path d="M{WIDTH - RIGHT + 12} {legend}h20" {dashed}/>')
        out.append(text(WIDTH - RIGHT + 38, legend + 4, name, anchor="start"))
        legend += 20
    for i, (name, points) in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        line = " ".join(f"{x_axis.at(x):.1f},{y_axis.at(y):.1f}" for x, y in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        out += [f'<circle cx="{x_axis.at(x):.1f}" cy="{y_axis.at(y):.1f}" r="3.5" fill="{colour}"/>' for x, y in points]
        out.append(f'<circle cx="{WIDTH - RIGHT + 22}" cy="{legend}" r="4" fill="{colour}"/>')
        out.append(text(WIDTH - RIGHT + 38, legend + 4, name, anchor="start"))
        legend += 20
    return "\n".join(out) + "\n</svg>\n"
