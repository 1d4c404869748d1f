"""An exported page taken apart by a parser that is not ours: elements, texts, addresses, style and script.

Who calls: tests/web/. What may not come in: assertions.
"""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br", "img"}
ADDRESSES = {
    "href",
    "src",
    "srcset",
    "action",
    "formaction",
    "poster",
    "data",
    "background",
    "ping",
    "xlink:href",
    "cite",
}


class Read(HTMLParser):
    """What a page consists of.

    Attributes:
        tags: every element's name. addresses: every attribute that can make a browser ask for something. attributes: name → values.
        text: what a reader sees, by id of the panel around it. style, script: their contents, exactly.
    """

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.attributes: dict[str, list[str]] = {}
        self.text: dict[str, str] = {}
        self.style = self.script = self.policy = ""
        self.depth: list[str] = []
        self._panel: list[tuple[int, str]] = [(0, "")]
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = {name: value or "" for name, value in attrs}
        for name, value in given.items():
            self.attributes.setdefault(name, []).append(value)
            if name in ADDRESSES:
                self.addresses.append(value)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        if tag not in VOID:
            self.depth.append(tag)
            if tag == "section" and "panel" in given.get("class", ""):
                self._panel.append((len(self.depth), given["id"]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.depth and self.depth[-1] == tag, (tag, self.depth[-3:])
        self.depth.pop()
        if len(self.depth) < self._panel[-1][0]:
            self._panel.pop()

    def handle_data(self, data: str) -> None:
        if self.depth and self.depth[-1] == "style":
            self.style += data
        elif self.depth and self.depth[-1] == "script":
            self.script += data
        else:
            name = self._panel[-1][1]
            self.text[name] = self.text.get(name, "") + data
