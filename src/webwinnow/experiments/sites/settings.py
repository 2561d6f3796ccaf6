"""`SiteTrialSettings`: the settings of the sites experiment in groups, as `--set` gives them."""

from __future__ import annotations

from dataclasses import dataclass, field

from webwinnow.experiments.sites.likelihood import EmSettings
from webwinnow.experiments.sites.sitetrials import RuleSettings
from webwinnow.sitemining.denoising import RivalSettings
from webwinnow.sitemining.settings import SiteSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteTrialSettings(SiteSettings):
    """Also denoising (4.2), the rules of reading fewer pages that are compared (Figure 11), and EM (Figure 6)."""

    denoising: RivalSettings = field(default_factory=RivalSettings)
    rules: RuleSettings = field(default_factory=RuleSettings)
    em: EmSettings = field(default_factory=EmSettings)
