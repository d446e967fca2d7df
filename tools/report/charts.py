# SPDX-License-Identifier: MIT
"""Charts over time, as SVG whose colours the style sheet has."""
from report.elements import Element
from report.units import shown

POINTS = 1000
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900, 240, 80, 10, 10, 30


def thinned(points):
    """So few that a browser draws them at once: of each stretch of time the first, the least, the largest and the last."""
    if len(points) <= POINTS:
        return points
    length, result = -(-len(points) * 4 // POINTS), []
    for at in range(0, len(points), length):
        stretch = range(at, min(at + length, len(points)))
        chosen = {stretch[0], stretch[-1], min(stretch, key=lambda i: points[i][1]), max(stretch, key=lambda i: points[i][1])}
        result += [points[i] for i in sorted(chosen)]
    return result


def step_of(largest, binary):
    """1, 2 or 5 times a power of ten, or a power of two: the axis has at most six of them."""
    step = 1
    while largest / step > 6:
        if binary:
            step *= 2
        else:
            step = step * 5 // 2 if str(step).startswith("2") else step * 2
    return step


def text(x, y, anchor, content):
    return Element("text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}, content)


def line(name, x1, y1, x2, y2):
    return Element("path", {"class": name, "d": f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"})


class Scale:
    def __init__(self, chart, end):
        self.longest = max(1, end)
        self.largest = max(1, max(value for one in chart["curves"] for _, value in one["points"]))

    def x(self, at):
        return LEFT + (WIDTH - LEFT - RIGHT) * at / self.longest

    def y(self, value):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / self.largest


def axes(scale, unit):
    step = step_of(scale.largest, unit == "bytes")
    for value in range(0, scale.largest + 1, step):
        yield line("grid", LEFT, scale.y(value), WIDTH - RIGHT, scale.y(value))
        yield text(LEFT - 6, scale.y(value) + 4, "end", shown(value, unit) if value else "0")
    step = step_of(scale.longest, False)
    for at in range(0, scale.longest + 1, step):
        yield line("grid", scale.x(at), HEIGHT - BOTTOM, scale.x(at), HEIGHT - BOTTOM + 5)
        yield text(scale.x(at), HEIGHT - BOTTOM + 20, "middle", shown(at, "ns") if at else "0")


def curve(scale, number, points, impulses):
    if impulses:
        path = "".join(f"M{scale.x(at):.1f} {scale.y(0):.1f}V{scale.y(value):.1f}" for at, value in points)
    else:
        path = "M" + "L".join(f"{scale.x(at):.1f} {scale.y(value):.1f}" for at, value in points)
    return Element("path", {"class": f"curve c{number}", "d": path})


def end_of(data):
    """Of all charts, which have one axis of time."""
    return max((at for chart in data["charts"].values() for one in chart["curves"] for at, _ in one["points"]), default=0)


def draw(name, chart, end):
    """A figure: pauses are lines from below, all else goes on from point to point."""
    scale = Scale(chart, end)
    curves = [curve(scale, number, one["points"], chart["unit"] == "ns") for number, one in enumerate(chart["curves"]) if one["points"]]
    keys = [Element("span", {"class": f"key k{number}"}, one["name"]) for number, one in enumerate(chart["curves"])]
    svg = Element("svg", {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img", "aria-label": chart["title"]},
                  *axes(scale, chart["unit"]), *curves)
    return Element("figure", {"id": f"chart-{name}"}, svg, Element("figcaption", {}, chart["title"], " ", *keys))
