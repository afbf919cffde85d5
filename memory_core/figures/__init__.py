"""Pictures of a memory: plain data in, pyvis networks, plotly figures and arrays out."""
