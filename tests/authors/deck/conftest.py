import pytest
from deck_page import BACK_TO_THE_START, PATIENCE, PHONE, PROJECTOR, until


@pytest.fixture(scope="module")
def show(browser):
    """Opens a page at a size; notes what it complains of and what it asks a network for."""
    contexts = []

    def open_page(address, size=PROJECTOR, **options):
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.asked, page.complaints = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("console", lambda told: told.type == "error" and page.complaints.append(told.text))
        page.goto(address)
        if size != PHONE:
            until(page, "window.Reveal && Reveal.isReady()")
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def open_deck(decks, show):
    """The page of a deck, opened once, at its first slide and at the projector's size."""
    pages = {}

    def open_page(name):
        if name not in pages:
            pages[name] = show((decks / f"{name}.html").as_uri())
        page = pages[name]
        page.set_viewport_size({"width": PROJECTOR[0], "height": PROJECTOR[1]})
        page.evaluate(BACK_TO_THE_START)
        return page

    return open_page
