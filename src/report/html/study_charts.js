'use strict';

// In the order of the stack; colours are those of classes that mean nearly the same.
const PARTS = [
  {name: 'layout conversions', fill: 'conversion', share: variant => variant.conversion_share},
  {name: 'convolutions', fill: 'compute', share: variant => variant.convolution_share},
  {name: 'other passes', fill: 'overhead', share: variant => Math.max(0, 1 - variant.conversion_share - variant.convolution_share)},
];
// JSON has null for an error that is not finite.
const inError = value => value === null || !Number.isFinite(value) ? '∞' : value.toExponential(1);
const inSsim = value => value.toFixed(6);

function timesSpec(study, width) {
  const measured = study.variants.filter(variant => variant.absent === undefined);
  const most = Math.max(0, ...measured.map(variant => Math.max(variant.seconds.median, variant.seconds.high)));
  if (most === 0) return null;
  const beside = {step: 72, error: 60, ssim: measured.some(variant => variant.ssim !== null) ? 64 : 0};
  const room = beside.step + beside.error + beside.ssim;
  const bars = measured.flatMap(variant => {
    let end = 0;
    return PARTS.map(part => {
      const begin = end;
      const seconds = part.share(variant) * variant.seconds.median;
      end += seconds;
      return {variant: variant.name, begin, end, fill: color(part.fill),
              tooltip: {title: variant.name, of: part.name, time: `${inSeconds(seconds)} · ${inPercent(part.share(variant))}`}};
    });
  });
  const labels = measured.map(variant => ({
    variant: variant.name, ...variant.seconds, time: inSeconds(variant.seconds.median),
    error: inError(variant.relative_l2), ssim: variant.ssim === null ? '' : inSsim(variant.ssim),
  }));
  const absent = study.variants.filter(variant => variant.absent !== undefined)
    .map(variant => ({variant: variant.name, why: variant.absent}));
  const row = {y: {scale: 'y', field: 'variant', band: 0.5}, baseline: {value: 'middle'}};
  const column = (field, right) => ({
    type: 'text', interactive: false, from: {data: 'labels'}, encode: {update: {
      ...row, x: {signal: `width - ${right}`}, align: {value: 'right'}, text: {field}, fill: {value: INK}}}});
  const head = (text, right) => ({
    type: 'text', interactive: false, encode: {update: {
      x: {signal: `width - ${right}`}, y: {value: 8}, align: {value: 'right'}, text: {value: text}, fill: {value: INK_2}}}});
  return {
    ...frame(width, 24 + 34 * study.variants.length, 'Time per step of each variant by what takes it, with its error'),
    data: [{name: 'parts', values: bars}, {name: 'labels', values: labels}, {name: 'reasons', values: absent}],
    scales: [
      {name: 'x', domain: [0, most], range: [0, {signal: `max(width - ${room}, 20)`}]},
      {name: 'y', type: 'band', domain: study.variants.map(variant => variant.name), range: [16, {signal: 'height'}], padding: 0.3},
    ],
    axes: [{orient: 'left', scale: 'y', domain: false, ticks: false, labelColor: INK, labelFontSize: 12}],
    marks: [
      {type: 'rect', name: 'bars', from: {data: 'parts'}, encode: {
        update: {x: {scale: 'x', field: 'begin'}, x2: {scale: 'x', field: 'end'}, y: {scale: 'y', field: 'variant'},
                 height: {scale: 'y', band: 1}, fill: {field: 'fill'}, tooltip: {field: 'tooltip'}},
        hover: {stroke: {value: INK}}}},
      {type: 'rule', interactive: false, from: {data: 'labels'}, encode: {update: {
        x: {scale: 'x', field: 'low'}, x2: {scale: 'x', field: 'high'}, y: row.y, stroke: {value: INK}, strokeWidth: {value: 1.5}}}},
      {type: 'text', name: 'absent', interactive: false, from: {data: 'reasons'}, encode: {update: {
        ...row, x: {value: 4}, limit: {signal: 'width - 8'}, text: {field: 'why'}, fontStyle: {value: 'italic'}, fill: {value: INK_2}}}},
      head('step', beside.error + beside.ssim), column('time', beside.error + beside.ssim),
      head('rel. L2', beside.ssim), column('error', beside.ssim),
      ...(beside.ssim > 0 ? [head('SSIM', 0), column('ssim', 0)] : []),
    ],
  };
}
