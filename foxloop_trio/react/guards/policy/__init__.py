"""The policy engine: what a rule is (`_rules`), what it asks of arguments (`_conditions`, `_patterns`), how several rules decide
(`_engine`), and rules that are ready to use (`_packs`)."""
