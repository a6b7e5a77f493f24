# 3.2 correct
# The function has another name, and the hand-in's own check says which.
# %%
def triangle(rows, columns):
    return torch.ones(rows, columns, dtype=torch.bool).tril(columns - rows)
# %%
check("3.2", triangle)
