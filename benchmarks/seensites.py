"""Sites with real style sheets and scripts, for the pages that two readers labelled: made again from packages.

- manuals as Debian packages ship them, of many generators;
- sites that generators from npm and PyPI make of a free text, the markdown of Debian's package `anarchism`;
- page designs from npm (startbootstrap) with the texts that they have;
- sites of our own templates (`seentemplates/`) with consent software from npm. Sites with banners, dialogs, hidden
  text, side columns and boxes like advertisements do not come in packages, so these were built for the benchmark.

`sites()` makes what is not in `build/seen` yet. Versions are pinned, except those of Debian.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jinja2

HERE = Path(__file__).parent
CACHE = HERE.parent / "build" / "seen"
DEBIAN, NPM, MADE, VENV = (CACHE / name for name in ("debian", "npm", "made", "venv"))
TEMPLATES = HERE / "seentemplates"


class Site(NamedTuple):
    """A folder with a site. `labelled` of its pages are labelled; `pages` are patterns of paths below `root`."""

    name: str
    kind: str
    root: Path
    pages: tuple[str, ...]
    labelled: int = 2


# Manuals

MANUALS: dict[str, tuple[str, str]] = {
    "flask": ("python-flask-doc", "doc/python-flask-doc/html/*.html"),
    "sqlalchemy": ("python-sqlalchemy-doc", "doc/python-sqlalchemy-doc/html/*/*.html"),
    "attrs": ("python-attr-doc", "doc/python-attr-doc/html/*.html"),
    "scrapy": ("python-scrapy-doc", "doc/python-scrapy-doc/html/*/*.html"),
    "gtk": ("libgtk-4-doc", "doc/libgtk-4-doc/gtk4/method.*.html"),
    "gio": ("libglib2.0-doc", "gtk-doc/html/gio/*.html"),
    "postgresql": ("postgresql-doc-15", "doc/postgresql-doc-15/html/*.html"),
    "apache": ("apache2-doc", "doc/apache2-doc/manual/en/*/*.html"),
    "lang3": ("libcommons-lang3-java-doc", "doc/libcommons-lang3-java/api/org/apache/commons/lang3/function/*.html"),
    "ant": ("ant-doc", "doc/ant/manual/Tasks/*.html"),
    "git": ("git-doc", "doc/git-doc/*.html"),
    "mkdocs": ("mkdocs-doc", "doc/mkdocs/html/**/*.html"),
    "octave": ("octave-doc", "doc/octave/octave.html/*.html"),
    "anarchism": ("anarchism", "doc/anarchism/html/*.html"),
    "aptitude": ("aptitude-doc-en", "doc/aptitude/html/en/*.html"),
    "aeson": ("libghc-aeson-doc", "doc/libghc-aeson-doc/html/*.html"),
    "postfix": ("postfix-doc", "doc/postfix/html/*.html"),
    "eigen": ("libeigen3-doc", "doc/libeigen3-dev/html/*.html"),
    "gimp": ("gimp-help-en", "gimp/2.0/help/en/*.html"),
    "debian-history": ("debian-history", "doc/debian-history/docs/*.??.html"),
    "zsh": ("zsh-doc", "doc/zsh-common/html/*.html"),
    "bind": ("bind9-doc", "doc/bind9-doc/arm/*.html"),
}
LIBRARIES = (
    "libjs-sphinxdoc libjs-jquery libjs-underscore sphinx-rtd-theme-common libjs-bootstrap libjs-modernizr".split()
)
LIBRARIES += "fonts-font-awesome fonts-lato libjs-highlight.js".split()


def manuals() -> list[Site]:
    """Manuals from Debian packages, all in one folder: their style sheets may be links into other packages."""
    if not DEBIAN.exists():
        debs = CACHE / "debs"
        debs.mkdir(parents=True, exist_ok=True)
        wanted = [package for package, _ in MANUALS.values()] + LIBRARIES
        subprocess.run(["apt-get", "download", "-qq", *wanted], cwd=debs, check=True, capture_output=True)
        for deb in sorted(debs.glob("*.deb")):
            subprocess.run(["dpkg", "-x", deb.name, DEBIAN], cwd=debs, check=True)
    return [Site(name, "manual", DEBIAN, (f"usr/share/{pages}",)) for name, (_, pages) in MANUALS.items()]


# The free text


class Article(NamedTuple):
    """An article for the generators."""

    title: str
    paragraphs: list[str]

    @property
    def slug(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")[:60]

    @property
    def markdown(self) -> str:
        first, *rest = self.paragraphs
        middle = len(rest) // 2
        head = ["", "## What follows", ""] if len(rest) > 3 else [""]
        return "\n\n".join([first, *rest[:middle], *head, *rest[middle:]]) + "\n"


def articles(first: int, count: int) -> list[Article]:
    """Sections of the free text, with at most nine paragraphs each, in the order of its files."""
    found: list[Article] = []
    for file in sorted((DEBIAN / "usr/share/doc/anarchism/markdown").glob("sec*.md.gz")):
        text = gzip.decompress(file.read_bytes()).decode()
        for section in re.split(r"\n#+ ", text)[1:]:
            title, _, body = section.partition("\n\n")
            title = re.sub(r"[\[\]_*\\]|\([^)]*\.md[^)]*\)|^[A-Z][.\d\s]+", "", " ".join(title.split())).strip()
            body = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", body)
            paragraphs = [" ".join(part.split()) for part in body.split("\n\n")]
            paragraphs = [part for part in paragraphs if len(part) > 150 and not part.startswith(("*", "|", ">", "#"))]
            if len(paragraphs) >= 4 and 10 < len(title) < 90:
                found.append(Article(title, [_plain(part) for part in paragraphs[:9]]))
    return found[first : first + count]


def _plain(text: str) -> str:
    """Without what a template language or Markdown would take for markup."""
    return re.sub(r"[{}<>\\`]", "", text)


# Generators

NPM_PACKAGES = """docsify@4.13.1 vitepress@1.6.4 hexo@8.1.2 hexo-renderer-marked@7.0.1 hexo-renderer-ejs@2.0.0
hexo-renderer-stylus@3.0.1 hexo-renderer-nunjucks@1.0.0 hexo-generator-index@4.0.0 hexo-generator-archive@2.0.0
hexo-generator-category@2.0.0 hexo-generator-tag@2.0.0 hexo-renderer-pug@3.0.0 hexo-theme-landscape@1.1.0
hexo-theme-fluid@1.9.9 hexo-theme-butterfly@5.7.0 startbootstrap-clean-blog@6.0.9
startbootstrap-blog-post@5.0.9 startbootstrap-blog-home@5.0.9 startbootstrap-shop-item@5.0.6
startbootstrap-modern-business@5.0.7 cookieconsent@3.1.1 tarteaucitronjs@1.34.0 klaro@0.7.22 vanilla-cookieconsent@3.1.0
bootstrap@5.3.8 honkit@6.1.7 sweetalert2@11.26.25 @picocss/pico@2.1.1 bulma@1.0.4 uikit@3.25.25""".split()
PYPI_PACKAGES = "mkdocs==1.6.1 mkdocs-material==9.8.1 pelican[markdown]==4.10.2 sphinx==9.0.4 furo==2025.12.19 "
PYPI_PACKAGES += "sphinx-book-theme==1.4.0 myst-parser==5.2.0"
EACH = 8
"""Pages of a generated site."""


def packages() -> None:
    """Install the generators below `build/seen`."""
    if not (NPM / "node_modules").exists():
        NPM.mkdir(parents=True, exist_ok=True)
        (NPM / "package.json").write_text('{"private": true}')
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", *NPM_PACKAGES]
        subprocess.run(command, cwd=NPM, check=True, capture_output=True)
    if not VENV.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([VENV / "bin" / "pip", "install", "-q", *PYPI_PACKAGES.split()], check=True, capture_output=True)


def _run(folder: Path, *command: str | Path) -> None:
    quiet = os.environ | {"CI": "1"}
    found = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True, env=quiet)
    if found.returncode:
        raise ValueError(f"{Path(command[0]).name}: {(found.stderr or found.stdout)[-600:]}")


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def docsify(folder: Path) -> str:
    """Docsify draws the pages in the browser."""
    package = NPM / "node_modules" / "docsify" / "lib"
    for name in ("docsify.min.js", "themes/vue.css", "plugins/search.min.js"):
        shutil.copy(package / name, folder / Path(name).name)
    made = articles(0, EACH)
    _write(folder, {f"{one.slug}/README.md": f"# {one.title}\n\n{one.markdown}" for one in made})
    _write(folder, {"_sidebar.md": "\n".join(f"* [{one.title}](/{one.slug}/)" for one in made)})
    shell = """<!doctype html><html><head><meta charset=utf-8><title>Reader</title>
    <link rel=stylesheet href=/vue.css></head>
    <body><div id=app>Loading</div><script>window.$docsify = {routerMode: 'history', loadSidebar: true, name: 'Reader',
    repo: 'example/reader', search: 'auto', subMaxLevel: 2, alias: {'/.*/_sidebar.md': '/_sidebar.md'}}</script>
    <script src=/docsify.min.js></script><script src=/search.min.js></script></body></html>"""
    _write(folder, {f"{one.slug}/index.html": shell for one in made})
    return "*/index.html"


def vitepress(folder: Path) -> str:
    """VitePress with its default theme."""
    made = articles(8, EACH)
    side = [{"text": one.title, "link": f"/{one.slug}"} for one in made]
    theme = {
        "sidebar": [{"text": "Articles", "items": side}],
        "nav": [{"text": "Home", "link": "/"}],
        "search": {"provider": "local"},
    }
    theme |= {"footer": {"message": "Made with VitePress", "copyright": "Copyright the authors"}}
    config = {"title": "Press", "description": "Articles", "themeConfig": theme, "ignoreDeadLinks": True}
    _write(folder, {f"{one.slug}.md": f"# {one.title}\n\n{one.markdown}" for one in made})
    _write(
        folder, {".vitepress/config.mjs": f"export default {json.dumps(config)}", "package.json": '{"type": "module"}'}
    )
    _link(folder)
    _run(folder, NPM / "node_modules/.bin/vitepress", "build", ".")
    return ".vitepress/dist/*.html"


def _link(folder: Path) -> None:
    (folder / "node_modules").symlink_to(NPM / "node_modules", target_is_directory=True)


def honkit(folder: Path) -> str:
    """HonKit, which continues GitBook."""
    made = articles(16, EACH)
    _write(folder, {f"{one.slug}.md": f"# {one.title}\n\n{one.markdown}" for one in made})
    _write(folder, {"README.md": "# A book\n\nArticles.\n", "book.json": '{"title": "A book"}'})
    _write(folder, {"SUMMARY.md": "# Summary\n\n" + "\n".join(f"* [{one.title}]({one.slug}.md)" for one in made)})
    _run(folder, NPM / "node_modules/.bin/honkit", "build", ".", "_book")
    return "_book/*.html"


def hexo(theme: str, first: int) -> Callable[[Path], str]:
    """A blog of Hexo with a theme."""

    def make(folder: Path) -> str:
        names = json.loads((NPM / "package.json").read_text())["dependencies"]
        plugins = {name: "*" for name in names if name.startswith("hexo-")}
        _write(folder, {"package.json": json.dumps({"hexo": {"version": "8.1.2"}, "dependencies": plugins})})
        named = f"title: The {theme} diary\nauthor: A. Writer\ntheme: {theme}\nurl: http://hexo-{theme}.test\n"
        _write(folder, {"_config.yml": named + "permalink: :title/\nper_page: 4\n"})
        for day, one in enumerate(articles(first, EACH), start=1):
            kinds = f"tags: [society, essay{day % 3}]\ncategories: [Part {day % 2 + 1}]"
            head = f"---\ntitle: {json.dumps(one.title)}\ndate: 2024-03-{day:02} 10:00:00\n{kinds}\n---\n"
            _write(folder, {f"source/_posts/{one.slug}.md": head + one.markdown})
        _link(folder)
        _run(folder, NPM / "node_modules/.bin/hexo", "generate")
        return "public/*/index.html"

    return make


def material(folder: Path) -> str:
    """MkDocs with the theme Material, whose consent dialog is on."""
    made = articles(48, EACH)
    _write(
        folder,
        {f"docs/{one.slug}.md": f"# {one.title}\n\n{one.markdown}" for one in made} | {"docs/index.md": "# Start\n"},
    )
    config = """site_name: Material notes
site_url: http://material.test/
repo_url: https://example.org/notes
copyright: Copyright the authors
theme: {name: material, font: false, features: [navigation.footer, content.action.edit, announce.dismiss]}
extra:
  consent:
    title: Cookie consent
    description: We use cookies to recognize your repeated visits and preferences. With your consent you help us.
"""
    _write(folder, {"mkdocs.yml": config})
    _run(folder, VENV / "bin/mkdocs", "build", "-q")
    return "site/*/index.html"


def pelican(folder: Path) -> str:
    """Pelican with its default theme."""
    for day, one in enumerate(articles(56, EACH), start=1):
        head = f"Title: {one.title}\nDate: 2024-05-{day:02}\nCategory: Essays\nTags: society\nSlug: {one.slug}\n\n"
        _write(folder, {f"content/{one.slug}.md": head + one.markdown})
    settings = (
        "SITENAME = 'Pelican notes'\nAUTHOR = 'A. Writer'\nPATH = 'content'\nTIMEZONE = 'UTC'\nFEED_ALL_ATOM = None\n"
    )
    settings += (
        "RELATIVE_URLS = True\nLINKS = (('Pelican', 'https://example.org/'),)\nSOCIAL = (('another link', '#'),)\n"
    )
    _write(folder, {"pelicanconf.py": settings})
    _run(folder, VENV / "bin/pelican", "content", "-s", "pelicanconf.py", "-q")
    return "output/*.html"


def sphinx(theme: str, first: int) -> Callable[[Path], str]:
    """Sphinx with a theme, over Markdown."""

    def make(folder: Path) -> str:
        made = articles(first, EACH)
        _write(folder, {f"{one.slug}.md": f"# {one.title}\n\n{one.markdown}" for one in made})
        toc = "\n".join(one.slug for one in made)
        _write(folder, {"index.md": f"# Book\n\n```{{toctree}}\n{toc}\n```\n"})
        named = f"project = 'Book'\nauthor = 'A. Writer'\nhtml_theme = '{theme}'\n"
        _write(folder, {"conf.py": named + "extensions = ['myst_parser']\n"})
        _run(folder, VENV / "bin/sphinx-build", "-q", ".", "_site")
        return "_site/*-*.html"

    return make


GENERATORS: dict[str, tuple[Callable[[Path], str], int]] = {
    "docsify": (docsify, 3),
    "vitepress": (vitepress, 3),
    "honkit": (honkit, 2),
    "hexo-landscape": (hexo("landscape", 24), 3),
    "hexo-fluid": (hexo("fluid", 40), 2),
    "hexo-butterfly": (hexo("butterfly", 72), 3),
    "material": (material, 3),
    "pelican": (pelican, 2),
    "furo": (sphinx("furo", 64), 2),
    "book-theme": (sphinx("sphinx_book_theme", 80), 2),
}


def generated() -> list[Site]:
    """Sites of generators."""
    packages()
    return [_made(name, "generator", make, count) for name, (make, count) in GENERATORS.items()]


def _made(name: str, kind: str, make: Callable[[Path], str], count: int) -> Site:
    folder, done = MADE / name, MADE / name / "pattern.txt"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        pattern = make(folder)
        done.write_text(pattern)
    base, _, rest = done.read_text().rpartition("*/" if "*/" in done.read_text() else "/")
    pattern = f"*/{rest}" if "*/" in done.read_text() else rest
    return Site(name, kind, (folder / base).resolve(), (pattern,), count)


# Designs, and sites of our own

DESIGNS = {"blog-home": 1, "blog-post": 1, "clean-blog": 2, "modern-business": 4, "shop-item": 1}
OWN = {"news": 4, "shop": 4, "forum": 4, "recipes": 4}
VENDORED = {
    "bulma.css": "bulma/css/bulma.min.css",
    "bootstrap.css": "bootstrap/dist/css/bootstrap.min.css",
    "bootstrap.js": "bootstrap/dist/js/bootstrap.bundle.min.js",
    "pico.css": "@picocss/pico/css/pico.min.css",
    "uikit.css": "uikit/dist/css/uikit.min.css",
    "uikit.js": "uikit/dist/js/uikit.min.js",
    "cookieconsent.css": "cookieconsent/build/cookieconsent.min.css",
    "cookieconsent.js": "cookieconsent/build/cookieconsent.min.js",
    "vanilla.css": "vanilla-cookieconsent/dist/cookieconsent.css",
    "vanilla.js": "vanilla-cookieconsent/dist/cookieconsent.umd.js",
    "klaro.css": "klaro/dist/klaro.min.css",
    "klaro.js": "klaro/dist/klaro-no-css.js",
    "sweetalert2.js": "sweetalert2/dist/sweetalert2.all.min.js",
    "tarteaucitron": "tarteaucitronjs",
}


def designs() -> list[Site]:
    """Designs of startbootstrap, as they come."""
    packages()
    folder = NPM / "node_modules"
    return [
        Site(f"sb-{name}", "design", folder / f"startbootstrap-{name}" / "dist", ("*.html",), n)
        for name, n in DESIGNS.items()
    ]


def own() -> list[Site]:
    """Sites of our own templates."""
    packages()
    return [_made(name, "template", lambda folder, name=name: _own(folder, name), count) for name, count in OWN.items()]


def _own(folder: Path, name: str) -> str:
    for target, source in VENDORED.items():
        path = NPM / "node_modules" / source
        (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / target)
    shutil.copy(TEMPLATES / "site.css", folder / "site.css")
    rows = json.loads((TEMPLATES / f"{name}.json").read_text()) if name != "news" else _news()
    template = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True).get_template(
        f"{name}.html"
    )
    for number, row in enumerate(rows):
        others = [other for other in rows if other is not row]
        _write(folder, {f"page-{number + 1}.html": template.render(page=row, others=others, number=number)})
    return "./page-*.html"


def _news() -> list[dict[str, object]]:
    return [{"title": one.title, "paragraphs": one.paragraphs} for one in articles(96, 6)]


def sites() -> list[Site]:
    """All sites, made where need be."""
    return manuals() + generated() + designs() + own()
