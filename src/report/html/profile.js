'use strict';

const profile = JSON.parse(document.getElementById('data').textContent);
const threads = profile.machine.threads;
profile.ops.forEach((op, index) => { op.index = index + 1; op.d = derive(op); });
profile.groups.forEach(group => { group.d = derive(group); });
const sides = profile.grid.join('×');

function fillVerdict() {
  document.title = `${profile.model} · ${sides} · ${profile.precision} · Mezzotint profile`;
  at('title').textContent = `${profile.model} · ${sides} · ${profile.precision} · ${threads} threads`;
  at('sentences').append(...profile.verdict.sentences.map(text => make('p', {}, text)));
  at('warnings').append(...profile.warnings.map(text => make('p', {class: 'warning'}, text)));
  at('advice-title').hidden = profile.verdict.advice.length === 0;
  at('advice').append(...profile.verdict.advice.map(adviceItem));
  const attainable = profile.ops.reduce((sum, op) => sum + op.attainable_seconds, 0);
  const kernels = profile.ops.reduce((sum, op) => sum + op.kernels, 0);
  const figures = [
    ['One evaluation', inSeconds(profile.plain_seconds.median), quartiles(profile.plain_seconds)],
    ['Of attainable', inPercent(attainable / profile.sum_seconds), `${inSeconds(attainable)} by the roofline`],
    ['Kernels started', count(kernels), `${count(profile.ops.length)} ops`],
    ['Arena', inBytes(profile.arena_bytes), `and ${inBytes(profile.packed_bytes)} packed weights`],
    ['Peak of the process', inBytes(profile.peak_bytes), 'measured'],
    ['Matrix units', shareOf(profile.matrix_share), `narrow vector units ${shareOf(profile.narrow_share)}`],
  ];
  at('figures').append(...figures.map(([name, value, more]) =>
    make('div', {}, make('dt', {}, name), make('dd', {}, make('strong', {}, value), make('span', {}, more)))));
}

// Of a unit that a machine may not have.
const shareOf = share => share === null ? 'none' : `${inPercent(share.flops)} of FLOPs`;

function adviceItem(advice) {
  const less = 1 - advice.predicted_ratio;
  const gain = make('div', {class: 'gain'},
    `${less >= 0 ? '−' : '+'}${inPercent(Math.abs(less))}`, make('small', {}, ' time, predicted'));
  const body = make('div', {}, make('p', {}, advice.text));
  if (advice.command !== null) {
    const copy = make('button', {type: 'button', class: 'control'}, 'Copy');
    const code = make('code', {}, advice.command);
    copy.addEventListener('click', () => copyText(code, copy));
    body.append(make('div', {class: 'command'}, code, copy));
  }
  return make('li', {}, gain, body);
}

// Pages from a file have no clipboard in some browsers; the text is then selected.
function copyText(code, button) {
  getSelection().selectAllChildren(code);
  const done = () => { button.textContent = 'Copied'; };
  navigator.clipboard?.writeText(code.textContent).then(done, () => {});
}

function fillFacts() {
  const {machine} = profile;
  facts('machine', [
    ['Processor', machine.processor],
    ['ISA', machine.isa],
    ['Threads', count(threads)],
    ...machine.units.map(unit => [unit.unit, unit.absent ??
      `${inFlopRate(unit.all_threads)}, one thread ${inFlopRate(unit.one_thread)}: ${unit.elements}`,
      unit.absent !== null]),
    ...machine.levels.map(level => [level.bytes === null ? level.name : `${level.name}, ${level.caches > 1 ? `${level.caches} × ` : ''}${inBytes(level.bytes)}`,
      `${inByteRate(level.all_threads)}, one thread ${inByteRate(level.one_thread)}`]),
    ['Starting a loop', `${inSeconds(machine.start_seconds)}, and ${inSeconds(machine.task_seconds)} per task`],
  ]);
  facts('run', [
    ['Model', profile.model],
    ['Grid', `${sides}, timestep ${profile.timestep}`],
    ['Precision', profile.precision],
    ['Plan', `${profile.plan ?? 'the default'} (${profile.plan_hash})`],
    ['Runs', `${count(profile.runs)}, quartiles ${quartiles(profile.seconds)}`],
    ['Sum of ops', `${inSeconds(profile.sum_seconds)}, ${inPercent(profile.sum_seconds / profile.seconds.median)} of a run`],
    ['Listening costs', inPercent(profile.seconds.median / profile.plain_seconds.median - 1)],
    ...profile.units.filter(unit => unit.seconds > 0).map(unit => [`On ${unit.unit}`,
      `${inFlop(unit.flops)} in ${inSeconds(unit.seconds)}`]),
    ['Counters', profile.counters],
    ['Version', profile.version],
  ]);
}

const times = [
  number('time', r => r.seconds.median, inSeconds),
  {...number('share', r => r.share, inPercent), part: true},
  number('spread', r => r.d.spread, inPercent, 'distance of the quartiles over the median'),
];
const work = [
  number('FLOPs', r => r.flops, inFlop, 'of the algorithm used'),
  number('direct', r => r.direct_flops, inFlop, 'FLOPs of the direct form, products with padding included'),
  number('bytes', r => r.bytes, inBytes, 'modelled'),
  number('FLOP/B', r => r.d.intensity, inRatio),
  number('attained', r => r.d.rate, inFlopRate),
  number('of roof', r => r.d.attained, inPercent, 'attainable time over measured time'),
  number('tasks', r => r.tasks, count),
];
const OP_COLUMNS = [
  text('op', r => r.op), bottleneck, ...times, text('level', r => r.level), text('kind', r => r.kind),
  text('implementation', r => r.implementation), text('unit', r => r.unit), ...work,
  number('kernels', r => r.kernels, count, 'started: calls of a library in its tasks, or else the tasks'),
  number('per kernel', r => r.d.perKernel, inSeconds, 'mean busy time of a kernel'),
  number('idle', r => r.imbalance, inPercent, 'of the threads in loops, without a task'),
  number('live', r => r.live_bytes, inBytes, 'bytes of the arena while it runs'),
  ...(profile.ops.some(op => op.d.ipc !== null) ? [number('IPC', r => r.d.ipc, v => v.toFixed(2))] : []),
  ...(profile.ops.some(op => op.d.misses !== null) ? [number('misses', r => r.d.misses, v => scaled(v, steps('')), 'cache misses')] : []),
  number('order', r => r.index, count),
];
const GROUP_COLUMNS = [
  text('level', r => r.level), text('kind', r => r.kind), bottleneck, number('ops', r => r.ops, count),
  ...times, ...work,
];

function fillTables() {
  sortable('groups-table', GROUP_COLUMNS, profile.groups, 'time');
  const filter = sortable('ops-table', OP_COLUMNS, profile.ops, 'time');
  const [find, choice] = [at('filter-text'), at('filter-class')];
  for (const {name} of CLASSES.filter(c => profile.ops.some(op => op.bottleneck === c.name))) {
    choice.append(make('option', {value: name}, name));
  }
  const apply = () => {
    const wanted = find.value.trim().toLowerCase();
    const shown = filter(op => (choice.value === '' || op.bottleneck === choice.value) &&
      [op.op, op.kind, op.implementation, op.level].some(field => field.toLowerCase().includes(wanted)));
    at('filter-count').textContent = `${count(shown)} of ${count(profile.ops.length)} ops`;
  };
  find.addEventListener('input', apply);
  choice.addEventListener('change', apply);
  at('filter-clear').addEventListener('click', () => { find.value = ''; choice.value = ''; apply(); });
  apply();
  return name => {
    find.value = name;
    choice.value = '';
    apply();
    at('ops').scrollIntoView();
  };
}

function fillLegends() {
  const present = CLASSES.filter(c => profile.ops.some(op => op.bottleneck === c.name));
  for (const legend of document.querySelectorAll('.legend')) {
    legend.append(...present.map(({name, means}) => {
      const entry = markOf(name);
      entry.title = means;
      return make('li', {}, entry);
    }));
  }
}

followTheme();
fillVerdict();
fillFacts();
fillLegends();
const findOp = fillTables();
draw('roofline', rooflineSpec, profile, findOp);
draw('modules', modulesSpec, profile, findOp);
draw('memory', memorySpec, profile, findOp);
draw('classes', classesSpec, profile, () => {});
const silent = profile.ops.filter(op => op.d.intensity === null || op.d.rate === null).length;
at('roofline-note').textContent = silent > 0
  ? `${silent} ops without arithmetic have no point; they are in the table.` : '';
at('imprint').textContent = `Mezzotint ${profile.version}. Charts by Vega (BSD-3-Clause); its licence stands in this file.`;
