"""Commands of the program beside those that the SDK brings: rules, schema, crd, resolve."""
