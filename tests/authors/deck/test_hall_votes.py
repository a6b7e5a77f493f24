"""A lecture that is answered by phone: what the hall sees and when, and what the lecturer alone sees."""

import json
import time
import urllib.error
import urllib.request
from urllib.parse import unquote

import preloaded_kernels
import pytest
from bs4 import BeautifulSoup
from deck_page import LOOK_AT_ALL, SLIDE, jump, number_of, slide_with, until
from lab_page import wait_for
from paths import LESSONS
from ports import free_ports

from authors.deck import build, serve
from authors.deck.lectures import Lectures

BARS = SLIDE + ":is(.choice, .vote)[data-hands]"
LEFT = SLIDE + ".phones"


class Lecture:
    """A deck that phones can answer; its phones are requests, as the page has tests of its own."""

    def __init__(self, address):
        self.address, self.tokens, self.streams = address, [], []
        self.server = self.now()["address"]

    def now(self):
        with urllib.request.urlopen(f"{self.address}/hall?token=test") as events:
            return json.loads(events.readline().removeprefix(b"data: "))

    def order(self, **order):
        urllib.request.urlopen(f"{self.address}/hall?token=test", json.dumps(order).encode()).close()

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(self.server + path, data) as answer:
            return json.loads(answer.read())

    def begin_again(self):
        """Nothing has been voted on yet, and four phones are in the hall, under a new code."""
        before = self.now()
        for question in before["votes"]:
            self.order(do="forget", question=question)
        self.order(do="code")
        until_so(lambda: self.now()["code"] != before["code"])
        self.tokens = [self.ask("join", {"code": self.now()["code"]})["token"] for _ in range(4)]
        for stream in self.streams:
            stream.close()
        self.streams = [urllib.request.urlopen(f"{self.server}events?token={token}") for token in self.tokens]
        until_so(lambda: self.now()["phones"] == 4)

    def vote(self, *texts):
        """As many phones as texts, each with its own."""
        round = self.ask(f"state?token={self.tokens[0]}")["round"]
        for token, text in zip(self.tokens, texts, strict=False):
            until_so(lambda sent={"token": token, "round": round, "text": text}: self.is_taken(sent))

    def is_taken(self, vote):
        """Whether a vote counts: one that comes too soon after the phone's last one is sent again."""
        try:
            return self.ask("vote", vote) is not None
        except urllib.error.HTTPError as refused:
            if refused.code != 429:
                raise
            return False


def until_so(is_so):
    for _ in range(3000):
        if is_so():
            return
        time.sleep(0.02)
    raise AssertionError("a minute went by, and it is not so")


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """What `course.py present 03 --hall` starts."""
    port, log = free_ports(1), tmp_path_factory.mktemp("voting") / "server.log"
    options = ["--hall", "--address", "127.0.0.1", "--no-browser", "--allow-root", f"--ServerApp.port={port}"]
    options += ["--IdentityProvider.token=test"]
    with preloaded_kernels.server(serve.main, [str(LESSONS[2]), *options], log) as server:
        wait_for(f"http://127.0.0.1:{port}", server.is_alive, log)
        yield Lecture(f"http://127.0.0.1:{port}")


@pytest.fixture
def lecture(started):
    started.begin_again()
    return started


@pytest.fixture
def deck(show, lecture):
    page = show(f"{lecture.address}/deck/03_masking?token=test")
    yield page
    page.close()  # or it would count as a deck that is still there
    assert not page.complaints


def left(page, text):
    page.locator(LEFT).filter(has_text=text).wait_for()


def to_the_truth(page):
    while not page.locator(f"{SLIDE.strip()}.answered").count():
        page.keyboard.press("PageDown")


def test_hall_sees_how_many_and_with_the_truth_what_they_mistake(deck, lecture):
    jump(deck, slide_with(deck, ".choice", 1))
    deck.keyboard.press("v")
    left(deck, "0 of")
    lecture.vote("1", "1", "less", "more")
    left(deck, "4 of 4 answered")
    assert deck.locator(BARS).count() == 0, "nothing leans"
    deck.keyboard.press("v")
    left(deck, "closed")
    deck.keyboard.press("v")
    left(deck, "second vote: 0 of 4")
    lecture.vote("1", "less", "less", "less")
    left(deck, "4 of 4 answered")
    assert deck.locator(BARS).count() == deck.locator(SLIDE + ".right").count() == 0
    to_the_truth(deck)
    deck.locator(BARS + ".right").wait_for()
    seen = {
        bar.evaluate("(bar) => bar.firstChild.data"): bar.get_attribute("data-hands")
        for bar in deck.locator(BARS).all()
    }
    assert seen == {"1": "2 → 1", "less": "1 → 3", "more": "1 → 0"}
    assert deck.locator(SLIDE + ".choice small").all_inner_texts() == ["divided again"]
    assert "this code does not do that" in deck.locator(SLIDE + ".commonest").inner_text()
    assert lecture.now()["phase"] == "closed", "the truth closes the vote"
    assert deck.evaluate(LOOK_AT_ALL, number_of(deck)) == []


def test_commonest_mistake_is_called_as_on_its_bar(deck, lecture):
    jump(deck, slide_with(deck, ".choice[data-value='only itself']"))
    deck.keyboard.press("v")
    left(deck, "0 of")
    lecture.vote("only itself", "only itself", "all three", "the other two")
    left(deck, "4 of 4 answered")
    to_the_truth(deck)
    assert "2 phones say “only itself”" in deck.locator(SLIDE + ".commonest").inner_text()


def test_what_is_said_of_a_vote_pushes_no_picture_under_the_choices(deck, lecture):
    jump(deck, slide_with(deck, ".choice[data-value='more than 0']"))
    deck.keyboard.press("v")
    left(deck, "0 of")
    lecture.vote("0", "more than 0")
    left(deck, "2 of")
    to_the_truth(deck)
    deck.locator(SLIDE + ".commonest.long").wait_for()
    words, choices = deck.locator(SLIDE + ".picture text").all(), deck.locator(SLIDE + ".choice").all()
    lowest = max(box["y"] + box["height"] for box in (word.bounding_box() for word in words))
    assert lowest <= min(choice.bounding_box()["y"] for choice in choices)


def test_no_vote_is_lost_by_a_key_too_many(deck, lecture):
    number = slide_with(deck, ".choice", 2)
    jump(deck, number)
    deck.keyboard.press("v")
    left(deck, "0 of")
    deck.keyboard.press("v")
    left(deck, "closed")
    deck.keyboard.press("v")
    deck.locator(LEFT).filter(has_not_text="second").filter(has_text="● 0 of 4").wait_for()
    lecture.vote("nan", "nan")
    left(deck, "2 of 4")
    while deck.locator(SLIDE + ".step:not(.visible)").count() > 1:
        deck.keyboard.press("PageDown")
    deck.keyboard.press("PageDown")
    left(deck, "2 of 4 answered, closed")
    assert not deck.locator(f"{SLIDE.strip()}.answered").count(), "next too early gives nothing away"
    deck.keyboard.press("v")
    left(deck, "● 2 of 4")
    jump(deck, number + 1)
    jump(deck, number)
    left(deck, "closed")
    deck.keyboard.press("v")
    left(deck, "● 2 of 4")
    deck.keyboard.press("v")
    left(deck, "2 of 4 answered, closed")
    deck.keyboard.press("v")
    left(deck, "second vote: 0 of 4")
    lecture.vote("0.27", "0.27", "0.27")
    left(deck, "3 of 4")
    for shown in ("Both votes are in", "The answer was shown"):
        if shown == "Both votes are in":
            deck.keyboard.press("v")
            left(deck, "3 of 4 answered, closed")
        else:
            to_the_truth(deck)
            deck.keyboard.press("PageUp")
        deck.keyboard.press("v")
        deck.get_by_text(shown).wait_for()
        left(deck, "second vote: 3 of 4 answered, closed")
    deck.keyboard.press("Shift+V")
    deck.get_by_role("button", name="anew").click()
    deck.locator(LEFT).wait_for(state="detached")


def test_overview_gives_no_answer_away_and_opens_no_vote(deck, lecture):
    number = slide_with(deck, ".choice", 1)
    for key in ("Escape", "ArrowRight", "ArrowRight", "v", "Escape", *str(number), "Enter"):
        deck.keyboard.press(key)
    until(deck, f"Reveal.getSlides().indexOf(Reveal.getCurrentSlide()) === {number - 1}")
    assert not deck.locator(f"{SLIDE.strip()}.answered").count()
    assert lecture.now()["phase"] != "open"


def test_numbers_that_phones_type_are_grouped_by_what_they_mistake(deck, lecture):
    number = slide_with(deck, "[data-question]:not(:has(.choice))")
    jump(deck, number)
    deck.keyboard.press("v")
    left(deck, "0 of")
    assert lecture.ask(f"state?token={lecture.tokens[0]}")["question"]["size"] == 3
    lecture.vote("6; 4; 3", "6,0; 4; 3", "3; 3; 3", "7; 7; 7")
    left(deck, "4 of 4")
    to_the_truth(deck)
    deck.locator(BARS + ".right").wait_for()
    shown = [(bar.get_attribute("data-value"), bar.get_attribute("data-hands")) for bar in deck.locator(BARS).all()]
    assert dict(shown)["6, 4, 3"] == "2" and dict(shown)["other answers"] == "1" and len(shown) == 3
    assert deck.locator(SLIDE + ".vote small").all_inner_texts() == ["without the mask"]
    assert "7, 7" not in deck.locator(SLIDE.strip()).inner_text(), "no free text is shown"


def test_speaker_sees_names_at_once_and_what_evidence_suggests(deck, lecture):
    jump(deck, slide_with(deck, ".choice", 3))
    with deck.expect_popup() as opened:
        deck.keyboard.press("s")
    panel = opened.value.locator(".hall-votes")
    copy = opened.value.frame_locator("#current-slide iframe").locator("section.present > section.present .choice")
    copy.first.wait_for()
    opened.value.keyboard.press("v")
    for texts, advice in (("one", "one", "one", "three"), "explain"), (("one", "three", "three", "one"), "talk"):
        left(deck, "of 4")
        lecture.vote(*texts)
        panel.filter(has_text=advice).wait_for()
        panel.filter(has_text="✓ right").wait_for()
        panel.click(trial=True)  # nothing covers it
    assert deck.locator(BARS).count() == 0
    jump(deck, slide_with(deck, ".guess:not(:has(.choice))", 1))
    opened.value.keyboard.press("v")
    left(deck, "0 of")
    lecture.vote("0", "0")
    panel.get_by_text("I (2)").wait_for()  # as phones have it
    opened.value.close()


def test_a_vote_ends_with_its_slide_and_a_reload_changes_nothing(deck, lecture):
    number = slide_with(deck, ".choice", 0)
    jump(deck, number)
    deck.keyboard.press("v")
    left(deck, "0 of")
    lecture.vote("0", "0", "more than 0")
    left(deck, "3 of")
    jump(deck, number - 1)
    until(deck, "document.querySelector('section.present > section.present .phones') === null")
    jump(deck, number)
    left(deck, "3 of 4 answered, closed")
    deck.reload()
    left(deck, "3 of 4 answered, closed")
    assert lecture.now()["phase"] == "closed"


def test_clickers_black_screen_button_votes_where_a_question_waits(deck, lecture):
    jump(deck, slide_with(deck, ".choice", 5))
    deck.keyboard.press(".")
    left(deck, "● 0 of")
    lecture.vote("0", "all")
    left(deck, "● 2 of")
    deck.keyboard.press("b")
    left(deck, "2 of 4 answered, closed")
    to_the_truth(deck)
    for is_black in (True, False):
        deck.keyboard.press(".")
        until(deck, f"Reveal.isPaused() === {str(is_black).lower()}")


def test_speaker_window_of_another_deck_drives_nothing(deck, lecture):
    with deck.expect_popup() as opened:
        deck.keyboard.press("s")
    opened.value.frame_locator("#current-slide iframe").locator("section.present").first.wait_for()
    with opened.value.expect_event("close"):
        deck.goto(f"{lecture.address}/deck/01_by_hand?token=test")
    deck.get_by_text("s opens this one's").wait_for()


def test_code_is_on_a_sheet_for_who_comes_late(deck, lecture):
    deck.keyboard.press("v")
    sheet = deck.get_by_role("dialog", name="Votes by phone")
    sheet.get_by_text(lecture.now()["code"]).wait_for()
    sheet.get_by_text("4 phones here").wait_for()
    assert sheet.locator("svg").bounding_box()["height"] > 300
    before = lecture.now()["code"]
    sheet.get_by_role("button", name="New code").click()
    sheet.get_by_text("No phone here yet").wait_for()
    assert lecture.now()["code"] != before and sheet.get_by_text(before).count() == 0
    deck.keyboard.press("Escape")
    sheet.wait_for(state="hidden")
    assert number_of(deck) == 1 and not deck.evaluate("Reveal.isPaused() || Reveal.isOverview()")


def test_sheet_opens_before_the_vote_server_has_answered(show, lecture):
    page = show(f"{lecture.address}/deck/03_masking?token=test")
    waiting = []
    page.route("**/hall?*", lambda route: waiting.append(route))
    page.reload()
    page.keyboard.press("v")
    sheet = page.get_by_role("dialog", name="Votes by phone")
    sheet.get_by_text("has not answered yet").wait_for()
    waiting[0].continue_()
    sheet.get_by_text(lecture.now()["code"]).wait_for()
    sheet.get_by_text("4 phones here").wait_for()
    page.close()
    assert not page.complaints


def test_who_finds_no_place_is_told_wherever_the_deck_is(deck, lecture):
    with deck.expect_popup() as opened:
        deck.keyboard.press("s")
    opened.value.frame_locator("#current-slide iframe").locator("section.present").first.wait_for()
    come_in = {"code": lecture.now()["code"]}
    with pytest.raises(urllib.error.HTTPError, match="503"):
        while True:
            lecture.ask("join", come_in)
    deck.locator(SLIDE + ".refused").get_by_text("1 finds no place").wait_for()
    opened.value.locator(".hall-votes").get_by_text("Shift+V lets them in").wait_for()
    opened.value.close()
    deck.keyboard.press("Shift+V")
    sheet = deck.get_by_role("dialog", name="Votes by phone")
    assert sheet.evaluate("(one) => one.scrollHeight <= one.clientHeight"), "with all its buttons"
    sheet.get_by_role("button", name="Let in up to").click()
    until_so(lambda: lecture.now()["per_address"] > 8)
    assert lecture.ask("join", come_in)["token"]


def test_speaker_chooses_the_plan_that_clock_and_notes_follow(deck, lecture):
    number = slide_with(deck, ".choice", 1)
    jump(deck, number)
    with deck.expect_popup() as opened:
        deck.keyboard.press("s")
    told = opened.value.locator(".speaker-controls-notes")
    told.get_by_text("3 min, from 7:30 of 39").wait_for()
    opened.value.locator(".plan select").click(trial=True)  # nothing covers it
    for plan, words in (("90", "5.5 min, from 10:00 of 84"), ("45", "3 min, from 7:30 of 39")):
        opened.value.locator(".plan select").select_option(plan)
        told.get_by_text(words).wait_for()
        end = 60 * {"90": 15.5, "45": 10.5}[plan]
        clock = "(one) => document.querySelector(one).textContent.match(/\\d+/g).map(Number)"
        clocks = f"[[, m, s], [, n, t]] = ['.timer', '.pacing'].map({clock})"  # what has gone, and what is left
        is_so = f"(end) => {{ const {clocks}; return Math.abs(60 * (m + n) + s + t - end) < 90; }}"
        until(opened.value, is_so, end)
    opened.value.close()


def test_after_the_end_the_lecture_can_be_saved_as_one_file(deck, lecture, tmp_path):
    number = slide_with(deck, ".guess:not(:has(.choice))")
    votes = (slide_with(deck, ".choice", 6), ["12", "0", "0"], ["12"] * 3), (number, ["1; 2; 4711"], [])
    for slide, first, second in votes:
        jump(deck, slide)
        for texts in filter(None, (first, second)):
            deck.keyboard.press("v")
            left(deck, "0 of")
            lecture.vote(*texts)
            left(deck, f"{len(texts)} of")
            deck.keyboard.press("v")
            left(deck, "closed")
    deck.keyboard.press("Shift+V")
    assert deck.get_by_role("button", name="Save the lecture").count() == 0
    deck.get_by_role("button", name="End").click()
    with deck.expect_download() as kept:
        deck.get_by_role("button", name="Save the lecture").click()
    kept.value.save_as(tmp_path / "lecture.html")
    deck.keyboard.press("Escape")
    text = (tmp_path / "lecture.html").read_text(encoding="utf-8")
    page = BeautifulSoup(text, "html.parser")
    assert "33 %, then 100 % right; 3" in page.get_text() and page.select("svg rect.right")
    assert not page.select("[src], link"), "it needs nothing beside it"
    counts = unquote(next(a["href"] for a in page.select("a") if a["download"].endswith("counts.csv")))
    assert ",12,right,,1,3\r\n" in counts and "4711" not in text and ",other answers,,,1," in counts
    minutes = {row["slide"]: row["spent"] for row in json.loads(page.select_one("#lecture").string)["slides"]}
    assert minutes[number] > 0
    again = build.page(LESSONS[2], earlier=Lectures(tmp_path).last("03_masking"))
    notes = json.loads(BeautifulSoup(again, "html.parser").select_one("#settings").string)["slides"].values()
    told = [number for number, slide in enumerate(notes, 1) if "33 %, then 100 % right" in slide["notes"]]
    assert told == [slide_with(deck, ".choice", 6)]


def test_only_the_decks_token_gives_orders(started):
    with urllib.request.urlopen(f"{started.address}/hall") as answer:
        assert "/login" in answer.url
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"{started.address}/hall", b'{"do": "close"}')


def test_vote_closes_behind_a_window_that_was_closed(deck, lecture, show):
    address = deck.url
    jump(deck, slide_with(deck, ".choice", 4))
    deck.keyboard.press("v")
    left(deck, "● 0 of")
    lecture.vote("0")
    deck.reload()
    left(deck, "● 1 of")
    lecture.vote("nan", "nan")
    left(deck, "● 2 of")
    deck.close()
    until_so(lambda: lecture.ask(f"state?token={lecture.tokens[0]}")["phase"] == "closed")
    again = show(address)
    jump(again, slide_with(again, ".choice", 4))
    left(again, "2 of 4 answered, closed")
    again.keyboard.press("v")
    left(again, "● 2 of 4")
    again.close()
