"""The phone's page, as fingers, keyboards and bad networks meet it."""

import pytest
from axe_playwright_python.base import AXE_SCRIPT as AXE
from vote_server import NUMBERS, WORDS, VoteServer

PHONES = {"small": (320, 568), "large": (390, 844)}
SHAPE = {"id": "02.query-shape", "ask": "Which shape has query?", "kind": "shape"}
SET = {"id": "03.moved", "ask": "Which outputs move?", "kind": "set", "options": ["0 I", "1 like", "2 tea"], "first": 0}
EACH = {"id": "05.dead", "ask": "nan or finite?", "kind": "each", "options": ["nan", "finite"], "size": 2}
EACH["rows"] = ["with weights", "without, in use"]
ANSWERED = [  # a question, and what is counted when which buttons are pressed
    (
        NUMBERS,
        {
            "−0.5; nan": ["minus", "0", "point", "5", "next box", "not a number", "Send"],
            "7%; 1/∞": ["7", "8", "delete", "per cent", "next box", "1", "divided by", "infinity", "Send"],
        },
    ),
    (SHAPE, {"2; 6; 3": ["2", "next box", "6", "one size more", "3", "one size more", "one size less", "Send"]}),
    (WORDS, {"no": ["no"]}),
    (SET, {"0; 2": ["0 I", "1 like", "2 tea", "1 like", "Send"], "none": ["0 I", "none of them", "Send"]}),
    (EACH, {"nan; finite": ["with weights: finite", "without, in use: finite", "with weights: nan", "Send"]}),
]
TOO_SMALL = """() => [...document.querySelectorAll("button, input")].filter((node) => {
  const { width, height } = node.getBoundingClientRect();
  return width && (width < 44 || height < 44);
}).map((node) => node.outerHTML)"""
SCROLLS = "document.documentElement.scrollHeight > innerHeight || document.documentElement.scrollWidth > innerWidth"
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa"]}}


@pytest.fixture(scope="module")
def server():
    one = VoteServer("https://site.test/course")
    one.order({"do": "more"})
    yield one
    one.end()


@pytest.fixture
def phone(browser, server):
    """A phone that has come in by the QR code."""
    context = browser.new_context(viewport={"width": 320, "height": 568}, has_touch=True)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    comes_in(page, server)
    yield page
    assert not page.complaints
    context.close()


def comes_in(page, server):
    """By the QR code; the form that asks for the code goes."""
    page.goto(server.scanned())
    page.get_by_label("The code on the screen").wait_for(state="hidden")


def says(page, text):
    page.get_by_text(text).first.wait_for()


def press(page, name):
    page.get_by_role("button", name=name, exact=True).tap()


def counted(server):
    return server.rounds()[-1]["votes"]


def test_every_form_is_answered_by_fingers_alone(server, phone):
    phone.evaluate(AXE)
    for question, answers in ANSWERED:
        for text, buttons in answers.items():
            server.open(question)
            phone.get_by_text("You said").wait_for(state="hidden")
            says(phone, question["ask"])
            for name in buttons:
                press(phone, name)
            server.until(lambda text=text: counted(server) == {text: 1})
            says(phone, "You said")
        for size in PHONES.values():
            phone.set_viewport_size({"width": size[0], "height": size[1]})
            assert not phone.evaluate(SCROLLS) and phone.evaluate(TOO_SMALL) == [], f"{question['kind']} at {size}"
        for scheme in ("light", "dark"):
            phone.emulate_media(color_scheme=scheme)
            wrong = phone.evaluate("(rules) => axe.run(document, rules)", RULES)["violations"]
            assert [one["id"] for one in wrong] == [], f"{question['kind']}, {scheme}"


def test_numbers_are_typed_and_what_is_no_answer_is_not_sent(server, phone):
    first, second = (phone.get_by_label(f"Number {i} of 2") for i in (1, 2))
    server.open(NUMBERS)
    says(phone, NUMBERS["ask"])
    press(phone, "1")
    press(phone, "Send")
    says(phone, "still empty")
    first.fill("half")
    second.fill("abc")
    press(phone, "Send")
    says(phone, "Numbers are asked for.")
    assert counted(server) == {}
    first.fill("")
    second.fill("")
    first.focus()
    for keys in ("0,5", "Tab", "1,5", "Enter"):
        (phone.keyboard.press if keys.isalpha() else phone.keyboard.type)(keys)
    server.until(lambda: counted(server) == {"0,5; 1,5": 1})
    reads = {"form": "numbers", "size": 2, "whole": False, "range": [0, 1], "asks": "Two shares.", "refuses": "Shares."}
    server.open(NUMBERS | {"id": "made.up", "ask": "Which shares?", "reads": reads})
    says(phone, "Which shares?")
    second.fill("1")
    for typed, words in (("1//2", "That could not be read. Two shares."), ("7", "Shares."), ("0,5", "You said")):
        first.fill(typed)
        press(phone, "Send")
        says(phone, words)
    server.until(lambda: counted(server) == {"0,5; 1": 1})


def test_a_vote_waits_for_the_network_and_is_in_no_later_question(server, phone):
    server.open(WORDS)
    says(phone, WORDS["ask"])
    for text in ("yes", "no"):
        phone.context.set_offline(True)
        press(phone, text)
        says(phone, "Not sent yet")
        if text == "no":
            server.open(SET)
        phone.context.set_offline(False)
        if text == "yes":
            server.until(lambda: counted(server) == {"yes": 1})
            says(phone, "You said: yes")
    says(phone, SET["ask"])
    says(phone, "Too late: that vote was closed.")
    press(phone, "2 tea")
    press(phone, "Send")
    server.until(lambda: counted(server) == {"2": 1})
    assert server.now["votes"][WORDS["id"]][-1]["votes"] == {"yes": 1}


def test_a_vote_is_still_too_late_when_the_next_question_comes_after_that_was_said(server, phone):
    phone.route("**/events*", lambda route: route.abort())  # as where no events come through: it asks what is new
    phone.reload()
    server.open(WORDS)
    says(phone, WORDS["ask"])
    phone.route("**/state*", lambda route: route.abort())
    server.open(SET)
    press(phone, "yes")
    says(phone, "Too late")
    phone.unroute("**/state*")
    says(phone, SET["ask"])
    says(phone, "Too late: that vote was closed.")


def test_a_page_that_is_loaded_again_goes_on(server, phone):
    server.open(WORDS)
    says(phone, WORDS["ask"])
    press(phone, "no")
    says(phone, "You said: no")
    phone.reload()
    says(phone, "You said: no")
    before = server.now["phones"]
    press(phone, "yes")
    server.until(lambda: counted(server) == {"yes": 1} and server.now["phones"] == before)


def test_two_tabs_of_a_phone_say_the_same(server, phone):
    other = phone.context.new_page()
    other.goto(server.now["address"])
    server.open({**EACH, "ask": "In both tabs?", "rows": []})
    for tab, buttons, text in ((phone, ["1: nan", "2: nan"], "nan, nan"), (other, ["2: finite"], "nan, finite")):
        says(tab, "In both tabs?")
        for name in [*buttons, "Send"]:
            press(tab, name) if tab is phone else tab.get_by_role("button", name=name).click()
        says(phone, f"You said: {text}")
        says(other, f"You said: {text}")
    other.close()


def test_who_found_no_place_comes_in_without_a_tap_and_is_told_when_the_server_has_gone(browser):
    server, page = VoteServer(), browser.new_page()
    while server.join() != 503:
        pass
    page.goto(server.scanned())
    says(page, "There is no place left")
    server.until(lambda: server.now["refused"])
    server.order({"do": "more"})
    says(page, "You are in.")
    server.end()
    says(page, "No connection. It is tried")
    page.close()


def test_who_lost_the_place_while_asleep_takes_another_without_a_tap(server, phone):
    for path in ("**/events*", "**/state*"):
        phone.route(path, lambda route: route.fulfill(status=403, body="{}"))
    phone.route("**/join", lambda route: (phone.unroute("**/events*"), phone.unroute("**/state*"), route.continue_()))
    phone.reload()
    server.open({**WORDS, "ask": "Who is awake?"})
    says(phone, "Who is awake?")


def test_who_was_thrown_out_comes_in_by_the_new_code(server, phone):
    old = server.now["code"]
    server.order({"do": "code"})
    says(phone, "The code has changed")
    server.until(lambda: server.now["code"] != old)
    phone.get_by_label("The code on the screen").fill(server.now["code"].lower())
    press(phone, "Come in")
    server.open(WORDS)
    says(phone, WORDS["ask"])


def test_events_that_never_come_through_are_asked_for(server, browser):
    page = browser.new_page()
    page.route("**/events*", lambda route: route.abort())
    page.goto(server.scanned())
    server.open({**WORDS, "ask": "Is it asked for?"})
    says(page, "Is it asked for?")
    page.get_by_role("button", name="yes").click()
    server.until(lambda: counted(server) == {"yes": 1})
    page.close()


def test_at_the_end_there_is_a_link_with_what_was_guessed(server, phone):
    server.open(WORDS)
    says(phone, WORDS["ask"])
    press(phone, "no")
    says(phone, "You said: no")
    server.open(WORDS, again=True)
    says(phone, "Once more")
    press(phone, "yes")
    says(phone, "You said: yes")
    server.order({"do": "end"})
    says(phone, "no, then yes")
    link = phone.get_by_role("link").get_attribute("href")
    assert link.startswith("https://site.test/course/record.html#on=")
    assert link.endswith("&02.thrown-away=no&02.thrown-away=yes")
    press(phone, "Forget it")
    press(phone, "Forget all?")
    phone.reload()
    says(phone, "The lecture is over.")
    assert phone.get_by_role("button", name="What you guessed").count() == 0


def test_without_a_site_what_was_guessed_is_a_file(browser):
    server = VoteServer()
    page = browser.new_page()
    comes_in(page, server)
    server.open(WORDS)
    page.get_by_role("button", name="no", exact=True).click()
    says(page, "You said: no")
    server.order({"do": "end"})
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save it as a file").click()
    assert "Is this attention?\n    no" in saved.value.path().read_text(encoding="utf-8")
    page.close()
    server.end()
