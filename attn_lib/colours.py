"""One colour for each thing, in prose, diagrams, heatmaps and boards alike; each ≥ 4.5:1 on white."""

COLOURS = {
    "input": "#475569",
    "query": "#B0125B",
    "key": "#A34700",
    "value": "#6D3FC0",
    "weights": "#1F5FBF",
    "output": "#146C3A",
}
