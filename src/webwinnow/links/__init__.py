"""The link graph of a crawl without the links of menus and advertisements, and ranks of its pages."""
