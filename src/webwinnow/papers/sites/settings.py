"""`SiteTrialSettings`: the settings of the sites experiment in groups, as `--set` gives them."""

from __future__ import annotations

from dataclasses import dataclass, field

from webwinnow.papers.sites.denoising import RivalSettings
from webwinnow.papers.sites.likelihood import EmSettings
from webwinnow.papers.sites.trials import RuleSettings
from webwinnow.topics.settings import SiteSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteTrialSettings(SiteSettings):
    """Also denoising (4.2), the rules of reading fewer pages that are compared (Figure 11), and EM (Figure 6)."""

    denoising: RivalSettings = field(default_factory=RivalSettings)
    rules: RuleSettings = field(default_factory=RuleSettings)
    em: EmSettings = field(default_factory=EmSettings)
