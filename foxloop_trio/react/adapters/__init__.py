"""What the facade takes from elsewhere, one module each: tools behind the gate (`_gate`), tools of an MCP server (`_mcp`), and any
planner as a model (`_planner`). The facade itself needs none of them."""
