# 3.2 wrong
# Names, code and messages are text, wherever they are shown.
# %%
def my_causal_mask(n_queries, n_keys):
    raise ValueError("<script>document.title = 'mine'</script><img src=x onerror=alert(1)> =cmd() \x00\ud800")
