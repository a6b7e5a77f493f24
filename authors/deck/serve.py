"""`python course.py present [notebook]`: the deck of a notebook on a Jupyter server of its own, a kernel behind it."""

import argparse
import contextlib
import getpass
import os
import secrets
import sys
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlencode, urlsplit

from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from tornado import web
from tornado.httpclient import AsyncHTTPClient
from tornado.ioloop import IOLoop

from workbench import questions

from ..addresses import addresses
from . import build
from .lectures import Lectures
from .plans import PLANS
from .slides import SlideError, file_of

ROOT = build.HERE.parents[1]
PATIENCE = 30  # seconds in which a page that was left may come back to its Python, as after a reload


class DeckHandler(JupyterHandler):
    """/deck/03_masking: the slides of a notebook, made anew whenever it, their own file or its questions have changed.

    Where they cannot be made so, the deck stays as it was and says why; a lecture goes on.
    """

    hall = False  # whether phones can vote
    earlier = None  # the `Lectures` that were saved, if they are asked for
    plan = "45"  # that the clock begins with
    began = secrets.token_hex(4)  # what was chosen in the lecture before is not taken for this one's
    pages: ClassVar = {}  # path → times of the last changes, and the page; the token stays while the server runs

    @web.authenticated
    def get(self, name):
        path = build.NOTEBOOKS / f"{name.removesuffix('.html')}.ipynb"
        if not (path.is_file() or path in self.pages):
            raise web.HTTPError(404)
        try:
            text = self.page(path)
        except Exception as error:  # whatever stands in a file that somebody is writing
            why = str(error) if isinstance(error, SlideError) else f"{type(error).__name__}: {error}"
            text = self.as_it_was(path, why)
        self.finish(text)

    def page(self, path):
        times = changes(path)
        if self.pages.get(path, (None, ""))[0] != times:
            questions.read_again()
            base = f"{self.request.protocol}://{self.request.host}{self.base_url}"
            server = {"baseUrl": base, "token": self.identity_provider.token, "hall": self.hall}
            server |= {"began": self.began, "plan": self.plan, "stays": ""}
            self.pages[path] = times, build.page(path, server, earlier=self.earlier and self.earlier.last(path.stem))
        return self.pages[path][1]

    def as_it_was(self, path, why):
        """The page made before a change, which says so, or where there is none what is wrong, with status 500."""
        print(f"{path.stem} cannot be made anew: {why}", file=sys.stderr, flush=True)
        if path not in self.pages:
            self.set_status(500)
            return why
        stays = f"The slides are as before your last change. {why}"
        return self.pages[path][1].replace('"stays": ""', f'"stays": {build.script_data(stays)}', 1)


def changes(path):
    """When the files that make a deck were changed last."""
    files = path, file_of(path.stem), *questions.files(path.stem[:2])
    return tuple(file.stat().st_mtime_ns for file in files if file.is_file())


class LeftHandler(JupyterHandler):
    """/left/<session>: a deck's page was left; its Python ends unless the page comes back."""

    @web.authenticated
    def post(self, session):
        IOLoop.current().call_later(PATIENCE, self.end, session)

    async def end(self, session):
        with contextlib.suppress(web.HTTPError):  # it has ended already
            model = await self.session_manager.get_session(session_id=session)
            if not model["kernel"]["connections"]:
                await self.session_manager.delete_session(session)


def main(arguments):
    """Serve every notebook's deck and open the one named first; other arguments go to the Jupyter server."""
    path, *options = arguments
    hall, options, phones = hall_of(options)
    # kernels find the authors' tools, and notebooks their folder
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    app = ServerApp.instance()
    fixed = ["--ServerApp.ip=127.0.0.1", f"--ServerApp.default_url=/deck/{Path(path).stem}"]
    quiet = "--ServerApp.log_level=WARN"  # what is said at the end stays in sight
    app.initialize([*fixed, quiet, f"--ServerApp.root_dir={build.NOTEBOOKS}", *options], find_extensions=False)
    decks, leaving = (url_path_join(app.base_url, path) for path in (r"/deck/(\w+(?:\.html)?)", r"/left/([\w-]+)"))
    app.web_app.add_handlers(r".*$", [(decks, DeckHandler), (leaving, LeftHandler)])
    if hall:
        from classroom.hall.handlers import HallHandler

        app.web_app.add_handlers(r".*$", [(url_path_join(app.base_url, "/hall"), HallHandler, {"link": hall})])
        DeckHandler.hall = True
        app.io_loop.add_callback(hall.listen)
    app.io_loop.add_callback(tell, app, phones)
    try:
        app.start()
    finally:
        if hall:
            hall.end()


async def tell(app, phones):
    """Ask for the deck as a browser does, and print the last lines in the terminal once it has come."""
    print("The slides are being made.", flush=True)
    path = f"{app.default_url}?{urlencode({'token': app.identity_provider.token})}"
    scheme, host = urlsplit(app.public_url)[:2]
    local = f"{scheme}://127.0.0.1:{app.port}{path}"
    options = {"headers": {"Host": host}, "validate_cert": False, "follow_redirects": False, "raise_error": False}
    answer = await AsyncHTTPClient().fetch(local, request_timeout=0, **options)
    problem = answer.body.decode() if answer.code == 500 else ""
    print(*filter(None, [phones, problem, in_sight(app)]), sep="\n", flush=True)


def in_sight(app):
    """Where the deck is, and how it ends."""
    address = app.display_url.split()[0]
    return f"\nThe deck is at  {address}\nControl+C twice ends it."


def hall_of(options):
    """The line to a vote server, or None; the options that are Jupyter's; and what to say of phones."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--hall", action="store_true")
    parser.add_argument("--address")
    parser.add_argument("--relay")
    parser.add_argument("--plan", choices=list(PLANS), default=DeckHandler.plan)
    parser.add_argument("--lectures", type=Path)
    chosen, others = parser.parse_known_args(options)
    DeckHandler.plan = chosen.plan
    if chosen.lectures:
        DeckHandler.earlier = Lectures(chosen.lectures)
    if not chosen.hall:
        return None, others, ""
    from classroom.hall import link  # whose packages are installed for the classroom's commands alone

    site = addresses()[1]
    as_file = "as a file, as pyproject.toml names no site"
    keep = f"What was guessed: at the end phones keep it {f'by a link to {site}/record.html' if site else as_file}."
    if chosen.relay:
        secret = os.environ.pop("HALL_SECRET", "") or getpass.getpass("The relay's secret: ")
        sentence = f"{keep}\nPhones vote at {chosen.relay}; V on a slide shows the code."
        return link.Relayed(chosen.relay, secret, site), others, sentence
    hall = link.Beside(site, chosen.address)
    sentences = [
        keep,
        "Open their address on your own phone now: where none gets in, this network keeps devices apart.",
    ]
    if more := [one for one in link.own_addresses() if one not in hall.now["address"] and one != "127.0.0.1"]:
        sentences.append(f"This machine is also called {', '.join(more)}; --address takes another one.")
    return hall, others, "\n".join([*sentences, hall.in_letters()])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
