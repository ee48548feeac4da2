// Several runs side by side: what they were told differently, their curves, and their scores on the same data.
import * as Plot from '@observablehq/plot';
import type {Document, Run, Scores} from '../document';
import {cell, element, formatNumber, nameOf, shorten, table} from '../dom';
import {figure} from '../figure';
import {styleAt} from '../palette';
import {rangeOf} from './training';

function differing(runs: Run[]): string[] {
  const keys = new Set(runs.flatMap((run) => Object.keys(run.options)));
  return [...keys].filter((key) => new Set(runs.map((run) => JSON.stringify(run.options[key]))).size > 1);
}

function optionsTable(runs: Run[]): HTMLElement {
  const keys = differing(runs);
  return table('Runs', runs, [
    {name: 'run', value: (r) => r.name},
    ...keys.map((key) => ({name: key, value: (r: Run) => cell(r.options[key])})),
    {name: 'validation bits', value: (r: Run) => r.best?.validation_bits ?? null},
    {name: 'validation DA', value: (r: Run) => r.best?.validation_da ?? null},
    {name: 'best epoch', value: (r: Run) => r.best?.epoch ?? null},
    {name: 'seconds', value: (r: Run) => r.seconds},
    {name: 'status', value: (r: Run) => r.status},
  ]);
}

const kMostInLegend = 24;

function curvesOf(runs: Run[]): HTMLElement {
  const points = runs.flatMap((run, index) => {
    const kept = run.restarts.find((r) => r.restart === (run.best?.restart ?? 0));
    return (kept?.validation_bits ?? []).flatMap((value, i) =>
      value === null ? [] : [{run: index, name: run.name, epoch: kept?.epoch[i] ?? 0, value, restart: 1, part: ''}]);
  });
  const few = runs.length <= kMostInLegend;
  return figure({
    id: 'comparison-curves', title: 'Validation bits per symbol, run by run',
    sentence: `The restart that each run kept. Lower is better; how far apart the lines end is what the options are worth.${
      few ? '' : ' Point at a line for its name.'}`,
    legend: few ? runs.map((run, index) => ({name: run.name, ...styleAt(index)})) : undefined,
    rows: points,
    columns: [{name: 'run', value: (p) => p.name}, {name: 'epoch', value: (p) => p.epoch}, {name: 'bits per symbol', value: (p) => p.value}],
    plot: () => ({
      height: 340,
      marginLeft: 58,
      clip: true,
      x: {label: 'epoch'},
      y: {label: 'bits per symbol', grid: true, domain: rangeOf(points)},
      marks: [
        ...runs.map((_, index) => Plot.line(points.filter((p) => p.run === index), {x: 'epoch', y: 'value', className: 'trace',
          stroke: styleAt(index).colour, strokeDasharray: styleAt(index).dash, strokeOpacity: few ? 1 : 0.6})),
        Plot.tip(points, Plot.pointer({x: 'epoch', y: 'value', fill: 'var(--paper)',
          title: (p) => `${shorten(p.name, 80)}\nepoch ${p.epoch}: ${formatNumber(p.value)}`})),
      ],
    }),
  });
}

function bestOf(runs: Run[]): HTMLElement {
  const rows = runs.flatMap((run, index) => (run.best === null || run.best.validation_bits === null ? [] :
    [{name: run.name, place: index + 1, bits: run.best.validation_bits}])).sort((a, b) => a.bits - b.bits);
  return figure({
    id: 'comparison-best', title: 'Best validation score of each run',
    sentence: 'The best first. They are scores on validation, which chose the epoch: the winner’s is a little too good.',
    rows,
    columns: [{name: 'run', value: (r) => r.name}, {name: 'bits per symbol', value: (r) => r.bits}],
    plot: () => ({
      height: Math.max(120, Math.min(rows.length, 400) * 16 + 50),
      marginLeft: 130, inset: 8,
      x: {label: 'bits per symbol', grid: true, zero: false},
      y: {label: null, type: 'point', domain: rows.map((r) => r.place), tickFormat: (place: number) => shorten(runs[place - 1].name, 20)},
      marks: [Plot.dot(rows, {x: 'bits', y: 'place', r: 4, fill: (r) => styleAt(r.place - 1).colour, className: 'trace',
        title: (r) => `${shorten(r.name, 80)}\n${formatNumber(r.bits)}`})],
    }),
  });
}

interface Paired {
  name: string;
  difference: number;
  error: number;
  pairs: number;
}

export function pairedDifferences(scores: Scores): Paired[] {
  const [first, ...others] = scores.rows;
  return others.flatMap((other) => {
    const differences = other.per_sequence.flatMap((value, i) => {
      const base = first.per_sequence[i];
      return value === null || base === null ? [] : [value - base];
    });
    if (differences.length < 2) return [];
    const mean = differences.reduce((a, b) => a + b, 0) / differences.length;
    const variance = differences.reduce((a, b) => a + (b - mean) ** 2, 0) / (differences.length - 1);
    return [{name: other.name, difference: mean, error: Math.sqrt(variance / differences.length), pairs: differences.length}];
  });
}

export function scoresSection(scores: Scores): HTMLElement {
  const out = element('section', {}, element('h2', {}, 'Scores on ', nameOf(scores.data)),
    table('Scores', scores.rows, [
      {name: 'model', value: (r) => r.name},
      {name: 'bits per symbol', value: (r) => r.bits_per_symbol},
      {name: 'DA', value: (r) => r.da},
    ]));
  const rows = pairedDifferences(scores);
  if (rows.length > 0) {
    out.append(figure({
      id: 'comparison-paired', title: `Bits per symbol more than ${scores.rows[0].name}`,
      sentence: 'Differences are paired over the sequences; bars are two standard errors. A bar that does not reach zero is a difference to believe.',
      rows,
      columns: [
        {name: 'model', value: (r) => r.name},
        {name: 'difference', value: (r) => r.difference},
        {name: 'standard error', value: (r) => r.error},
        {name: 'pairs', value: (r) => r.pairs},
      ],
      plot: () => ({
        height: Math.max(120, rows.length * 18 + 60),
        marginLeft: 130, inset: 8,
        x: {label: 'bits per symbol', grid: true},
        y: {label: null, type: 'point', domain: rows.map((_, i) => i), tickFormat: (i: number) => shorten(rows[i].name, 20)},
        marks: [
          Plot.ruleX([0]),
          Plot.ruleY(rows, {y: (_, i) => i, x1: (r) => r.difference - 2 * r.error, x2: (r) => r.difference + 2 * r.error}),
          Plot.dot(rows, {x: 'difference', y: (_, i) => i, fill: '#0072b2', r: 4, className: 'trace'}),
        ],
      }),
    }));
  }
  for (const [index, walk] of scores.walks.entries()) out.append(walkFigure(walk, index));
  return out;
}

function walkFigure(walk: Scores['walks'][number], index: number): HTMLElement {
  const cells = walk.probabilities.flatMap((row, t) => row.map((p, y) => ({t: t + 1, token: walk.tokens[y], p})));
  const came = walk.came.flatMap((y, t) => (y === null ? [] : [{t: t + 1, token: walk.tokens[y], p: walk.probabilities[t][y]}]));
  return figure({
    id: `walk-${index}`, title: `Next symbol, as ${walk.name} saw it coming`,
    sentence: `Each column holds the probabilities before a symbol of ${walk.sequence}; the mark is the symbol that came. Marks on dark cells were expected.`,
    rows: cells,
    columns: [{name: 'position', value: (c) => c.t}, {name: 'symbol', value: (c) => c.token}, {name: 'probability', value: (c) => c.p}],
    plot: () => ({
      height: Math.max(140, Math.min(640, walk.tokens.length * 16 + 60)),
      marginLeft: 50,
      x: {label: 'position', ticks: 8, type: 'linear', domain: [0.5, walk.probabilities.length + 0.5]},
      y: {label: null, type: 'band', domain: walk.tokens, tickFormat: (token: string) => shorten(token, 8)},
      color: {type: 'linear', scheme: 'Blues', domain: [0, 1]},
      marks: [
        Plot.rect(cells, {x1: (c) => c.t - 0.5, x2: (c) => c.t + 0.5, y: 'token', fill: 'p', className: 'trace'}),
        Plot.dot(came, {x: 't', y: 'token', r: 2, fill: '#d55e00'}),
      ],
    }),
  });
}

export function comparison(page: Document): HTMLElement {
  const runs = page.items.filter((item): item is Run => item.kind === 'run');
  return element('section', {}, element('h2', {}, `Comparison of ${runs.length} runs`),
    optionsTable(runs), element('div', {class: 'grid'}, curvesOf(runs), bestOf(runs)));
}
