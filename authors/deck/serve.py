"""`python course.py present [notebook]`: the deck of a notebook on a Jupyter server of its own, a kernel behind it."""

import os
import sys
from pathlib import Path
from typing import ClassVar

from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from tornado import web

from . import build

ROOT = build.HERE.parents[1]


class DeckHandler(JupyterHandler):
    """/deck/03_masking: the slides of a notebook, made anew whenever its file has changed."""

    made: ClassVar = {}  # path and time of its last change → page; the token stays the same while the server runs

    @web.authenticated
    def get(self, name):
        path = build.NOTEBOOKS / f"{name.removesuffix('.html')}.ipynb"
        if not path.is_file():
            raise web.HTTPError(404)
        made = (path, path.stat().st_mtime_ns)
        if made not in self.made:
            base = f"{self.request.protocol}://{self.request.host}{self.base_url}"
            self.made[made] = build.page(path, {"baseUrl": base, "token": self.identity_provider.token})
        self.finish(self.made[made])


def main(arguments):
    """Serve every notebook's deck and open the one named first; other arguments go to the Jupyter server."""
    path, *options = arguments
    # kernels find the authors' tools, and notebooks their folder
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    app = ServerApp.instance()
    fixed = ["--ServerApp.ip=127.0.0.1", f"--ServerApp.default_url=/deck/{Path(path).stem}"]
    app.initialize([*fixed, f"--ServerApp.root_dir={build.NOTEBOOKS}", *options], find_extensions=False)
    app.web_app.add_handlers(r".*$", [(url_path_join(app.base_url, r"/deck/(\w+(?:\.html)?)"), DeckHandler)])
    app.start()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
