"""What a page declares about itself: title, author, date, language, site name, description.

Each field tries its sources in a fixed order: JSON-LD, metas (Open Graph, Dublin Core, citation, parsely), microdata
and `rel=author` in the body, then the text where a byline usually is. No rule is specific to a site.
"""

from webwinnow.pagemeta.fields import Metadata, metadata
from webwinnow.pagemeta.hints import Hints, name_key, page_names

__all__ = ["Hints", "Metadata", "metadata", "name_key", "page_names"]
