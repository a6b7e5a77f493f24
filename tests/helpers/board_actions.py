"""What a person does at a board and sees there: in JupyterLab, and on a page of its own."""

from attn_lib import self_attention_steps
from attn_lib.examples import TOKENS, W_k, W_q, W_v, X


def start_again(board):
    """The board as it began; without moving the mouse, which is quicker."""
    said = board.evaluate(
        """board => {
          document.activeElement.blur();
          board.querySelector("[title='Back to the example']").click();
          return board.querySelector(".said").textContent;
        }"""
    )
    assert said == "Back to the example."
    return board


def choose(board, words):
    """Open the menu of what is seldom needed and choose from it."""
    board.get_by_role("button", name="More", exact=True).click()
    board.get_by_role("menu").get_by_text(words).click()


def cell(board, label):
    return board.locator(f'[aria-label="{label}"], [aria-label^="{label}:"]')


def number(board, label):
    text = cell(board, label).get_attribute("aria-label").split(": ")[1]
    return float(text.replace("−", "-").replace("∞", "inf").replace("≈", ""))


def see(board, text):
    board.get_by_text(text).first.wait_for()


def focused(board):
    return board.page.evaluate("document.activeElement.getAttribute('aria-label')") or ""


def press(board, *keys):
    for key in keys:
        board.page.keyboard.press(key)


def see_results(board, **changed):
    """Wait until the board shows the weights and outputs of the example with these matrices changed."""
    inputs = {"X": X, "W_q": W_q, "W_k": W_k, "W_v": W_v} | changed
    steps = self_attention_steps(*(matrix.double() for matrix in inputs.values()), scale=1)
    wanted = [
        [f"weights {TOKENS[i]} → {TOKENS[j]}: ", number]
        for i, row in enumerate(steps.weights.tolist())
        for j, number in enumerate(row)
    ] + [
        [f"outputs {TOKENS[i]}, column {j + 1}: ", number]
        for i, row in enumerate(steps.outputs.tolist())
        for j, number in enumerate(row)
    ]
    board.page.wait_for_function(
        """([board, wanted]) => wanted.every(([label, number]) => {
             const cell = board.querySelector(`[aria-label^="${label}"]`);
             const shown = Number(cell.ariaLabel.slice(label.length).replaceAll('−', '-').replace('≈', ''));
             return cell.textContent === cell.ariaLabel.slice(label.length)
               && Math.abs(shown - number) <= Math.max(0.00501, 0.006 * Math.abs(number));
           })""",
        arg=[board.element_handle(), wanted],
    )


def changed(matrix, row, column, number):
    matrix = matrix.clone()
    matrix[row - 1, column - 1] = number
    return matrix
