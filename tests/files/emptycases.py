"""Pages without main content as common software makes them, and pages that only look like them."""

from __future__ import annotations

_MENU = "".join(
    f"<li><a href='/{k}'>{name}</a></li>"
    for k, name in enumerate("Home News Sport Business Culture Travel Weather Video Audio Shop Jobs Help".split())
)
_ABOUT = "".join(
    f"<li><a href='/about/{k}'>{name} information</a></li>"
    for k, name in enumerate("Company Contact Terms Privacy Cookies Imprint Careers Press".split())
)


def framed(title: str, inside: str, language: str = "en") -> str:
    """A page with the menu and the footer of a site."""
    return (
        f"<!doctype html><html lang={language}><head><title>{title}</title></head><body>"
        f"<header><nav><ul>{_MENU}</ul></nav></header><main>{inside}</main>"
        f"<footer><ul>{_ABOUT}</ul><p>© 2024 Example Ltd. All rights reserved.</p></footer></body></html>"
    )


def bare(title: str, inside: str) -> str:
    """A page of a server, without a site around it."""
    return f"<html><head><title>{title}</title></head><body>{inside}</body></html>"


_FORM = (
    "<form method=post><label>E-mail</label><input type=email name=e><label>Password</label>"
    "<input type=password name=p><label><input type=checkbox> Remember me</label><button>Log in</button></form>"
    "<p><a href=/forgot>Forgot your password?</a> New here? <a href=/new>Create an account</a></p>"
)
_GONE = "<p>Sorry, we can't find the page you are looking for. It may have been moved or deleted.</p>"

EMPTY: dict[str, tuple[str, str]] = {
    "nginx 404": (bare("404 Not Found", "<center><h1>404 Not Found</h1></center><hr><center>nginx</center>"), "error"),
    "Apache 403": (
        bare("403 Forbidden", "<h1>Forbidden</h1><p>You don't have permission to access this resource.</p><hr>"),
        "error",
    ),
    "503": (
        bare(
            "503 Service Temporarily Unavailable",
            "<h1>Service Temporarily Unavailable</h1><p>The server is temporarily unable to service your request due "
            "to maintenance downtime or capacity problems. Please try again later.</p>",
        ),
        "error",
    ),
    "500": (
        bare("Internal Server Error", "<h1>Internal Server Error</h1><p>Please contact the operator.</p>"),
        "error",
    ),
    "404 of a site": (framed("404 - Page not found | Example", f"<h1>404 - Page not found</h1>{_GONE}"), "error"),
    "404 of a blog": (
        framed("Page not found – My blog", "<h1>Oops! That page can’t be found.</h1><p>Try a search?</p>"),
        "error",
    ),
    "404 named in the heading": (framed("Example", f"<h1>Page not found</h1>{_GONE}"), "error"),
    "404 in German": (
        framed(
            "Seite nicht gefunden - Beispiel", "<h1>Seite nicht gefunden</h1><p>Diese Seite gibt es nicht.</p>", "de"
        ),
        "error",
    ),
    "404 in French": (
        framed("Page introuvable | Exemple", "<h1>Page introuvable</h1><p>Cette page n’existe plus.</p>", "fr"),
        "error",
    ),
    "404 in Spanish": (
        framed("Página no encontrada", "<h1>Página no encontrada</h1><p>La página que busca no existe.</p>", "es"),
        "error",
    ),
    "404 in Chinese": (
        framed("404", "<h1>页面不存在</h1><p>抱歉，您访问的页面不存在或已被删除。</p>", "zh"),
        "error",
    ),
    "404 in Japanese": (
        framed(
            "ページが見つかりません",
            "<h1>ページが見つかりません</h1><p>お探しのページは見つかりませんでした。</p>",
            "ja",
        ),
        "error",
    ),
    "maintenance": (bare("Under maintenance", "<h1>Under maintenance</h1><p>We will be back soon.</p>"), "error"),
    "login": (framed("Log in | Example", f"<h1>Log in</h1>{_FORM}"), "login"),
    "login of a blog": (bare("Log In ‹ My blog — WordPress", f"<h1>My blog</h1>{_FORM}"), "login"),
    "login in German": (framed("Anmelden", f"<h1>Anmelden</h1>{_FORM}", "de"), "login"),
    "login in Chinese": (framed("用户登录", f"<h1>用户登录</h1>{_FORM}", "zh"), "login"),
    "login by other sites": (
        framed(
            "Log in to continue",
            "<h1>Log in to continue</h1><a href=/google>Go on with Google</a> <a href=/apple>Go on with Apple</a>",
        ),
        "login",
    ),
    "bot check before a site": (
        bare(
            "Just a moment...",
            "<h1>example.com</h1><h2>Checking if the site connection is secure</h2><p>example.com needs to review the "
            "security of your connection before proceeding.</p><noscript>Enable JavaScript and cookies to continue"
            "</noscript><div>Ray ID: 7abc</div>",
        ),
        "bot",
    ),
    "captcha": (
        bare(
            "Access to this page has been denied",
            "<h1>Access to this page has been denied</h1><p>As you were browsing, something about your browser made us "
            "think you were a bot.</p><p>Please complete the captcha below.</p>",
        ),
        "bot",
    ),
    "access denied": (bare("Access Denied", "<h1>Access Denied</h1><p>Reference #18.2d351ab8</p>"), "bot"),
    "are you a robot": (
        framed("Are you a robot?", "<h1>Are you a robot?</h1><p>We have detected unusual traffic.</p>"),
        "bot",
    ),
    "shell": (
        bare("App", "<div id=root></div><noscript>You need to enable JavaScript to run this app.</noscript>"),
        "shell",
    ),
    "shell of another kind": (
        bare(
            "Dashboard",
            "<noscript><strong>We're sorry but this dashboard doesn't work properly without JavaScript enabled. Please "
            "enable it to continue.</strong></noscript><div id=app></div>",
        ),
        "shell",
    ),
}
"""Pages by name, each with its case."""

_PROSE = (
    "<p>The mill on the upper river was rebuilt three times. Each time the millers kept the old wheel, because nobody "
    "in the valley could carve another one from a single oak, and each time the village paid with flour.</p>"
    "<p>When the flood of 1817 took the bridge as well, the council met in the barn for a week. The minutes of these "
    "meetings are the oldest papers that the parish still owns, and they list every plank that was bought.</p>"
)
FULL: dict[str, str] = {
    "article about an error": framed("404 Not Found: the history of a message", f"<h1>404 Not Found</h1>{_PROSE}"),
    "article named Error": framed("Error", f"<h1>Error</h1>{_PROSE}"),
    "article beside a login form": framed("The old mill | Log in", f"{_FORM}<h1>The old mill</h1>{_PROSE}"),
    "article that asks for scripts": framed(
        "The old mill", f"<noscript>Please enable JavaScript.</noscript><h1>The old mill</h1>{_PROSE}"
    ),
    "short note": framed(
        "Closed on Monday", "<h1>Closed on Monday</h1><p>The library is closed on Monday for repairs.</p>"
    ),
    "short product": framed(
        "Model 404 lamp", "<h1>Model 404 lamp</h1><p>A brass lamp with a green shade.</p><p>Price: 49.00</p>"
    ),
    "short question": framed(
        "Login fails", "<h1>Login fails</h1><p>My login fails since the update. What can I do?</p>"
    ),
}
"""Pages with main content that resemble such pages."""
