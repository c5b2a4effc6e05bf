"""The report's pages in headless Chromium, offline, at two widths. Exit code 77: no browser here.

usage: in_browser.py WRITE_REPORTS FOLDER    leaves the pages and pictures of them in FOLDER
"""
import os
import subprocess
import sys

import browser

SKIPPED = 77
DATA = "JSON.parse(document.getElementById('data').textContent)"
ROWS = "[...document.querySelectorAll('#ops-table tbody th')].map(cell => cell.textContent)"
# Drawn by Vega, and what it must at least hold.
CHARTS = {"roofline": ".mark-symbol path", "modules": ".mark-rect path", "memory": ".mark-area path",
          "classes": ".mark-rect path"}


class Page:
    def __init__(self, page):
        self.browser = page
        self.failures = []

    def expect(self, what, found, wanted):
        if found != wanted:
            self.failures.append(f"{what}: {found!r}, expected {wanted!r}")

    def value(self, expression):
        return self.browser.value(expression)

    def check_charts(self):
        ops = self.value(f"{DATA}.ops")
        wanted = {"roofline": sum(op["flops"] > 0 and op["bytes"] > 0 for op in ops),
                  "classes": len({op["bottleneck"] for op in ops}), "memory": 1}
        for name, marks in CHARTS.items():
            found = self.value(f"document.querySelectorAll('#{name} .role-mark{marks}').length")
            if name in wanted:
                self.expect(f"marks of {name}", found, wanted[name])
            else:
                self.expect(f"{name} has marks", found > 20, True)

    def check_width(self, width):
        self.expect(f"width of the page at {width}",
                    self.value("document.documentElement.scrollWidth") <= width, True)
        self.expect("charts stay inside", self.value(
            "[...document.querySelectorAll('figure svg')].every(svg => "
            "svg.getBoundingClientRect().right <= innerWidth)"), True)

    def header(self, label):
        return ("[...document.querySelectorAll('#ops-table thead button')]"
                f".find(button => button.textContent === '{label}')")

    def check_sorting(self):
        ops = self.value(f"{DATA}.ops")
        slowest = sorted(ops, key=lambda op: -op["seconds"]["median"])
        self.expect("slowest first", self.value(ROWS)[0], slowest[0]["op"])
        largest = max(op["bytes"] for op in ops)
        smallest = min(op["bytes"] for op in ops)
        self.value(f"{self.header('bytes')}.focus()")
        for direction, bound in (("descending", largest), ("ascending", smallest)):
            self.browser.key("Enter", 13)
            first = self.value(ROWS)[0]
            self.expect(f"bytes {direction}",
                        next(op["bytes"] for op in ops if op["op"] == first), bound)
            self.expect("aria-sort", self.value(
                f"{self.header('bytes')}.closest('th').getAttribute('aria-sort')"), direction)
        self.value(f"{self.header('op')}.click()")
        names = self.value(ROWS)
        self.expect("rows stay", sorted(names), sorted(op["op"] for op in ops))
        self.expect("by name", (names[0], names[-1]), (
            self.value(f"{ROWS}.sort((a, b) => a.localeCompare(b, 'en', {{numeric: true}}))[0]"),
            self.value(f"{ROWS}.sort((a, b) => b.localeCompare(a, 'en', {{numeric: true}}))[0]")))

    def check_filters(self):
        ops = self.value(f"{DATA}.ops")
        self.value("document.getElementById('filter-text').focus()")
        self.browser.type("Middle_Block")
        middle = [op["op"] for op in ops if "middle_block" in op["op"]]
        self.expect("filter by text", sorted(self.value(ROWS)), sorted(middle))
        self.expect("count", self.value("document.getElementById('filter-count').textContent"),
                    f"{len(middle)} of {len(ops)} ops")
        self.value("{const s = document.getElementById('filter-class'); s.value = 'overhead';"
                   "s.dispatchEvent(new Event('change'))}")
        both = [op["op"] for op in ops
                if "middle_block" in op["op"] and op["bottleneck"] == "overhead"]
        self.expect("filter by class, too", sorted(self.value(ROWS)), sorted(both))
        self.browser.type("no such op")
        self.expect("nothing left", self.value(ROWS), [])
        self.value("document.getElementById('filter-clear').click()")
        self.expect("all again", len(self.value(ROWS)), len(ops))

    def check_hover_and_selection(self):
        self.value("document.getElementById('roofline').scrollIntoView({block: 'center'})")
        box = self.value(
            "(() => { const b = [...document.querySelectorAll('#roofline .role-mark.mark-symbol path')]"
            ".at(-1).getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        self.browser.mouse("mouseMoved", *box)
        self.browser.wait_for("!document.getElementById('tooltip').hidden")
        name = self.value("document.querySelector('#tooltip strong').textContent")
        self.expect("tooltip names an op", self.value(f"{ROWS}.includes({name!r})"), True)
        facts = self.value("document.querySelector('#tooltip dl').textContent")
        for fact in ("class", "time", "intensity", "attained"):
            self.expect(f"tooltip has {fact}", fact in facts, True)
        self.browser.mouse("mousePressed", *box)
        self.browser.mouse("mouseReleased", *box)
        self.browser.wait_for("document.getElementById('filter-text').value !== ''")
        self.expect("the point's row", self.value(ROWS)[0], name)
        self.value("document.getElementById('filter-clear').click()")

    def check_theme(self, dark):
        back = "getComputedStyle(document.body).backgroundColor"
        before = self.value(back)
        self.expect("follows the system", self.value("document.documentElement.dataset.theme"),
                    "dark" if dark else "light")
        self.value("document.getElementById('theme').click()")
        self.expect("the button changes it", self.value(back) != before, True)
        self.value("document.getElementById('theme').click()")
        self.expect("and changes it back", self.value(back), before)


def check_sample(page, folder, width, dark):
    page.browser.open(os.path.join(folder, "sample.html"), width, dark=dark)
    page.check_charts()
    page.check_width(width)
    page.check_sorting()
    page.check_filters()
    page.check_hover_and_selection()
    page.check_theme(dark)
    page.expect("problems", page.browser.problems(), [])
    page.browser.open(os.path.join(folder, "sample.html"), width, dark=dark)
    page.browser.screenshot(os.path.join(folder, f"{width}-{'dark' if dark else 'light'}.png"))


# A page whose texts are markup; `model` is one of them.
def check_hostile(page, folder, name, model):
    page.browser.open(os.path.join(folder, name), 400)
    page.expect("the text is hostile", "onerror" in page.value(model), True)
    page.expect("nothing ran", "harmed" == page.value("document.title"), False)
    page.expect("no element came of it", page.value("document.images.length"), 0)
    page.check_width(400)
    page.expect("problems", page.browser.problems(), [])


# A page of nothing: each of its charts says so.
def check_empty(page, folder, name, charts):
    page.browser.open(os.path.join(folder, name), 400)
    page.expect("charts say why not", page.value("document.querySelectorAll('figure .note').length"), charts)
    page.expect("no number is none", page.value("/NaN|Infinity|undefined|null/.test("
                                                "document.querySelector('main').textContent)"), False)
    page.check_width(400)
    page.expect("problems", page.browser.problems(), [])


def check_other_profiles(page, folder):
    check_hostile(page, folder, "hostile.html", f"{DATA}.model")
    page.expect("shown as it is", page.value("document.querySelector('#sentences p:last-child').textContent"),
                page.value(f"{DATA}.model"))
    check_empty(page, folder, "empty.html", 4)


def check_compare(page, folder, width, dark):
    page.browser.open(os.path.join(folder, "compare.html"), width, dark=dark)
    differences = page.value(f"{DATA}.differences")
    page.expect("the difference comes first", page.value(
        "document.querySelector('#sentences p').textContent"), differences[0]["sentences"][0])
    groups = {(g["level"], g["kind"]): g for d in reversed(differences) for g in d["groups"]}
    bars = page.value("document.querySelectorAll('#groups .mark-rect.role-mark path').length")
    page.expect("a bar for each profile of a group", 2 * min(12, len(groups)) <= bars <= 3 * 12, True)
    page.expect("bars of classes", page.value(
        "document.querySelectorAll('#classes .mark-rect.role-mark path').length"),
        sum(len(d["classes"]) for d in differences))
    page.expect("figures that differ", page.value(
        "document.querySelectorAll('#figures-table tbody th').length"),
        sum(f["base"] != f["other"] for d in differences for f in d["figures"]))
    for table, key in (("groups-table", "groups"), ("ops-table", "ops")):
        page.expect(f"rows of {table}", page.value(
            f"document.querySelectorAll('#{table} tbody th').length"),
            sum(len(d[key]) for d in differences))
    page.check_width(width)
    page.check_theme(dark)
    page.expect("problems", page.browser.problems(), [])
    page.browser.screenshot(os.path.join(folder, f"compare-{width}-{'dark' if dark else 'light'}.png"))


def check_other_comparisons(page, folder):
    check_hostile(page, folder, "compare-hostile.html", f"{DATA}.profiles[1].model")
    check_empty(page, folder, "compare-empty.html", 2)
    page.browser.open(os.path.join(folder, "plans.html"), 1280)
    page.expect("no charts of plans", page.value("document.querySelectorAll('figure svg').length"), 0)
    page.expect("an op that a plan leaves open", page.value(
        "document.querySelector('#ops-table tbody tr td:last-child').textContent"), "no entry")
    page.check_width(1280)
    page.expect("problems", page.browser.problems(), [])
    page.browser.screenshot(os.path.join(folder, "plans.png"))


VARIANTS = "[...document.querySelectorAll('#variants-table tbody th')].map(cell => cell.textContent)"


def check_study(page, folder, width, dark):
    page.browser.open(os.path.join(folder, "study.html"), width, dark=dark)
    study = page.value(DATA)
    measured = [v for v in study["variants"] if "absent" not in v]
    page.expect("findings first", page.value(
        "[...document.querySelectorAll('#sentences p')].map(p => p.textContent)"),
        [finding.replace(" %", "\u00a0%") for finding in study["findings"]])
    page.expect("three parts a bar", page.value(
        "document.querySelectorAll('#times .role-mark.bars path').length"), 3 * len(measured))
    chart = page.value("document.getElementById('times').textContent")
    for part in ("no bf16 unit on this machine", "3.2e-7", "0.999999", "2.00\u00a0s"):
        page.expect(f"the chart says {part}", part in chart, True)
    page.expect("a warning of a variant", page.value(
        "document.querySelector('.warning:last-child').textContent"),
        "channels-first: other work slows this machine down")
    names = [v["name"] for v in study["variants"]]
    page.expect("variants in their order", page.value(VARIANTS), names)
    page.value("[...document.querySelectorAll('#variants-table thead button')]"
               ".find(button => button.textContent === 'step').click()")
    by_time = sorted(measured, key=lambda v: -v["seconds"]["median"])
    page.expect("slowest first, absent last", page.value(VARIANTS),
                [v["name"] for v in by_time] + [n for n in names if n not in [v["name"] for v in measured]])
    page.check_width(width)
    page.check_theme(dark)
    page.expect("problems", page.browser.problems(), [])
    page.browser.screenshot(os.path.join(folder, f"study-{width}-{'dark' if dark else 'light'}.png"))


def check_other_studies(page, folder):
    check_hostile(page, folder, "study-hostile.html", f"{DATA}.model")
    check_empty(page, folder, "study-empty.html", 1)


def check_that_problems_are_seen(page, folder):
    """Otherwise none of the above would mean anything."""
    page.browser.open(os.path.join(folder, "sample.html"), 400)
    page.value("setTimeout(() => { throw new Error('planted'); }); console.error('planted');"
               "document.body.append(Object.assign(new Image(), {src: 'https://example.org/a.png'}));")
    page.browser.wait_for("true")
    page.value("new Promise(done => setTimeout(done, 50))")
    page.browser.wait_for("document.images[0].complete")
    found = " ".join(page.browser.problems())
    page.expect("an exception is seen", "exception: " in found, True)
    page.expect("an error is seen", "console.error: " in found, True)
    page.expect("the page's policy refuses a picture", "Content Security Policy" in found, True)


def main():
    write_reports, folder = sys.argv[1:]
    program = browser.find_program()
    if program is None:
        print("skipped: none of these is installed:", ", ".join(browser.PROGRAMS))
        return SKIPPED
    os.makedirs(folder, exist_ok=True)
    subprocess.run([write_reports, folder], check=True)
    with browser.Browser(program) as chromium:
        page = Page(chromium)
        for width, dark in ((1280, False), (1280, True), (400, False), (400, True)):
            check_sample(page, folder, width, dark)
            check_compare(page, folder, width, dark)
            check_study(page, folder, width, dark)
        check_other_profiles(page, folder)
        check_other_comparisons(page, folder)
        check_other_studies(page, folder)
        check_that_problems_are_seen(page, folder)
    print("\n".join(page.failures) or f"all good; pictures are in {folder}")
    return 1 if page.failures else 0


if __name__ == "__main__":
    sys.exit(main())
