# 5.2 wrong shared
# %%
def my_load_from_torch(ours, theirs):
    names = "q_proj", "k_proj", "v_proj"
    stacked = theirs.in_proj_weight.data.chunk(3) if theirs.in_proj_weight is not None else [
        getattr(theirs, f"{name}_weight").data for name in names]
    for name, weight in zip(names, stacked):
        getattr(ours, name).weight.data = weight
    if theirs.in_proj_bias is not None:
        for name, bias in zip(names, theirs.in_proj_bias.data.chunk(3)):
            getattr(ours, name).bias.data = bias
    ours.out_proj.weight.data = theirs.out_proj.weight.data
    if theirs.out_proj.bias is not None:
        ours.out_proj.bias.data = theirs.out_proj.bias.data
