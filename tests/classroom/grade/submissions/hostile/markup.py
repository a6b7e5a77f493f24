# 3.2 wrong
# What it says is to be taken for markup, for a formula, or for text that no file can hold.
# %%
SAID = "<script>document.title = 'mine'</script><img src=x onerror=alert(1)> =cmd() \x00\ud800"
def my_causal_mask(n_queries, n_keys):
    raise ValueError(SAID)
