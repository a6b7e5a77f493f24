"""Sphinx settings of the web site; authors/site.py lays out what they are applied to."""

from docutils.nodes import SkipNode

from authors.markdown import mathml

project = "Learn attention by moving its numbers"
author = "the course's authors"
html_title = "Attention"
language = "en"

extensions = ["myst_nb"]
nb_execution_mode = "off"  # the outputs are those saved in the notebooks, which the tests keep true
nb_ipywidgets_js = {}
nb_render_image_options = {"loading": "lazy"}
myst_enable_extensions = ["dollarmath", "attrs_inline"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header", "mystnb.unknown_mime_type"]

exclude_patterns = ["downloads"]  # to be downloaded, not to be read

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("boards.js", {"defer": "defer"}), "site.js"]
html_copy_source = False
html_show_sphinx = False
html_use_index = False
html_math_renderer = "mathml"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_theme_options = {"navigation_with_keys": False}  # arrow keys belong to the boards


def setup(app):
    """Formulas without a script: <math>, which every browser draws."""

    def inline(writer, node):
        writer.body.append(mathml(node.astext()))
        raise SkipNode

    def block(writer, node):
        writer.body.append(f"<div>{mathml(node.astext(), display=True)}</div>")
        raise SkipNode

    app.add_html_math_renderer("mathml", (inline, None), (block, None))
