"""A page that shows patterns full-screen, one pixel of a pattern on one of the projector's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Patterns</title>
<style>
html, body { margin: 0; height: 100%; background: black; overflow: hidden; cursor: none }
img { position: fixed; inset: 0; margin: auto; image-rendering: pixelated }
p { position: fixed; left: 2vw; bottom: 2vh; margin: 0; padding: .5em 1em; color: white;
    background: #000c; font: 16px sans-serif; cursor: default }
p:empty { display: none }
</style>
<img alt="">
<p></p>
<script>
const folders = FOLDERS;
const query = new URLSearchParams(location.search);
const folder = query.get("projector") in folders ? query.get("projector") : Object.keys(folders)[0];
const seconds = Number(query.get("seconds")) || 3;
const shown = ["white.png", ...folders[folder], "black.png"];
const image = document.querySelector("img"), said = document.querySelector("p");
let place = 0, timer = 0;

function show(step) {
  place = Math.min(Math.max(place + step, 0), shown.length - 1);
  image.src = `${folder}/${shown[place]}`;
  // One pixel of the file is one of the projector, whatever the screen is scaled by.
  image.onload = () => { image.style.width = `${image.naturalWidth / devicePixelRatio}px`; tell() };
  if (place === shown.length - 1) { clearInterval(timer); timer = 0 }
}

function tell() {
  const exact = innerWidth * devicePixelRatio === image.naturalWidth
    && innerHeight * devicePixelRatio === image.naturalHeight;
  const size = `${image.naturalWidth}x${image.naturalHeight}`;
  const [w, h] = [innerWidth, innerHeight].map(side => Math.round(side * devicePixelRatio));
  // Nothing is written over a pattern that fills its screen.
  said.textContent = place > 0 && exact ? "" :
    `${folder}, ${shown[place]} (${place} of ${shown.length - 2}). ` +
    `Space or click: next. Left: back. a: every ${seconds} s. f: full screen.` +
    (exact ? "" : ` The pattern has ${size} px, this window ${w}x${h}.`);
}

function toggle() {
  clearInterval(timer);
  timer = timer ? 0 : setInterval(() => show(1), 1000 * seconds);
}

addEventListener("keydown", event => {
  const keys = { " ": () => show(1), ArrowRight: () => show(1), ArrowLeft: () => show(-1),
    a: toggle, f: () => document.documentElement.requestFullscreen() };
  if (keys[event.key]) { event.preventDefault(); keys[event.key]() }
});
addEventListener("click", () => show(1));
addEventListener("resize", tell);
show(0);
</script>
</html>
"""


def player(files: Mapping[str, Sequence[str]]) -> str:
    """The page.

    `player.html?projector=P1&seconds=5` shows the patterns of the second projector.

    Args:
        files: Names of the patterns by projector, which is their folder.
    """
    return _PAGE.replace("FOLDERS", json.dumps({name: list(of) for name, of in files.items()}))
