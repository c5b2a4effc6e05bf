'use strict';

const at = id => document.getElementById(id);
const quartiles = spread => `${inSeconds(spread.low)} to ${inSeconds(spread.high)}`;

function facts(id, rows) {
  for (const [name, value, absent] of rows) {
    at(id).append(make('dt', {}, name), make('dd', absent ? {class: 'absent'} : {}, value));
  }
}

const orDash = format => value => value === null ? NONE : format(value);
const number = (label, value, format, title) => ({label, value, format: orDash(format), numeric: true, title});
const text = (label, value) => ({label, value, format: String, numeric: false});
const bottleneck = {label: 'class', value: r => r.bottleneck, format: markOf, numeric: false};

// A table that sorts by any column, by its `key` where it has one, at the start by the one labelled
// `first`. Returns a function that shows the rows that a test passes.
function sortable(id, columns, rows, first, descending = true) {
  const table = at(id);
  const body = make('tbody');
  let test = () => true;
  let sorted = {column: columns.find(column => column.label === first), descending};
  const heads = columns.map(column => {
    const button = make('button', {type: 'button'}, column.label);
    if (column.title) button.title = column.title;
    button.addEventListener('click', () => {
      sorted = {column, descending: sorted.column === column ? !sorted.descending : column.numeric};
      show();
    });
    return make('th', {scope: 'col', ...(column.numeric && {class: 'number'})}, button);
  });
  const elements = new Map(rows.map(row => [row, make('tr', {}, ...columns.map((column, i) => cell(column, row, i))) ]));
  function show() {
    const {column, descending} = sorted;
    heads.forEach((head, i) => {
      if (columns[i] === column) head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
    });
    const shown = rows.filter(test).sort((a, b) => {
      const key = column.key ?? column.value;
      const [x, y] = [key(a), key(b)];
      if (x === null || y === null) return (x === null) - (y === null);
      const order = column.numeric ? x - y : x.localeCompare(y, 'en', {numeric: true});
      return descending ? -order : order;
    });
    const none = make('tr', {}, make('td', {class: 'none', colspan: columns.length}, 'Nothing to show.'));
    body.replaceChildren(...(shown.length > 0 ? shown.map(row => elements.get(row)) : [none]));
    return shown.length;
  }
  table.append(make('thead', {}, make('tr', {}, ...heads)), body);
  show();
  return newTest => { test = newTest; return show(); };
}

function cell(column, row, index) {
  const value = column.value(row);
  const element = index === 0 ? make('th', {scope: 'row'}) : make('td');
  element.append(column.format(value));
  if (column.numeric) element.classList.add('number');
  if (value === null) element.classList.add('absent');
  if (column.part) {
    element.classList.add('share');
    element.style.setProperty('--part', Math.min(1, value));
  }
  if (index === 0) element.title = value;
  return element;
}

function followTheme() {
  const wish = matchMedia('(prefers-color-scheme: dark)');
  const button = at('theme');
  const use = dark => {
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    button.setAttribute('aria-pressed', dark);
  };
  wish.addEventListener('change', () => use(wish.matches));
  button.addEventListener('click', () => use(document.documentElement.dataset.theme !== 'dark'));
  use(wish.matches);
}
