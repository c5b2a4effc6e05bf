'use strict';

const SHOWN_GROUPS = 12;
const sideColor = index => index === 0 ? 'var(--overhead)' : 'var(--accent)';
const inSignedSeconds = value => value === 0 ? '0' : `${value < 0 ? '−' : '+'}${inSeconds(Math.abs(value))}`;
const groupName = group => `${group.kind} · ${group.level}`;

// The groups of all profiles by their largest change, each with a spread or null for each profile.
function groupRows(comparison) {
  const rows = new Map();
  comparison.differences.forEach((difference, index) => {
    for (const group of difference.groups) {
      const name = groupName(group);
      const row = rows.get(name) ?? {name, change: 0, sides: comparison.profiles.map(() => null)};
      row.sides[0] = group.base?.seconds ?? row.sides[0];
      row.sides[index + 1] = group.other?.seconds ?? null;
      row.change = Math.max(row.change, Math.abs(group.difference));
      rows.set(name, row);
    }
  });
  return [...rows.values()].sort((a, b) => b.change - a.change);
}

function groupBarsSpec(comparison, width) {
  const groups = groupRows(comparison).slice(0, SHOWN_GROUPS);
  const bars = groups.flatMap(({name, sides}) => sides.map((spread, index) => spread && {
    name, side: comparison.profiles[index].label, fill: sideColor(index), ...spread,
    label: `${comparison.profiles[index].label} ${inSeconds(spread.median)}`,
    tooltip: {title: name, in: comparison.profiles[index].label, time: inSeconds(spread.median), quartiles: quartiles(spread)},
  })).filter(bar => bar !== null);
  const most = Math.max(0, ...bars.map(bar => bar.high));
  if (most === 0) return null;
  const perGroup = 12 + 15 * comparison.profiles.length;
  return {
    ...frame(width, perGroup * groups.length, 'Time of each group in each profile'),
    data: [{name: 'rows', values: bars}],
    scales: [
      {name: 'x', domain: [0, most], range: [0, {signal: 'max(width - 84, 20)'}]},
      {name: 'y', type: 'band', domain: groups.map(group => group.name), range: 'height', padding: 0.22},
      {name: 'side', type: 'band', domain: comparison.profiles.map(profile => profile.label), range: [0, {signal: "bandwidth('y')"}], padding: 0.12},
    ],
    axes: [{orient: 'left', scale: 'y', domain: false, ticks: false, labelColor: INK, labelLimit: width < 600 ? 120 : 260}],
    marks: [
      {type: 'rect', name: 'bars', from: {data: 'rows'}, encode: {
        update: {x: {value: 0}, x2: {scale: 'x', field: 'median'},
                 y: {signal: "scale('y', datum.name) + scale('side', datum.side)"}, height: {scale: 'side', band: 1},
                 fill: {field: 'fill'}, tooltip: {field: 'tooltip'}},
        hover: {stroke: {value: INK}}}},
      {type: 'rule', interactive: false, from: {data: 'rows'}, encode: {update: {
        x: {scale: 'x', field: 'low'}, x2: {scale: 'x', field: 'high'},
        y: {signal: "scale('y', datum.name) + scale('side', datum.side) + bandwidth('side') / 2"}, stroke: {value: INK}}}},
      {type: 'text', interactive: false, from: {data: 'rows'}, encode: {update: {
        x: {signal: "scale('x', datum.high) + 6"}, baseline: {value: 'middle'}, text: {field: 'label'}, fill: {value: INK},
        y: {signal: "scale('y', datum.name) + scale('side', datum.side) + bandwidth('side') / 2"}}}},
    ],
  };
}

function classBarsSpec(comparison, width) {
  const bars = comparison.differences.flatMap(({label, classes}) => classes.map(sum => ({
    class: sum.name, side: label, difference: sum.difference, label: `${label} ${inSignedSeconds(sum.difference)}`,
    tooltip: {title: `${label} against A`, class: sum.name, base: inSeconds(sum.base), time: inSeconds(sum.other),
              change: inSignedSeconds(sum.difference)},
  })));
  const most = Math.max(0, ...bars.map(bar => Math.abs(bar.difference)));
  if (most === 0) return null;
  const present = CLASSES.map(c => c.name).filter(name => bars.some(bar => bar.class === name));
  return {
    ...frame(width, (12 + 16 * comparison.differences.length) * present.length, 'Change of time by class of bottleneck in the base'),
    data: [{name: 'rows', values: bars}],
    scales: [
      {name: 'x', domain: [-most, most], range: [{signal: 'min(84, width / 3)'}, {signal: 'width - min(84, width / 3)'}]},
      {name: 'y', type: 'band', domain: present, range: 'height', padding: 0.22},
      {name: 'side', type: 'band', domain: comparison.differences.map(d => d.label), range: [0, {signal: "bandwidth('y')"}], padding: 0.12},
      classScale('fill', c => color(c.name)),
    ],
    axes: [{orient: 'left', scale: 'y', domain: false, ticks: false, labelColor: INK, labelFontSize: 12}],
    marks: [
      {type: 'rect', name: 'bars', from: {data: 'rows'}, encode: {
        update: {x: {scale: 'x', value: 0}, x2: {scale: 'x', field: 'difference'},
                 y: {signal: "scale('y', datum.class) + scale('side', datum.side)"}, height: {scale: 'side', band: 1},
                 fill: {scale: 'fill', field: 'class'}, tooltip: {field: 'tooltip'}},
        hover: {stroke: {value: INK}}}},
      {type: 'rule', interactive: false, encode: {update: {
        x: {scale: 'x', value: 0}, y: {value: 0}, y2: {signal: 'height'}, stroke: {value: 'var(--line-strong)'}}}},
      {type: 'text', interactive: false, from: {data: 'rows'}, encode: {update: {
        x: {signal: "scale('x', datum.difference) + (datum.difference < 0 ? -5 : 5)"},
        align: {signal: "datum.difference < 0 ? 'right' : 'left'"}, baseline: {value: 'middle'},
        y: {signal: "scale('y', datum.class) + scale('side', datum.side) + bandwidth('side') / 2"},
        text: {field: 'label'}, fill: {value: INK}}}},
    ],
  };
}
