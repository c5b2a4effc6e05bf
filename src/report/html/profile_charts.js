'use strict';

const powerBelow = value => 10 ** Math.floor(Math.log10(value));
const powerAbove = value => 10 ** Math.ceil(Math.log10(value));

function opTooltip(op) {
  return {
    title: op.op, class: op.bottleneck, time: `${inSeconds(op.seconds.median)} · ${inPercent(op.share)}`,
    intensity: op.d.intensity === null ? 'no arithmetic' : `${inRatio(op.d.intensity)} FLOP/B`,
    attained: op.d.rate === null ? NONE : inFlopRate(op.d.rate),
    'of attainable': op.d.attained === null ? NONE : inPercent(op.d.attained),
  };
}

function rooflineSpec(profile, width) {
  const height = width < 600 ? 420 : 460;
  const points = profile.ops.filter(op => op.d.intensity !== null && op.d.rate !== null)
    .map(op => ({x: op.d.intensity, y: op.d.rate, share: op.share, class: op.bottleneck, op: op.op,
                 tooltip: opTooltip(op)}))
    .sort((a, b) => b.share - a.share);
  const units = profile.machine.units.filter(unit => unit.absent === null && unit.all_threads > 0);
  const levels = profile.machine.levels.filter(level => level.all_threads > 0);
  if (points.length === 0 || units.length === 0 || levels.length === 0) return null;
  const peaks = units.map(unit => unit.all_threads);
  const speeds = levels.map(level => level.all_threads);
  const top = Math.max(...peaks);
  const xs = points.map(point => point.x);
  const x = [powerBelow(Math.min(...xs)), powerAbove(Math.max(...xs, 1.5 * top / Math.min(...speeds)))];
  const y = [powerBelow(Math.min(...points.map(point => point.y))), 2.2 * top];
  const slopes = levels.map(level => ({
    x0: Math.max(x[0], y[0] / level.all_threads), x1: top / level.all_threads, speed: level.all_threads,
    label: `${level.name} ${inByteRate(level.all_threads)}`,
  })).map(roof => ({...roof, y0: roof.x0 * roof.speed, y1: top}));
  const flats = units.map(unit => ({
    x0: unit.all_threads / Math.max(...speeds), x1: x[1], y: unit.all_threads,
    label: `${unit.unit} ${inFlopRate(unit.all_threads)}`,
  }));
  const line = {strokeWidth: {value: 1.25}, stroke: {value: INK_2}};
  const label = {fill: {value: INK_2}, fontSize: {value: 11}};
  const axis = {grid: true, values: [], encode: {}};
  return {
    ...frame(width, height, 'Roofline: attained FLOP/s of each op against its FLOP per byte'),
    signals: [{
      name: 'angle',
      update: `-atan((height / ${Math.log10(y[1] / y[0])}) / (width / ${Math.log10(x[1] / x[0])})) * 180 / PI`,
    }],
    data: [{name: 'slopes', values: slopes}, {name: 'flats', values: flats}, {name: 'points', values: points}],
    scales: [
      {name: 'x', type: 'log', domain: x, range: 'width'},
      {name: 'y', type: 'log', domain: y, range: 'height'},
      {name: 'size', type: 'linear', domain: [0, Math.max(...points.map(p => p.share))], range: [40, 700]},
      classScale('fill', c => color(c.name)), classScale('shape', c => c.shape),
    ],
    axes: [
      {...axis, orient: 'bottom', scale: 'x', title: 'FLOP per byte', values: decades(x),
       encode: {labels: {update: {text: {signal: "format(datum.value, '~g')"}}}}},
      {...axis, orient: 'left', scale: 'y', title: 'attained FLOP/s', values: decades(y),
       encode: {labels: {update: {text: {signal: "format(datum.value, '~s')"}}}}},
    ],
    marks: [
      {type: 'rule', from: {data: 'slopes'}, encode: {update: {
        x: {scale: 'x', field: 'x0'}, y: {scale: 'y', field: 'y0'},
        x2: {scale: 'x', field: 'x1'}, y2: {scale: 'y', field: 'y1'}, ...line}}},
      {type: 'rule', from: {data: 'flats'}, encode: {update: {
        x: {scale: 'x', field: 'x0'}, x2: {scale: 'x', field: 'x1'}, y: {scale: 'y', field: 'y'}, ...line}}},
      {type: 'symbol', name: 'ops', from: {data: 'points'}, encode: {
        update: {
          x: {scale: 'x', field: 'x'}, y: {scale: 'y', field: 'y'}, size: {scale: 'size', field: 'share'},
          shape: {scale: 'shape', field: 'class'}, fill: {scale: 'fill', field: 'class'},
          fillOpacity: {value: 0.82}, stroke: {value: 'var(--paper)'}, strokeWidth: {value: 1},
          tooltip: {field: 'tooltip'}, cursor: {value: 'pointer'},
        },
        hover: {stroke: {value: INK}, fillOpacity: {value: 1}},
      }},
      {type: 'text', interactive: false, from: {data: 'slopes'}, encode: {update: {
        x: {scale: 'x', field: 'x0', offset: 6}, y: {scale: 'y', field: 'y0', offset: -6},
        angle: {signal: 'angle'}, dy: {value: -5}, text: {field: 'label'}, ...label}}},
      {type: 'text', interactive: false, from: {data: 'flats'}, encode: {update: {
        x: {signal: 'width - 4'}, y: {scale: 'y', field: 'y', offset: -5}, align: {value: 'right'},
        text: {field: 'label'}, ...label}}},
    ],
  };
}

function decades([low, high]) {
  const values = [];
  for (let power = Math.round(Math.log10(low)); power <= Math.log10(high) + 1e-9; ++power) {
    values.push(10 ** power);
  }
  return values;
}

// Modules as a tree: each with the time below it, the time of its own op, and the times by class.
function moduleTree(profile) {
  const node = (name, path) => ({name, path, seconds: 0, own: 0, by: {}, children: new Map()});
  const root = node(profile.model, '');
  for (const op of profile.ops) {
    let at = root;
    const visit = next => {
      at = next;
      at.seconds += op.seconds.median;
      at.by[op.bottleneck] = (at.by[op.bottleneck] ?? 0) + op.seconds.median;
    };
    visit(root);
    for (const part of op.op.split('.')) {
      if (!at.children.has(part)) {
        at.children.set(part, node(part, at === root ? part : `${at.path}.${part}`));
      }
      visit(at.children.get(part));
    }
    at.own += op.seconds.median;
  }
  return root;
}

// Rows for `stratify`: a chain of only children is one row, named by their path; what takes less than
// `least` seconds, too narrow to be seen, stays blank in the row above it.
function moduleRows(root, least) {
  const rows = [];
  const visit = (top, parent, depth) => {
    let node = top;
    let name = top.name;
    while (node !== root && node.children.size === 1 && node.own === 0) {
      node = [...node.children.values()][0];
      name += `.${node.name}`;
    }
    const most = Object.entries(node.by).sort((a, b) => b[1] - a[1])[0][0];
    const row = {
      id: rows.length, parent, depth, name, path: node.path, own: node.own, class: most,
      leaf: node.children.size === 0,
      tooltip: {title: node.path || node.name, class: most,
                time: `${inSeconds(node.seconds)} · ${inPercent(node.seconds / root.seconds)}`},
    };
    rows.push(row);
    for (const child of node.children.values()) {
      if (child.seconds < least) row.own += child.seconds;
      else visit(child, row.id, depth + 1);
    }
  };
  visit(root, null, 1);
  return rows;
}

function modulesSpec(profile, width) {
  const root = moduleTree(profile);
  if (root.seconds === 0) return null;
  const rows = moduleRows(root, 0.5 * root.seconds / width);
  const height = 32 * Math.max(...rows.map(row => row.depth));
  return {
    ...frame(width, height, 'Icicle of the network: time by module'),
    data: [{name: 'tree', values: rows, transform: [
      {type: 'stratify', key: 'id', parentKey: 'parent'},
      {type: 'partition', field: 'own', size: [{signal: 'width'}, {signal: 'height'}],
       as: ['x0', 'y0', 'x1', 'y1', 'level', 'below']},
    ]}],
    scales: [classScale('fill', c => color(c.name)), classScale('on', c => colorOn(c.name))],
    marks: [
      {type: 'rect', name: 'modules', from: {data: 'tree'}, encode: {
        update: {
          x: {field: 'x0'}, x2: {field: 'x1'}, y: {field: 'y0'}, y2: {field: 'y1'},
          fill: {scale: 'fill', field: 'class'}, fillOpacity: {signal: 'datum.leaf ? 1 : 0.2'},
          stroke: {value: 'var(--paper)'}, strokeWidth: {signal: 'datum.x1 - datum.x0 > 4 ? 1 : 0.3'},
          tooltip: {field: 'tooltip'}, cursor: {value: 'pointer'},
        },
        hover: {stroke: {value: INK}},
      }},
      {type: 'text', interactive: false, from: {data: 'tree'}, encode: {update: {
        x: {field: 'x0', offset: 5}, y: {signal: '(datum.y0 + datum.y1) / 2'}, baseline: {value: 'middle'},
        limit: {signal: 'datum.x1 - datum.x0 - 8'},
        text: {signal: "datum.x1 - datum.x0 > 26 ? datum.name : ''"},
        fill: [{test: 'datum.leaf', scale: 'on', field: 'class'}, {value: INK}]}}},
    ],
  };
}

function memorySpec(profile, width) {
  let now = 0;
  const steps = profile.ops.map(op => {
    const begin = now;
    now += op.seconds.median;
    return {begin, end: now, bytes: op.live_bytes, op: op.op,
            tooltip: {title: op.op, live: inBytes(op.live_bytes), from: inSeconds(begin), to: inSeconds(now)}};
  });
  if (now === 0) return null;
  const ends = [...steps.map(step => ({x: step.begin, y: step.bytes})), {x: now, y: steps.at(-1).bytes}];
  const lines = [
    {y: profile.arena_bytes, label: `arena ${inBytes(profile.arena_bytes)}`, dash: [6, 3]},
    {y: profile.packed_bytes, label: `packed weights ${inBytes(profile.packed_bytes)}`, dash: [2, 3]},
  ];
  const top = 1.12 * Math.max(...steps.map(step => step.bytes), ...lines.map(line => line.y), 1);
  const tick = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512].map(n => n * 2 ** 20)
    .concat([1, 2, 4, 8, 16, 32, 64].map(n => n * 2 ** 30)).find(size => top / size <= 6) ?? top / 4;
  const ticks = Array.from({length: Math.floor(top / tick) + 1}, (_, i) => i * tick);
  const [unit, unitName] = top >= 2 ** 30 ? [2 ** 30, 'GiB'] : [2 ** 20, 'MiB'];
  const ruler = now >= 2 ? [1, 's'] : now >= 2e-3 ? [1e-3, 'ms'] : [1e-6, 'µs'];
  return {
    ...frame(width, 280, 'Live bytes of the arena over one evaluation'),
    data: [{name: 'area', values: ends}, {name: 'steps', values: steps}, {name: 'lines', values: lines}],
    scales: [
      {name: 'x', domain: [0, now / ruler[0]], range: 'width'},
      {name: 'seconds', domain: [0, now], range: 'width'},
      {name: 'y', domain: [0, top], range: 'height'},
      {name: 'label', type: 'ordinal', domain: ticks,
       range: ticks.map(value => value === 0 ? '0' : `${+(value / unit).toPrecision(3)} ${unitName}`)},
    ],
    axes: [
      {orient: 'left', scale: 'y', grid: true, values: ticks,
       encode: {labels: {update: {text: {signal: "scale('label', datum.value)"}}}}},
      {orient: 'bottom', scale: 'x', title: `time since the evaluation began (${ruler[1]})`, tickCount: width / 80},
    ],
    marks: [
      {type: 'area', name: 'live', interactive: false, from: {data: 'area'}, encode: {update: {
        x: {scale: 'seconds', field: 'x'}, y: {scale: 'y', field: 'y'}, y2: {scale: 'y', value: 0},
        interpolate: {value: 'step-after'}, fill: {value: 'var(--accent)'}, fillOpacity: {value: 0.22},
        stroke: {value: 'var(--accent)'}, strokeWidth: {value: 1.5}}}},
      {type: 'rect', from: {data: 'steps'}, encode: {
        update: {x: {scale: 'seconds', field: 'begin'}, x2: {scale: 'seconds', field: 'end'},
                 y: {value: 0}, y2: {signal: 'height'}, fill: {value: 'transparent'}, tooltip: {field: 'tooltip'}},
        hover: {fill: {value: 'var(--line)'}}}},
      {type: 'rule', interactive: false, from: {data: 'lines'}, encode: {update: {
        x: {value: 0}, x2: {signal: 'width'}, y: {scale: 'y', field: 'y'}, stroke: {value: INK_2},
        strokeWidth: {value: 1.25}, strokeDash: {field: 'dash'}}}},
      {type: 'text', interactive: false, from: {data: 'lines'}, encode: {update: {
        x: {signal: 'width - 4'}, y: {scale: 'y', field: 'y', offset: -5}, align: {value: 'right'},
        text: {field: 'label'}, fill: {value: INK}}}},
    ],
  };
}

function classesSpec(profile, width) {
  const total = profile.sum_seconds;
  const rows = CLASSES.map(({name}) => {
    const ops = profile.ops.filter(op => op.bottleneck === name);
    const seconds = ops.reduce((sum, op) => sum + op.seconds.median, 0);
    const attainable = ops.reduce((sum, op) => sum + op.attainable_seconds, 0);
    const label = `${inSeconds(seconds)} · ${inPercent(seconds / total)}`;
    return {class: name, seconds, attainable, label,
            tooltip: {title: name, time: label, ops: count(ops.length), attainable: inSeconds(attainable)}};
  }).filter(row => row.seconds > 0).sort((a, b) => b.seconds - a.seconds);
  if (rows.length === 0) return null;
  const most = Math.max(...rows.map(row => Math.max(row.seconds, row.attainable)));
  return {
    ...frame(width, 28 + 36 * rows.length, 'Time by class of bottleneck'),
    data: [{name: 'rows', values: rows}],
    scales: [
      {name: 'x', domain: [0, most], range: [0, {signal: 'max(width - 112, 20)'}]},
      {name: 'y', type: 'band', domain: rows.map(row => row.class), range: 'height', padding: 0.32},
      classScale('fill', c => color(c.name)),
    ],
    axes: [{orient: 'left', scale: 'y', domain: false, ticks: false, labelColor: INK, labelFontSize: 12}],
    marks: [
      {type: 'rect', name: 'bars', from: {data: 'rows'}, encode: {update: {
        x: {value: 0}, x2: {scale: 'x', field: 'seconds'}, y: {scale: 'y', field: 'class'},
        height: {scale: 'y', band: 1}, fill: {scale: 'fill', field: 'class'}, tooltip: {field: 'tooltip'}}}},
      {type: 'rule', interactive: false, from: {data: 'rows'}, encode: {update: {
        x: {scale: 'x', field: 'attainable'}, y: {scale: 'y', field: 'class', offset: -4},
        y2: {scale: 'y', field: 'class', band: 1, offset: 4}, stroke: {value: INK}, strokeWidth: {value: 2},
        // At the axis it would look like one.
        opacity: {signal: "scale('x', datum.attainable) < 2 ? 0 : 1"}}}},
      {type: 'text', interactive: false, from: {data: 'rows'}, encode: {update: {
        x: {signal: "scale('x', max(datum.seconds, datum.attainable)) + 7"},
        y: {scale: 'y', field: 'class', band: 0.5}, baseline: {value: 'middle'}, text: {field: 'label'},
        fill: {value: INK}}}},
    ],
  };
}
