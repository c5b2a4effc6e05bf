'use strict';

// Colours are variables of the page's style: a change of theme, and paper, need no new drawing.
const INK = 'var(--ink)';
const INK_2 = 'var(--ink-2)';
const CONFIG = {
  background: 'transparent',
  font: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Liberation Sans", sans-serif',
  axis: {
    labelColor: INK_2, titleColor: INK_2, titleFontWeight: 'normal', titleFontSize: 12, labelFontSize: 11,
    domainColor: 'var(--line-strong)', tickColor: 'var(--line-strong)', gridColor: 'var(--line)',
    labelPadding: 4, titlePadding: 8,
  },
  text: {fontSize: 11},
};
const frame = (width, height, description) => ({
  $schema: 'https://vega.github.io/schema/vega/v5.json',
  description, width, height, padding: {top: 2, bottom: 5, left: 0, right: 6}, autosize: {type: 'fit', contains: 'padding'}, config: CONFIG,
});
const classScale = (name, range) => ({
  name, type: 'ordinal', domain: CLASSES.map(c => c.name), range: CLASSES.map(range),
});

const tooltip = document.getElementById('tooltip');
function showTooltip(handler, event, item, value) {
  tooltip.hidden = value === null || value === undefined;
  if (tooltip.hidden) return;
  const {title, ...facts} = value;
  const list = make('dl');
  for (const [name, fact] of Object.entries(facts)) {
    list.append(make('dt', {}, name), make('dd', {}, name === 'class' ? markOf(fact) : fact));
  }
  tooltip.replaceChildren(make('strong', {}, title), list);
  const box = tooltip.getBoundingClientRect();
  const fit = (at, size, room) => Math.max(8, at + 14 + size > room ? at - size - 14 : at + 14);
  tooltip.style.left = `${fit(event.clientX, box.width, innerWidth)}px`;
  tooltip.style.top = `${fit(event.clientY, box.height, innerHeight)}px`;
}

// Draws `specOf(profile, width)` into the figure `id`, and again whenever its width changes.
// `select` is called with the op or module that was clicked.
function draw(id, specOf, profile, select) {
  const figure = document.getElementById(id);
  let drawn = 0;
  let view = null;
  const redraw = () => {
    const width = Math.floor(figure.clientWidth);
    if (width < 1 || width === drawn) return;
    drawn = width;
    const spec = specOf(profile, width);
    if (spec === null) {
      figure.replaceChildren(make('p', {class: 'note'}, 'Nothing was measured that could be drawn here.'));
      return;
    }
    view?.finalize();
    // With an interpreter, so that the page's policy need not allow evaluating text.
    view = new vega.View(vega.parse(spec, null, {ast: true}), {
      expr: vega.expressionInterpreter, renderer: 'svg', container: figure, hover: true, tooltip: showTooltip,
    });
    view.addEventListener('click', (event, item) => {
      const chosen = item?.datum?.op ?? item?.datum?.path;
      if (chosen) select(chosen);
    });
    view.runAsync();
  };
  new ResizeObserver(redraw).observe(figure);
  redraw();
}
