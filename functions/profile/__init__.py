"""A vendor's product as one file: options, expressions, layers. Pure: a Profile and a config in, fields out."""
