"""What lesson 13 lets the model read."""

import itertools

PARAGRAPH = (  # written for this course, so it stands in nothing that the model was trained on
    "The old bridge at the edge of our village was built of stone, long before anyone alive was born. Every morning "
    "the baker walks across it with a basket of warm bread, and every evening the children sit on its wall and throw "
    "small stones into the river. My grandmother says that a storm once carried away half of the bridge, and that the "
    "people rebuilt it together in a single summer. They worked until their hands were sore, and they sang while they "
    "worked. Today nobody remembers the song, but the bridge is still there, and the river still runs under it, slow "
    "and green in July, loud and brown in March. When I am far from home, I think of the bread, the children and the "
    "stones."
)

WATER = (  # all end with bank
    "We rested on the bank",
    "After swimming in the river he lay on the bank",
    "The fish jumped, and the boat lay at the bank",
    "Water flowed along the bank",
    "The ducks walked up the grassy bank",
    "She tied the boat to a tree on the bank",
    "They fished in the stream from the bank",
    "The flood washed over the bank",
    "Reeds and willows grew along the bank",
    "The beaver left the water and climbed the bank",
    "We paddled our canoe towards the bank",
    "The children threw stones into the river from the bank",
)
MONEY = (
    "She took a loan from the bank",
    "After losing his wallet he called the bank",
    "The money was gone, and the clerk closed the bank",
    "Interest rates were raised by the bank",
    "The robbers walked into the busy bank",
    "She paid the check into an account at the bank",
    "They borrowed cash for the house from the bank",
    "The crisis ruined the bank",
    "Accountants and lawyers worked for the bank",
    "The cashier counted the coins and left the bank",
    "We took our savings to the bank",
    "The company paid its debts to the bank",
)

NOUNS = "key", "book", "dog", "boy", "car", "letter", "bird", "house", "flower", "teacher"
BETWEEN = "near", "behind", "beside", "with"


def subjects():
    """80 beginnings of sentences, and whether the subject of each is plural: ("The keys near the book", True), …

    The other noun is always of the other number, so whoever goes by the nearest noun is always wrong.
    """
    pairs = [(noun, NOUNS[(i + 3) % len(NOUNS)]) for i, noun in enumerate(NOUNS)]
    for (noun, other), between in itertools.product(pairs, BETWEEN):
        yield f"The {noun}s {between} the {other}", True
        yield f"The {noun} {between} the {other}s", False


def by_number():
    """The 40 of `subjects` whose subject is plural, and the other 40: each stands where its own other number does."""
    beginnings = [text for text, _ in subjects()]
    return beginnings[::2], beginnings[1::2]
