# 5.1 correct; 5.2 correct
# %%
def my_to_key_padding_mask(lengths, max_len):
    return torch.arange(max_len) >= lengths[:, None]
# %%
@torch.no_grad()
def my_load_from_torch(ours, theirs):
    names = "q_proj", "k_proj", "v_proj"
    if theirs.in_proj_weight is None:
        stacked = [getattr(theirs, f"{name}_weight") for name in names]
    else:
        stacked = theirs.in_proj_weight.chunk(3)
    for name, weight in zip(names, stacked):
        getattr(ours, name).weight.copy_(weight)
    if theirs.in_proj_bias is not None:
        for name, bias in zip(names, theirs.in_proj_bias.chunk(3)):
            getattr(ours, name).bias.copy_(bias)
    ours.out_proj.load_state_dict(theirs.out_proj.state_dict())
