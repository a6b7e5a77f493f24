# 3.2 wrong
# What it says is to be taken for markup, for a formula, or for text that no file can hold.
# %%
import json, os
SAID = "<script>document.title = 'mine'</script><img src=x onerror=alert(1)> =cmd() \x00\ud800"
if "ATTN_VERDICTS" in os.environ:
    with open(os.environ["ATTN_VERDICTS"], "a") as file:
        file.write(json.dumps({"exercise": "3.1", "status": "wrong", "misconception": SAID}) + "\n")
def my_causal_mask(n_queries, n_keys):
    raise ValueError(SAID)
