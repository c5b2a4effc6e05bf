'use strict';

// The order is that of the legend; a shape tells a class apart where colour does not.
const CLASSES = [
  {name: 'compute', shape: 'circle', means: 'bound by arithmetic'},
  {name: 'L2', shape: 'diamond', means: 'bound by the L2 cache'},
  {name: 'L3', shape: 'square', means: 'bound by the L3 cache'},
  {name: 'DRAM', shape: 'triangle-up', means: 'bound by memory'},
  {name: 'conversion', shape: 'cross', means: 'changes a layout or a type'},
  {name: 'overhead', shape: 'triangle-down', means: 'too short: starting it takes the time'},
  {name: 'imbalance', shape: 'triangle-right', means: 'threads wait for the busiest'},
];
const color = name => `var(--${name.toLowerCase()})`;
const colorOn = name => `var(--on-${name.toLowerCase()})`;

// A ratio to nothing, as of a profile without ops, is no number.
const NONE = '–';
function scaled(value, steps, digits = 3) {
  if (!Number.isFinite(value)) return NONE;
  if (value === 0) return `0\u00a0${steps[steps.length - 1][1]}`;
  const [factor, unit] = steps.find(([least]) => value >= least) ?? steps[steps.length - 1];
  const scaledValue = value / factor;
  const decimals = Math.max(0, digits - 1 - Math.max(0, Math.floor(Math.log10(scaledValue))));
  return `${scaledValue.toFixed(Math.min(decimals, digits))}\u00a0${unit}`;
}
const steps = unit => [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, '']]
  .map(([factor, prefix]) => [factor, prefix + unit]);
const inSeconds = value => scaled(value, [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']]);
const inBytes = value => scaled(value,
  [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']]);
const inFlop = value => scaled(value, steps('FLOP'));
const inFlopRate = value => scaled(value, steps('FLOP/s'));
const inByteRate = value => scaled(value, steps('B/s'));
function inPercent(value) {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return NONE;
  if (size > 0 && size < 0.0005) return '<0.1\u00a0%';
  return `${(100 * value).toFixed(size > 0 && size < 0.0995 ? 1 : 0)}\u00a0%`;
}
const inRatio = value => value >= 100 ? value.toFixed(0) : value.toPrecision(3);
const count = value => Number.isInteger(value) ? value.toLocaleString('en') : value.toFixed(1);

// An element with text and children; never markup from a text.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
const markOf = name => make('span', {class: 'mark', style: `--of: ${color(name)}`}, name);

// What the profile's fields say together; null where there is nothing to divide by.
function derive(op) {
  const seconds = op.seconds.median;
  const busy = op.busy_seconds ?? [];
  const cycles = op.counters?.cycles;
  const instructions = op.counters?.instructions;
  return {
    spread: seconds > 0 ? (op.seconds.high - op.seconds.low) / seconds : null,
    intensity: op.flops > 0 && op.bytes > 0 ? op.flops / op.bytes : null,
    rate: op.flops > 0 && seconds > 0 ? op.flops / seconds : null,
    attained: op.attainable_seconds > 0 && seconds > 0 ? op.attainable_seconds / seconds : null,
    perKernel: op.kernels > 0 ? busy.reduce((sum, part) => sum + part, 0) / op.kernels || null : null,
    ipc: cycles > 0 && instructions != null ? instructions / cycles : null,
    misses: op.counters?.cache_misses ?? null,
  };
}
