# SPDX-License-Identifier: MIT
"""The inputs of the stand-ins: written into a folder, the same in each run."""
import os
import random

from comparison import inputs
from comparison.inputs import WORDS, write

AMINO = "ACDEFGHIKLMNPQRSTVWY"
STYLE = """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="html" indent="yes"/>
<xsl:key name="by-kind" match="item" use="@kind"/>
<xsl:template match="/list"><html><body>
<xsl:for-each select="item[generate-id() = generate-id(key('by-kind', @kind)[1])]"><xsl:sort select="@kind"/>
<h2><xsl:value-of select="@kind"/></h2><ul><xsl:apply-templates select="key('by-kind', @kind)"><xsl:sort select="name"/></xsl:apply-templates></ul>
</xsl:for-each></body></html></xsl:template>
<xsl:template match="item"><li id="{@id}"><xsl:value-of select="concat(name, ': ', substring(text, 1, 40))"/>
<b><xsl:value-of select="translate(name, 'abcdef', 'ABCDEF')"/></b></li></xsl:template>
</xsl:stylesheet>
"""


def some_words(draw, count):
    return " ".join(WORDS[draw(len(WORDS))] for _ in range(count))


def c_source(folder, functions):
    write(folder, "source0.c", inputs.c_source(0, functions))


def text(folder, lines):
    draw = random.Random(23).randrange
    write(folder, "text", "".join(f"{draw(1000000)} {some_words(draw, 8)}\n" for _ in range(lines)))


def document(folder, items):
    draw = random.Random(29).randrange
    rows = "".join(f'<item id="i{i}" kind="{WORDS[draw(len(WORDS))]}"><name>{some_words(draw, 2)} {draw(1000)}</name>'
                   f"<text>{some_words(draw, 12)}</text></item>\n" for i in range(items))
    write(folder, "document.xml", f"<list>\n{rows}</list>\n")
    write(folder, "style.xsl", STYLE)


def sequences(folder, count):
    draw = random.Random(31).randrange
    wanted = "".join(AMINO[draw(20)] for _ in range(200))
    write(folder, "wanted.fa", f">wanted\n{wanted}\n")
    parts = []
    for i in range(count):
        begin = draw(150)
        found = "".join(letter if draw(3) else AMINO[draw(20)] for letter in wanted[begin:begin + 50])
        parts.append(f">s{i}\n{''.join(AMINO[draw(20)] for _ in range(draw(200)))}{found}{''.join(AMINO[draw(20)] for _ in range(draw(200)))}\n")
    write(folder, "sequences.fa", "".join(parts))


def scene(folder, balls):
    draw = random.Random(37).randrange
    rows = "".join(f"sphere {{ <{draw(80) / 10 - 4}, {draw(60) / 10 - 3}, {draw(60) / 10}>, 0.4 pigment {{ color rgb <{draw(10) / 10}, "
                   f"{draw(10) / 10}, {draw(10) / 10}> }} finish {{ reflection 0.3 phong 0.5 }} }}\n" for _ in range(balls))
    write(folder, "scene.pov", "#version 3.7;\nglobal_settings { assumed_gamma 1 }\ncamera { location <0, 1, -8> look_at <0, 0, 0> }\n"
          f"light_source {{ <5, 8, -9> color rgb 1 }}\nplane {{ y, -3.5 pigment {{ checker color rgb 0.2 color rgb 0.9 }} }}\n{rows}")


def game(folder, moves):
    """For gnugo's mode gtp: it plays against itself."""
    turns = "".join(f"genmove {('black', 'white')[i % 2]}\n" for i in range(moves))
    write(folder, "game.gtp", f"boardsize 9\nclear_board\n{turns}final_score\nquit\n")


def video(folder, frames, width=352, height=288):
    """A bright square that moves over a pattern which drifts."""
    with open(os.path.join(folder, "video.y4m"), "wb") as f:
        f.write(f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C420jpeg\n".encode())
        lines = [bytes((x * 3 + y * 5) % 200 for x in range(2 * width)) for y in range(height)]
        for i in range(frames):
            f.write(b"FRAME\n")
            left, top = i * 3 % (width - 32), i * 2 % (height - 32)
            for y, line in enumerate(lines):
                shown = line[i % width:i % width + width]
                inside = top <= y < top + 32
                f.write(shown[:left] + b"\xe6" * 32 + shown[left + 32:] if inside else shown)
            f.write(b"\x80" * (width * height // 2))
