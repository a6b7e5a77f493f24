"""Log-ins of an institution beside the hub's own passwords, where the hub's folder has a login.yaml:

- name: the university            # the button says: Log in with the university
  class: generic-oauth            # any of oauthenticator's (github, google, azuread, …), or lti13: a learning platform
  settings: {client_id: …, …}     # as that authenticator's documentation names them

Whoever logs in so is a student by the id that the institution gives, an e-mail address in most, and only if the roster
has it. The work is done by authenticators that others maintain: oauthenticator, ltiauthenticator, and
multiauthenticator, which joins them.
"""

import yaml
from jupyterhub.utils import url_path_join
from multiauthenticator.multiauthenticator import MultiAuthenticator, _load_authenticator

from .roster import STATE, people, plain

FILE = STATE / "login.yaml"
LTI = "lti13", "ltiauthenticator.lti13.auth.LTI13Authenticator"  # which has no short name of its own


class LogIns(MultiAuthenticator):
    """The hub's own passwords, and a button for each institution; a learning platform logs in by itself."""

    username_prefix = ""  # an id is the same person whichever way they come

    def get_custom_html(self, base_url):
        """The buttons of the log-in page, the institutions' first; a template of JupyterHub's, as HTML."""
        buttons = [
            f'<p><a role="button" class="btn btn-jupyter btn-lg" href="{one.login_url(base_url)}'
            f'{{% if next %}}?next={{{{ next | urlencode }}}}{{% endif %}}">Log in with {one.button}</a></p>'
            for one in (*self._authenticators[1:], self._authenticators[0])
            if one.button
        ]
        return f'<div class="service-login">{"".join(buttons)}</div>'


def only_the_roster(kind, name, prefix):
    """An authenticator that lets in whoever is on the roster now and nobody else, its pages below a prefix."""

    class OnTheRoster(kind):
        button = name

        def __init__(self, *, parent, **settings):  # NativeAuthenticator keeps its accounts in the hub's own database
            settings |= {"allow_all": False, "allow_existing_users": False}  # either would go before the roster
            super().__init__(parent=parent, _deprecated_db_session=parent._deprecated_db_session, **settings)

        def normalize_username(self, username):
            return plain(username)

        def check_allowed(self, username, authentication=None):
            return plain(username) in {person["id"] for person in people()}

        def get_handlers(self, app):  # MultiAuthenticator puts the prefix before all, also where it is already
            pages = super().get_handlers(app)
            return [("/" + path.lstrip("/").removeprefix(prefix[1:]).lstrip("/"), handler) for path, handler in pages]

        def callback_url(self, base_url):  # of LTI
            return super().callback_url(url_path_join(base_url, prefix))

        def get_callback_url(self, handler=None):  # of OAuth, which would guess one without the prefix
            if self.oauth_callback_url or not handler:
                return super().get_callback_url(handler)
            request, path = handler.request, url_path_join(handler.hub.server.base_url, prefix, "oauth_callback")
            return f"{request.protocol}://{request.host}{path}"

    return OnTheRoster


def authenticators(native):
    """MultiAuthenticator's setting: passwords first, then the log-ins of login.yaml, at /hub/log-in-1 and so on."""
    rows = [{"kind": native, "button": "a password", "prefix": "/native", "settings": {}}]
    for place, row in enumerate(yaml.safe_load(FILE.read_text(encoding="utf-8")), start=1):
        is_lti = row["class"] in LTI
        kind = _load_authenticator(LTI[1] if is_lti else row["class"])
        button = "" if is_lti else row["name"]
        rows.append({"kind": kind, "button": button, "prefix": f"/log-in-{place}", "settings": row["settings"]})
    return [
        {
            "authenticator_class": only_the_roster(row["kind"], row["button"], row["prefix"]),
            "url_prefix": row["prefix"],
            "config": row["settings"],
        }
        for row in rows
    ]
