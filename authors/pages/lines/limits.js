// Where a line in a page differs from one in a notebook: all of it, in one place. What a line could tell apart by any
// of it is "cannot be tried here", and never wrong.

export const KINDS = ["bool", "int64", "float32", "float64"]; // of numbers; half precision and other integers: not here
export const LARGEST_WHOLE = Number.MAX_SAFE_INTEGER; // whole numbers of PyTorch go on to 2^63
export const MOST_NUMBERS = 2_000_000; // of one tensor
export const MOST_STEPS = 30_000_000; // products and sums of one line: under a second on a slow phone
export const MOST_CALLS = 20_000; // of what Python does itself
export const DEEPEST = 40; // calls inside each other
// Sums are added up in double precision and rounded once, PyTorch's in float32 in an order of its own. So a line is
// worked out twice, the other time as a slow float32 would; where both differ by more than this part of what is allowed,
// or a difference is nearly as large as is allowed (between these parts of it), nothing is said of right and wrong.
export const UNSURE = 1;
export const CLOSE_CALL = [0.5, 2];
// A view is one as in PyTorch, and `view` refuses what it refuses. A line writes in place into what it has made itself,
// not into what the notebook goes on with. How the result of an operation on a turned tensor lies in memory is not known
// here, so `view` of one is not tried, and nothing is written into one that was reshaped.
// The numbers of a tensor with hundreds of them are recorded to a tenth of what is allowed, or to what is allowed where
// the answers are worked out from the same numbers; more coarsely where an answer adds many up to one number.
