'use strict';

const comparison = JSON.parse(document.getElementById('data').textContent);
const ofProfiles = comparison.of === 'profiles';
const sides = ofProfiles ? comparison.profiles : comparison.plans;
const gridOf = grid => grid.join('×');
const inFactor = value => value.toPrecision(3);
const change = {...number('change', r => r.difference, inSignedSeconds), key: r => Math.abs(r.difference)};
const share = number('of difference', r => r.share, value => `${(100 * value).toFixed(0)}\u00a0%`, 'of the difference of the sums');
const ratioColumns = [
  number('ratio', r => r.ratio?.median ?? null, inFactor, 'to the base'),
  {label: 'interval', value: r => r.ratio, key: r => r.ratio?.median ?? null, numeric: true,
   format: ratio => ratio === null ? NONE : `${inFactor(ratio.low)} to ${inFactor(ratio.high)}`, title: 'of the quartiles of both'},
];
const against = text('against A', r => r.label);
// Rows of all differences, each with the label of its profile.
const rowsOf = key => comparison.differences.flatMap(d => d[key].map(row => ({...row, label: d.label})));

function fillTitle(title) {
  document.title = `${title} · Mezzotint comparison`;
  at('title').textContent = title;
}

const paragraphs = (id, texts, attributes = {}) => at(id).append(...texts.map(text => make('p', attributes, text)));

function fillProfiles() {
  fillTitle(`${comparison.profiles.length} profiles · ${sides[0].model} · ${gridOf(sides[0].grid)}`);
  paragraphs('sentences', comparison.differences.flatMap(d => d.sentences));
  paragraphs('contrasts', comparison.differences.flatMap(d =>
    d.contrasts.map(c => `${d.label} differs from A in ${c.what}: ${c.other}, A: ${c.base}`)), {class: 'warning'});
  const rows = sides.map((side, i) => ({...side, ratio: comparison.differences[i - 1]?.ratio ?? null}));
  sortable('sides-table', [
    text('label', r => r.label), text('file', r => r.file), number('time', r => r.plain_seconds.median, inSeconds), ...ratioColumns,
    number('kernels', r => r.kernels, count), number('conversions', r => r.conversion_share, inPercent, 'share of the time'),
    number('arena', r => r.arena_bytes, inBytes), number('packed', r => r.packed_bytes, inBytes), number('peak', r => r.peak_bytes, inBytes),
    text('model', r => r.model), text('size', r => gridOf(r.grid)), text('precision', r => r.precision),
    text('plan', r => r.plan ?? 'default'), text('processor', r => r.processor), text('ISA', r => r.isa), number('threads', r => r.threads, count),
  ], rows, 'label', false);
  const seconds = side => side?.seconds.median ?? null;
  const bound = {label: 'class', value: r => (r.other ?? r.base).bottleneck, format: markOf, numeric: false};
  sortable('groups-table', [
    text('level', r => r.level), text('kind', r => r.kind), against, bound, number('A', r => seconds(r.base), inSeconds),
    number('other', r => seconds(r.other), inSeconds), ...ratioColumns,
    text('noise', r => r.ratio === null ? (r.base === null ? 'only here' : r.other === null ? 'only in A' : NONE) : r.beyond_noise ? 'beyond' : 'within'),
    change, share,
  ], rowsOf('groups'), 'change');
  const sums = [...rowsOf('classes').map(row => ({...row, by: 'class'})), ...rowsOf('kinds').map(row => ({...row, by: 'kind'}))];
  sortable('sums-table', [
    text('name', r => r.name), text('by', r => r.by), against, number('A', r => r.base, inSeconds), number('other', r => r.other, inSeconds), change, share,
  ], sums, 'change');
  at('ops-caption').textContent = comparison.differences.map(d =>
    `${d.label}: ${count(d.ops.length)} with another implementation or class; ${count(d.only_base.count)} only in A, ${count(d.only_other.count)} only in ${d.label}.`).join(' ');
  sortable('ops-table', [
    text('op', r => r.op), against, {label: 'class in A', value: r => r.base.bottleneck, format: markOf, numeric: false},
    {label: 'class', value: r => r.other.bottleneck, format: markOf, numeric: false},
    number('A', r => seconds(r.base), inSeconds), number('other', r => seconds(r.other), inSeconds), ...ratioColumns, change,
    text('implementation in A', r => r.base.implementation), text('implementation', r => r.other.implementation),
    text('level', r => r.level), text('kind', r => r.kind),
  ], rowsOf('ops'), 'change');
  const formats = {count, share: inPercent, bytes: inBytes, seconds: inSeconds, 'FLOP/s': inFlopRate, 'bytes/s': inByteRate};
  const figure = (label, of) => ({
    label, value: r => of(r) === null ? null : {value: of(r), unit: r.unit}, key: of, numeric: true,
    format: shown => shown === null ? NONE : formats[shown.unit](shown.value)});
  sortable('figures-table', [
    text('figure', r => r.name), against, figure('A', r => r.base), figure('other', r => r.other),
    number('ratio', r => r.ratio, inFactor),
  ], rowsOf('figures').filter(row => row.base !== row.other), 'figure', false);
  draw('groups', groupBarsSpec, comparison, () => {});
  draw('classes', classBarsSpec, comparison, () => {});
}

function entryText(entry) {
  if (entry === null) return 'no entry';
  const fuse = entry.fuse === null ? 'what is cheaper' : entry.fuse.join(' ') || 'nothing';
  return `${entry.implementation ?? 'the cheapest'}, ${entry.layout ?? "plan's layout"}, fuses ${fuse}`;
}

function fillPlans() {
  fillTitle(`${sides.length} plans · ${comparison.model} · ${gridOf(comparison.grid)}`);
  paragraphs('sentences', comparison.sentences);
  for (const section of document.querySelectorAll('.of-profiles')) section.hidden = true;
  sortable('sides-table', [
    text('label', r => r.label), text('file', r => r.file), number('measured', r => r.measured_seconds, inSeconds),
    number('default', r => r.default_seconds, inSeconds, 'measured with the default plan beside it'),
    number('predicted', r => r.predicted_seconds, inSeconds),
    number('relative L2', r => r.relative_l2, value => value.toExponential(1), 'of an evaluation, the worst'),
    number('entries', r => r.entries, count), number('otherwise', r => r.differing, count, 'ops decided otherwise than in A'),
    text('layout', r => r.layout), text('precision', r => r.precision), text('ISA', r => r.isa), text('processor', r => r.processor),
    number('threads', r => r.threads, count), text('version', r => r.version),
  ], sides, 'label', false);
  paragraphs('notes', sides.flatMap(side => side.notes.map(note => `${side.label}: ${note}`)), {class: 'note'});
  at('ops-caption').textContent = `${count(comparison.ops.length)} decided otherwise by one of the plans, ${count(comparison.equal_ops)} alike by all.`;
  sortable('ops-table', [
    text('op', r => r.op), ...sides.map((side, i) => text(side.label, r => entryText(r.entries[i]))),
  ], comparison.ops, 'op', false);
}

followTheme();
(ofProfiles ? fillProfiles : fillPlans)();
at('imprint').textContent = `Mezzotint ${sides[0].version}. Charts by Vega (BSD-3-Clause); its licence stands in this file.`;
