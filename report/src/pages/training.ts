// One training run: what became of every restart, epoch by epoch.
import * as Plot from '@observablehq/plot';
import type {Numbers, Restart, Run} from '../document';
import {element, facts, formatNumber, nameOf} from '../dom';
import {figure, type LegendEntry} from '../figure';
import {stationarity} from './stationarity';

const kTrain = '#e69f00';
const kValidation = '#0072b2';
const kTruth = '#009e73';
const kRaw = '#d55e00';

export interface Point {
  restart: number;
  epoch: number;
  part: string;
  value: number;
}

const pointsOf = (restarts: Restart[], part: string, values: (r: Restart) => Numbers | null): Point[] =>
  restarts.flatMap((r) => (values(r) ?? []).flatMap((value, i) =>
    value === null || !Number.isFinite(value) ? [] : [{restart: r.restart + 1, epoch: r.epoch[i], part, value}]));

/// The start is mostly far from everything after it: it may not squash the axis.
export function rangeOf(points: Point[], more: (number | null)[] = []): [number, number] | undefined {
  const later = points.filter((p) => p.epoch > 0);
  const values = [...(later.length > 0 ? later : points).map((p) => p.value),
    ...more.filter((v): v is number => v !== null)];
  if (values.length === 0) return undefined;
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const margin = 0.04 * (high - low || Math.abs(high) || 1);
  return [low - margin, high + margin];
}

const columns = [
  {name: 'restart', value: (p: Point) => p.restart},
  {name: 'epoch', value: (p: Point) => p.epoch},
  {name: 'part', value: (p: Point) => p.part},
  {name: 'value', value: (p: Point) => p.value},
];

interface CurveSpec {
  id: string;
  title: string;
  sentence: string;
  unit: string;
  parts: {name: string; colour: string; dash?: string; values: (r: Restart) => Numbers | null}[];
  truth?: number | null;
  best?: number | null;
}

function curves(run: Run, spec: CurveSpec): HTMLElement | null {
  const points = spec.parts.flatMap((part) => pointsOf(run.restarts, part.name, part.values));
  if (points.length === 0) return null;
  const colour = new Map(spec.parts.map((part) => [part.name, part.colour]));
  const winner = (run.best?.restart ?? 0) + 1;
  const truth = spec.truth ?? null;
  const domain = rangeOf(points, [truth]);
  const off = domain !== undefined && points.some((p) => p.epoch === 0 && (p.value < domain[0] || p.value > domain[1]));
  const legend: LegendEntry[] = spec.parts.filter((part) => points.some((p) => p.part === part.name));
  if (truth !== null) legend.push({name: 'true model', colour: kTruth, dash: '6 4'});
  return figure<Point>({
    id: spec.id,
    title: spec.title,
    sentence: spec.sentence + (off ? ' The start, epoch 0, lies off the axis; the table has it.' : ''),
    legend,
    rows: points,
    columns,
    plot: () => ({
      height: 260,
      marginLeft: 58,
      clip: true,
      x: {label: 'epoch'},
      y: {label: spec.unit, domain, grid: true},
      marks: [
        truth === null ? null : Plot.ruleY([truth], {stroke: kTruth, strokeDasharray: '6 4', strokeWidth: 2}),
        ...spec.parts.map((part) => Plot.line(points.filter((p) => p.part === part.name), {
          x: 'epoch', y: 'value', z: 'restart', stroke: part.colour, strokeDasharray: part.dash,
          strokeOpacity: (p: Point) => (p.restart === winner ? 1 : 0.35),
          strokeWidth: (p: Point) => (p.restart === winner ? 2 : 1),
          className: 'trace',
        })),
        run.best === null || spec.best === null || spec.best === undefined ? null : Plot.dot([run.best], {
          x: 'epoch', y: () => spec.best as number, r: 5, fill: 'none', stroke: 'currentColor', strokeWidth: 2}),
        Plot.tip(points, Plot.pointer({x: 'epoch', y: 'value', title: (p: Point) =>
          `${p.part}${run.restarts.length > 1 ? `, restart ${p.restart}` : ''}, epoch ${p.epoch}\n${formatNumber(p.value)}`,
        fill: 'var(--paper)', stroke: (p: Point) => colour.get(p.part) ?? 'currentColor'})),
      ],
    }),
  });
}

interface Positive {
  restart: number;
  epoch: number;
  value: number;
}

function logarithmic(run: Run, id: string, title: string, sentence: string, unit: string,
  values: (r: Restart) => Numbers): HTMLElement | null {
  const points: Positive[] = pointsOf(run.restarts, title, values).filter((p) => p.value > 0);
  if (points.length < 2) return null;
  return figure<Positive>({
    id, title, sentence, rows: points,
    columns: [
      {name: 'restart', value: (p) => p.restart},
      {name: 'epoch', value: (p) => p.epoch},
      {name: unit, value: (p) => p.value},
    ],
    plot: () => ({
      height: 200,
      marginLeft: 58,
      x: {label: 'epoch'},
      y: {label: unit, type: 'log', grid: true, tickFormat: (v: number) => v.toExponential(0)},
      marks: [Plot.line(points, {x: 'epoch', y: 'value', z: 'restart', stroke: kValidation, className: 'trace',
        strokeOpacity: 0.8})],
    }),
  });
}

function restartSpread(run: Run): HTMLElement | null {
  if (run.restarts.length < 2) return null;
  const rows = run.restarts.map((r) => {
    const seen = r.validation_bits.filter((v): v is number => v !== null);
    return {restart: r.restart + 1, epochs: Math.max(...r.epoch, 0), best: seen.length ? Math.min(...seen) : null};
  });
  return figure({
    id: `${run.name}-restarts`, title: 'Restarts',
    sentence: 'The best validation score of each start, and how many epochs it was given: the spread is what a single start risks.',
    rows,
    columns: [
      {name: 'restart', value: (r) => r.restart},
      {name: 'epochs', value: (r) => r.epochs},
      {name: 'best validation bits per symbol', value: (r) => r.best},
    ],
    plot: () => ({
      height: 200,
      marginLeft: 58,
      inset: 8,
      x: {label: 'epochs trained', domain: [0, Math.max(...rows.map((r) => r.epochs)) * 1.05 + 1]},
      y: {label: 'bits per symbol', grid: true, zero: false},
      marks: [
        Plot.dot(rows.filter((r) => r.best !== null), {x: 'epochs', y: 'best', stroke: kValidation, r: 4, className: 'trace',
          fill: (r) => (r.restart === (run.best?.restart ?? 0) + 1 ? kValidation : 'none')}),
        rows.length <= 20 ? Plot.text(rows.filter((r) => r.best !== null), {x: 'epochs', y: 'best', text: (r) => `${r.restart}`,
          dx: 10, fill: 'currentColor'}) : null,
      ],
    }),
  });
}

interface Fan {
  epoch: number;
  restarts: number;
  least: number;
  lower: number;
  median: number;
  upper: number;
  most: number;
}

const kMostFanEpochs = 300;

/// What all starts do in each epoch; a start that ended leaves the fan. Thinned histories keep their last value in between.
function fanOf(restarts: Restart[]): Fan[] {
  const all = [...new Set(restarts.flatMap((r) => r.epoch))].filter((e) => e > 0).sort((a, b) => a - b);
  const stride = Math.ceil(all.length / kMostFanEpochs);
  const epochs = all.filter((_, i) => (all.length - 1 - i) % stride === 0);
  const at = restarts.map(() => -1);
  return epochs.flatMap((epoch) => {
    const values = restarts.flatMap((r, i) => {
      while (at[i] + 1 < r.epoch.length && r.epoch[at[i] + 1] <= epoch) ++at[i];
      const value = at[i] < 0 || r.epoch[r.epoch.length - 1] < epoch ? null : r.validation_bits[at[i]];
      return value === null ? [] : [value];
    }).sort((a, b) => a - b);
    if (values.length === 0) return [];
    const quantile = (share: number) => {
      const place = share * (values.length - 1);
      const below = Math.floor(place);
      return values[below] + (place - below) * ((values[below + 1] ?? values[below]) - values[below]);
    };
    return [{epoch, restarts: values.length, least: quantile(0), lower: quantile(0.25), median: quantile(0.5), upper: quantile(0.75), most: quantile(1)}];
  });
}

function fan(run: Run): HTMLElement | null {
  if (run.restarts.length < 3) return null;
  const rows = fanOf(run.restarts);
  if (rows.length < 2) return null;
  return figure<Fan>({
    id: `${run.name}-fan`, title: 'Restarts as a fan',
    sentence: 'Validation of all starts: the line is the middle one, half of them lie in the dark band and all in the light one. Starts that ended leave the fan.',
    rows,
    columns: [
      {name: 'epoch', value: (f) => f.epoch}, {name: 'restarts', value: (f) => f.restarts}, {name: 'lowest', value: (f) => f.least},
      {name: 'lower quartile', value: (f) => f.lower}, {name: 'median', value: (f) => f.median},
      {name: 'upper quartile', value: (f) => f.upper}, {name: 'highest', value: (f) => f.most},
    ],
    plot: () => ({
      height: 200,
      marginLeft: 58,
      x: {label: 'epoch'},
      y: {label: 'bits per symbol', grid: true, zero: false},
      marks: [
        Plot.areaY(rows, {x: 'epoch', y1: 'least', y2: 'most', fill: kValidation, fillOpacity: 0.15, className: 'trace'}),
        Plot.areaY(rows, {x: 'epoch', y1: 'lower', y2: 'upper', fill: kValidation, fillOpacity: 0.3, className: 'trace'}),
        Plot.lineY(rows, {x: 'epoch', y: 'median', stroke: kValidation, strokeWidth: 2, className: 'trace'}),
      ],
    }),
  });
}

export function training(run: Run): HTMLElement {
  const id = (what: string) => `${run.name}-${what}`;
  const grid = element('div', {class: 'grid'});
  const add = (figureOrNot: HTMLElement | null) => { if (figureOrNot !== null) grid.append(figureOrNot); };
  const raw = run.restarts.some((r) => r.raw_validation_bits !== null);
  add(curves(run, {
    id: id('bits'), title: 'Bits per symbol', unit: 'bits per symbol', truth: run.truth?.bits_per_symbol,
    best: run.best?.validation_bits,
    sentence: `Lower is better. The ring marks the best epoch by validation, whose model is kept.${
      raw ? ' Raw figures are not of a probability and go below what is possible.' : ''}`,
    parts: [
      {name: 'training', colour: kTrain, dash: '5 3', values: (r) => r.train_bits},
      {name: 'validation', colour: kValidation, values: (r) => r.validation_bits},
      ...(raw ? [{name: 'validation, raw', colour: kRaw, dash: '2 3', values: (r: Restart) => r.raw_validation_bits}] : []),
    ],
  }));
  add(curves(run, {
    id: id('da'), title: 'Description accuracy', unit: 'DA', truth: run.truth?.da, best: run.best?.validation_da,
    sentence: 'Higher is better: 0 is what guessing all symbols alike scores, 1 is knowing every symbol before it comes.',
    parts: [
      {name: 'training', colour: kTrain, dash: '5 3', values: (r) => r.train_da},
      {name: 'validation', colour: kValidation, values: (r) => r.validation_da},
    ],
  }));
  add(fan(run));
  add(restartSpread(run));
  add(logarithmic(run, id('residual'), 'Feasibility residual', 'How far the operators are from trace preserving, ‖Γ†Γ − I‖. At most 1e-12 means that the numbers are probabilities.',
    'residual', (r) => r.feasibility_residual));
  add(logarithmic(run, id('gradient'), 'Gradient', 'The nuclear norm of the gradient along the manifold: it falls as training settles.',
    'nuclear norm', (r) => r.gradient_nuclear_norm));
  add(logarithmic(run, id('step'), 'Step size', 'The step size of each epoch: the schedule, and halvings where a step had to be taken back.',
    'step size', (r) => r.step_size));
  return element('section', {}, element('h2', {}, 'Training: ', nameOf(run.name)),
    run.unfinished ? element('p', {class: 'warning'}, `Not finished: ${run.status}.`) : null,
    run.epochs_shown < run.epochs_done ? element('p', {class: 'lead'},
      `${run.epochs_done} epochs, thinned to ${run.epochs_shown} for drawing; the best one is among them.`) : null,
    element('details', {open: ''}, element('summary', {}, 'What was run'), facts(run.facts)), grid,
    run.stationarity === null ? null : stationarity(run.name, run.stationarity));
}
