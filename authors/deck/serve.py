"""`python course.py present [notebook]`: the deck of a notebook on a Jupyter server of its own, a kernel behind it."""

import contextlib
import os
import sys
from pathlib import Path
from typing import ClassVar

from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from tornado import web
from tornado.ioloop import IOLoop

from . import build

ROOT = build.HERE.parents[1]
PATIENCE = 30  # seconds in which a page that was left may come back to its Python, as after a reload


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


class LeftHandler(JupyterHandler):
    """/left/<session>: a deck's page was left; its Python ends unless the page comes back."""

    @web.authenticated
    def post(self, session):
        IOLoop.current().call_later(PATIENCE, self.end, session)

    async def end(self, session):
        with contextlib.suppress(web.HTTPError):  # it has ended already
            left = await self.session_manager.get_session(session_id=session)
            if not left["kernel"]["connections"]:
                await self.session_manager.delete_session(session)


def main(arguments):
    """Serve every notebook's deck and open the one named first; other arguments go to the Jupyter server."""
    path, *options = arguments
    # kernels find the authors' tools, and notebooks their folder
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    app = ServerApp.instance()
    fixed = ["--ServerApp.ip=127.0.0.1", f"--ServerApp.default_url=/deck/{Path(path).stem}"]
    app.initialize([*fixed, f"--ServerApp.root_dir={build.NOTEBOOKS}", *options], find_extensions=False)
    decks, left = (url_path_join(app.base_url, path) for path in (r"/deck/(\w+(?:\.html)?)", r"/left/([\w-]+)"))
    app.web_app.add_handlers(r".*$", [(decks, DeckHandler), (left, LeftHandler)])
    app.start()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
