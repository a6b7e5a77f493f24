"""What the deck's own Jupyter server has for it, behind its token: the line to the vote server."""

import asyncio
import json

from jupyter_server.base.handlers import JupyterHandler
from tornado import ioloop, iostream, web

PATIENCE = 10  # seconds in which a deck that is loaded again is back, on a slow machine too


class HallHandler(JupyterHandler):
    """/hall: all that is known of the hall as events, and the deck's orders. Only the deck's pages come here."""

    def initialize(self, link):
        """Take the deck's `Link`."""
        self.link = link

    @web.authenticated
    async def get(self):
        """Send the state of the hall now and whenever it changes, as events; returns when the deck's page has gone."""
        self.set_header("Content-Type", "text/event-stream")
        self.set_header("Cache-Control", "no-store")
        news = asyncio.Event()
        self.link.listeners.add(news)
        try:
            while True:
                self.write(f"data: {json.dumps(self.link.now, ensure_ascii=False)}\n\n")
                await self.flush()
                await news.wait()
                news.clear()
        except iostream.StreamClosedError:
            pass
        finally:
            self.link.listeners.discard(news)
            self.link.departures += 1
            ioloop.IOLoop.current().call_later(PATIENCE, self.close_unless_back, self.link.departures)

    def close_unless_back(self, departures):
        """No phone votes for a deck that is gone; where others came and went since, their time counts."""
        if departures == self.link.departures and not self.link.listeners and self.link.now.get("phase") == "open":
            self.link.order({"do": "close", "cut": True})

    def on_connection_close(self):
        """Wake `get`: it notices as it writes that the page has gone."""
        for news in self.link.listeners:
            news.set()  # `get` notices as it writes

    @web.authenticated
    def post(self):
        """Pass on an order of the deck's, as JSON."""
        self.link.order(json.loads(self.request.body))
        self.finish({})
