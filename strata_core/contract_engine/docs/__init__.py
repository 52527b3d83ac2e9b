"""Documentation of products, for people and for agents (Seed 2, step 7): one content, written as HTML and Markdown.

`documented` gathers what is known of each product, `content` says it in blocks, `html` and `markdown` write blocks,
`site` lays the files out.
"""
