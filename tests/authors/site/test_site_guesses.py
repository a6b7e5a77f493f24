"""Questions and exercises of the site are answered in the page, and stand at its end in print."""

import re

from playwright.sync_api import expect
from site_page import LESSONS, SERVED, address_of, ask, first_question, seen_by

from attn_lib.examples import W_k, W_q, W_v, X, self_attention_steps
from authors.site.lesson_page import STANDING
from workbench.exercises.engine.exercise import EXERCISES


def test_a_right_guess_opens_its_answer_and_is_counted(reader):
    page = reader("01_by_hand")
    form, line, verdict = first_question(page)
    fold = page.locator("details.after-guess").first
    ask(line, "  ")
    verdict.get_by_text("still empty").wait_for()  # which costs no try
    ask(line, "1, 3")
    verdict.get_by_text("Try again.").wait_for()  # and says which slip it is
    assert fold.get_attribute("open") is None and not form.get_by_text("The answer").is_visible()
    fold.evaluate("(node) => node.insertAdjacentHTML('afterend', `<h3>More</h3>${node.outerHTML}`)")  # no answer to it
    line.fill("[0.5, 1.5]")
    form.get_by_role("button", name="Check").click()
    verdict.get_by_text("✓ Right.").wait_for()
    form.get_by_text("The answer: [0.5, 1.5]").wait_for()
    assert not form.locator(".how").is_visible(), "how to write it is no answer to what was read"
    assert page.locator("details.after-guess[open]").count() == 1  # the next question's stays shut
    assert not form.get_by_role("button", name="Show me").count() and seen_by(page)["faint"] == []

    questions = page.locator("form.guess[data-again=false]").count()
    counted = page.get_by_text(f"1 of {questions} guesses right", exact=True)
    counted.wait_for()
    page.reload()
    form, line, verdict = first_question(page)
    verdict.get_by_text("✓ Right.").wait_for()
    ask(line, "7, 7")  # what was right stays so; the other guess is judged all the same
    for _ in range(2):
        verdict.get_by_text("Neither of the two numbers is right.").wait_for()
        assert "Try again" not in verdict.inner_text() and form.get_by_text("The answer").is_visible()
        counted.wait_for()
        page.reload()
        form, line, verdict = first_question(page)


def test_one_line_stands_below_a_question_until_it_is_answered(reader):
    page = reader("09_two_heads")
    below = """(form) => {
      const rest = [...document.querySelectorAll("form.guess, h2, h3, details.after-guess, .tag_answer details")];
      const own = rest.slice(rest.indexOf(form) + 1);
      const folds = own.slice(0, own.findIndex((node) => !node.matches("details")));
      return [folds.length, folds.filter((fold) => fold.checkVisibility()).length, folds.every((fold) => fold.open)];
    }"""
    form = page.locator("#guess-moment")
    many, seen, _ = form.evaluate(below)
    assert many > 2 and seen == 1
    ask(form.locator("input"), "1")
    form.get_by_text("The answer: 1").wait_for()
    assert form.evaluate(below) == [many, many, True]
    page.goto(address_of("06_bug_clinic") + "#claim-suite")  # which stands in the second of two folds
    page.locator("#claim-suite").wait_for()


def test_first_page_goes_on_where_one_stopped(reader):
    page = reader("index")
    onwards, ring = page.locator(".go-on"), page.locator(".cards .ring").first
    assert ring.get_attribute("aria-label") == "not begun" and "guess" in page.locator(".how-far").inner_text()
    onwards.click()
    page.wait_for_load_state()  # nobody types before scripts are there
    first = first_question(page)[1]
    ask(first, "1, 3")
    ask(first, "0.5, 1.5")
    ask(page.locator("#guess-likeness input"), "3, 5")
    questions = page.locator("form.guess[data-again=false]").count()
    page.go_back()
    page.get_by_text(re.compile(r"^1 begun. 2 guesses, 1 right at once")).wait_for()
    page.get_by_role("img", name=f"2 of {questions} guesses done").wait_for()
    assert "Go on" in onwards.inner_text() and onwards.get_attribute("href").endswith(f"{LESSONS[0]}.html")
    page.goto(address_of(LESSONS[0]))
    page.locator("form.guess .show").evaluate_all("(buttons) => buttons.forEach((button) => button.click())")
    page.goto(address_of("index"))
    page.get_by_role("img", name="finished").wait_for()
    assert "Begin" in onwards.inner_text() and onwards.get_attribute("href").endswith(f"{LESSONS[1]}.html")


def test_where_you_stand_names_the_lessons_that_slipped(reader):
    page = reader("index")
    page.goto(f"{SERVED}notebooks/{STANDING}.html")
    result, forms = page.locator(".standing"), page.locator("form.guess")
    for form in forms.all():
        ask(form.locator("input"), "3")  # right of one or two at most
    count = forms.count()
    result.get_by_text(
        re.compile(rf"^{count} of {count} answered, \d right at once. To open again: lesson 1, lesson 2")
    ).wait_for()
    result.get_by_role("link", name="lesson 2").click()
    page.get_by_role("heading", level=1, name=re.compile("^2")).wait_for()
    page.goto(address_of("index"))
    expect(page.locator(".how-far p")).to_have_text(re.compile(rf"^{count} guesses, \d right at once"))
    assert "Begin" in page.locator(".go-on").inner_text()


def test_two_wrong_guesses_or_giving_up_show_the_answer(reader):
    page = reader("01_by_hand", "phone, dark")
    form, line, verdict = first_question(page)
    again = {"7, 7": True, "many": False, "7,7": True, "8, 8": False}  # what is no number, or the same, does not count
    for guess, once_more in again.items():
        assert not form.get_by_text("The answer").is_visible()
        ask(line, guess)
        verdict.get_by_text("could not be read" if guess == "many" else "✗").wait_for()
        assert ("Try again" in verdict.inner_text()) == once_more, guess
    form.get_by_text("The answer: [0.5, 1.5]").wait_for()
    other = page.locator("form.guess").nth(3)
    other.get_by_role("button", name="Show me").click()
    other.get_by_text("The answer").wait_for()
    open_after = """(form) => [...document.querySelectorAll('.tag_answer details[open]')].filter(
        (fold) => form.compareDocumentPosition(fold) & Node.DOCUMENT_POSITION_FOLLOWING).length"""
    assert other.evaluate(open_after)
    assert not page.locator("form.guess").nth(4).evaluate(open_after), "the next question's code stays folded"
    page.get_by_text(re.compile(r"^0 of \d+ guesses right$")).wait_for()
    page.reload()
    other.get_by_text("The answer").wait_for()
    form.get_by_text("The answer: [0.5, 1.5]").wait_for()


def test_an_exercise_in_numbers_names_the_mistake_only(reader):
    page = reader("01_by_hand")
    form = page.locator("form.guess[data-again=true]").first
    outputs = self_attention_steps(X, W_q, W_k, W_v, scale=1).outputs[1].tolist()  # of the wrong sentence
    for digits in (3, 4, 5):
        ask(form.locator("input"), ", ".join(f"{number:.{digits}f}" for number in outputs))
        form.get_by_role("status").get_by_text("This is an output of I like tea").wait_for()
        assert "Try again" not in form.inner_text()  # it may be tried for ever
    ask(form.locator("input"), f"{EXERCISES['1.1'].answer}")
    form.get_by_role("status").get_by_text("✓").wait_for()
    page.get_by_text(re.compile(r"^0 of \d+ guesses right$")).wait_for()  # an exercise is none
    assert form.locator(".answer[hidden]").count() == 1 and not form.locator(".answer").inner_text()


def test_in_print_hints_and_answers_stand_at_the_end(reader):
    page = reader("01_by_hand")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    ends = page.locator("article > section.answers")
    hints, end = ends.first, ends.last
    questions = page.locator("form.guess[data-again=false]").count()
    assert end.locator(".answered").count() == questions and "[0.5, 1.5]" in end.inner_text()
    assert end.evaluate("(node) => node === node.parentElement.lastElementChild")
    assert end.text_content().count(page.locator("details.after-guess p").first.text_content()) == 1
    assert not page.locator("form.guess .answer").first.is_visible()
    assert not page.locator("details.after-guess").first.is_visible()
    for folded in ("filled", "answer", "set-up"):
        code = page.locator(f".tag_{folded} details")
        assert code.count() and not code.and_(page.locator("[open]")).count()
    asked = page.locator(".hints")
    told = asked.last.locator("details").last.evaluate("(fold) => fold.lastChild.textContent")
    assert told in hints.text_content() and not asked.last.is_visible()
    assert hints.locator(".answered").count() == asked.count()
    assert not any(button.is_visible() for button in page.locator("article button:not(.saved-board *, .try)").all())
    assert page.locator(".saved-board").count() == page.locator(":is(.attn-board, .attn-figure)").count(), (
        "all have come"
    )
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert ends.count() == 0, "all is as it was before"
    page.goto(address_of("index"))
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert ends.count() == 0, "a page without questions has no answers"
