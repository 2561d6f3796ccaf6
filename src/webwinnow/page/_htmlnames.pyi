NAMES: list[str]
