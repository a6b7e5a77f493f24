"""The site as something that a phone keeps: what it is called there, and a worker that shows it without a network."""

import hashlib
import json
from pathlib import Path

from workbench.display.colours import ON_LIGHT

HERE = Path(__file__).parent
NOT_KEPT = ("run/", "_static/LICENSE-", "objects.inv", ".", "sw.js")  # downloads, and what no page asks for
SAYS = "{{kept}}"  # on the first page: how much is kept


def manifest():
    """The web manifest: name, colours and icons of the site on a home screen."""
    icons = [{"src": f"_static/icon-{n}.png", "sizes": f"{n}x{n}", "type": "image/png"} for n in (180, 512)]
    paper = ON_LIGHT["paper"]
    looks = {"display": "browser", "background_color": paper, "theme_color": paper}
    names = {"name": "Learn attention by moving its numbers", "short_name": "Attention", "lang": "en"}
    return json.dumps({**names, "start_url": "index.html", "scope": "./", **looks, "icons": icons}, indent=1)


def write(site):
    """Write the worker for the finished site, and on the first page how many megabytes it keeps."""
    files = [path for path in sorted(site.rglob("*")) if path.is_file()]
    paths = {path.relative_to(site).as_posix(): path for path in files}
    paths = {name: path for name, path in paths.items() if not name.startswith(NOT_KEPT)}
    first = site / "index.html"
    size = sum(path.stat().st_size for path in paths.values()) / 1e6
    first.write_text(first.read_text(encoding="utf-8").replace(SAYS, f"{size:.0f} MB"), encoding="utf-8", newline="\n")
    held = {name: hashlib.sha256(path.read_bytes()).hexdigest()[:12] for name, path in paths.items()}
    worker = (HERE / "worker.js").read_text(encoding="utf-8")
    assert "const KEPT = {};" in worker
    text = worker.replace("const KEPT = {};", f"const KEPT = {json.dumps(held)};")
    (site / "sw.js").write_text(text, encoding="utf-8", newline="\n")
