'use strict';

const study = JSON.parse(document.getElementById('data').textContent);
const sides = study.grid.join('×');
const baseline = study.variants[0]?.seconds?.median ?? null;

// No line begins with a percent sign.
const held = text => text.replaceAll(' %', '\u00a0%');

function fillFindings() {
  document.title = `${study.model} · ${sides} · Mezzotint study`;
  at('title').textContent = `${study.model} · ${sides} · ${study.machine}`;
  at('sentences').append(...study.findings.map(text => make('p', {}, held(text))));
  at('warnings').append(...study.variants.filter(variant => variant.warnings?.length > 0).map(variant =>
    make('p', {class: 'warning'}, `${variant.name}: ${held(variant.warnings.join(' '))}`)));
}

// Absent variants have no values; their row says why.
function fillTable() {
  const rows = study.variants.map((variant, index) => ({...variant, index}));
  const of = value => row => row.absent === undefined ? value(row) : null;
  const figure = (label, value, format, title) => number(label, of(value), format, title);
  const words = (label, value) => text(label, row => row.absent === undefined ? value(row) : NONE);
  sortable('variants-table', [
    text('variant', r => r.name), number('order', r => r.index + 1, count),
    figure('step', r => r.seconds.median, inSeconds),
    figure('spread', r => r.spread, inPercent, 'distance of the quartiles over the median'),
    figure('speed', r => baseline > 0 && r.seconds.median > 0 ? baseline / r.seconds.median : null, value => `${value.toFixed(2)}×`, 'against the first variant'),
    figure('rel. L2', r => r.relative_l2 ?? Infinity, inError, 'of a prediction, against the truth'),
    figure('SSIM', r => r.ssim, inSsim, 'of the finished volume, against the truth'),
    figure('attained', r => r.attained, inPercent, 'of what the roofline allows'),
    figure('conversions', r => r.conversions, count, 'ops that only change a layout'),
    figure('their time', r => r.conversion_share, inPercent, 'of conversions'),
    figure('convolutions', r => r.convolution_share, inPercent, 'share of the time, with what is fused into them'),
    figure('ops', r => r.ops, count),
    figure('kernels', r => r.kernels, count, 'started: a library’s calls within its tasks, else the tasks'), figure('per kernel', r => r.kernel_seconds, inSeconds, 'mean duration'),
    figure('loops', r => r.loops, count), figure('pieces', r => r.pieces, count),
    figure('per piece', r => r.piece_seconds, inSeconds, 'mean duration'),
    figure('narrow ops', r => r.narrow_share?.flops ?? null, inPercent, 'of the operations on narrow vector units (AVX-512-BF16, VNNI); –: this machine has none'),
    figure('narrow time', r => r.narrow_share?.time ?? null, inPercent),
    figure('matrix ops', r => r.matrix_share?.flops ?? null, inPercent, 'of the operations on matrix units (AMX); –: this machine has none'),
    figure('matrix time', r => r.matrix_share?.time ?? null, inPercent), figure('peak', r => r.peak_bytes, inBytes, 'of the process'),
    words('precision', r => r.precision), text('not run', r => r.absent ?? ''),
  ], rows, 'order', false);
}

function fillFacts() {
  facts('meanings', study.variants.map(variant => [variant.name, variant.meaning]));
  facts('run', [
    ['Model', study.model], ['Grid', sides], ['Machine', study.machine],
    ['Rounds', count(study.rounds)],
    ['Errors against', study.truth],
    ['Volumes', study.steps > 0
      ? `${count(study.steps)} steps from one noise; SSIM in windows of 7×7×7, data range 2, inside the mask dilated by 3 voxels`
      : 'none were made: no mask', study.steps === 0],
  ]);
  document.querySelector('.legend').append(...PARTS.map(({name, fill}) =>
    make('li', {}, make('span', {class: 'mark', style: `--of: ${color(fill)}`}, name))));
}

followTheme();
fillFindings();
fillTable();
fillFacts();
draw('times', timesSpec, study, () => {});
at('imprint').textContent = `Mezzotint ${study.version}. Charts by Vega (BSD-3-Clause); its licence stands in this file.`;
