"""The surface of the language: text to syntax tree. Needs lark only to build the tables of a new grammar."""
