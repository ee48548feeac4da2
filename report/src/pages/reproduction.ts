// The paper's evaluation again: what it printed, the same algorithm's raw figure, the honest one, and the truth.
import * as Plot from '@observablehq/plot';
import type {PaperFigure, Reproduction, ReproductionGroup, Spread} from '../document';
import {element, formatNumber, nameOf} from '../dom';
import {figure} from '../figure';
import {styleOfMethod} from '../palette';

interface Bar {
  size: string;
  method: string;
  kind: string;
  colour: string;
  value: number;
  error: number;
}

interface Size {
  n: number;
  w: number;
}

/// A line across a figure.
interface Level {
  name: string;
  value: number;
  dash: string;
}

const sizeOf = (size: Size) => (size.w > 0 ? `n=${size.n} w=${size.w}` : `n=${size.n}`);
const kClasses = ['EI', 'IE', 'N'];

const kRaw = {name: 'raw', text: 'literal, raw: not of a probability'};

/// The summary as it is drawn, in the order of sizes; what the paper printed for no size of its own is a level instead.
function barsOf(groups: ReproductionGroup[], quantity: string, paper: PaperFigure[], name = sizeOf): Bar[] {
  const out: Bar[] = [];
  for (const group of [...groups].sort((a, b) => a.n - b.n || a.w - b.w)) {
    const style = styleOfMethod(group.method);
    // Splice: the spread over folds says more than that over seeds.
    const deviation = quantity === 'mean_class_error' ? (group.over_folds as Spread | undefined)?.standard_error : null;
    const add = (kind: string, spread: Spread | null | undefined, method: string) => {
      if (spread === null || spread === undefined || spread.mean === null) return;
      out.push({size: name(group), method, kind, colour: style.colour, value: spread.mean, error: deviation ?? spread.standard_deviation ?? 0});
    };
    add('normalised', group[quantity] as Spread | null, style.name);
    if (quantity === 'test') add('raw', group.raw_test as Spread | null, kRaw.text);
  }
  for (const one of paper.filter((p) => p.n > 0)) {
    out.push({size: name(one), method: `the paper’s ${styleOfMethod(one.method).name}, printed`, kind: 'printed',
      colour: styleOfMethod(one.method).colour, value: one.value, error: 0});
  }
  return out;
}

function chart(id: string, title: string, sentence: string, label: string, bars: Bar[], levels: Level[] = [],
  logarithmic = false): HTMLElement | null {
  const usable = logarithmic ? bars.filter((b) => b.value > 0) : bars;
  if (usable.length === 0) return null;
  const methods = [...new Map(usable.map((b) => [b.method, b])).values()];
  const sizes = [...new Set(usable.map((b) => b.size))];
  const order = methods.map((b) => b.method);
  return figure<Bar>({
    id, title, sentence,
    legend: methods.map((b) => ({name: b.method, colour: b.colour, dash: b.kind === 'raw' ? '7 4' : b.kind === 'printed' ? '1 3' : ''}))
      .concat(levels.map((l) => ({name: l.name, colour: 'currentColor', dash: l.dash}))),
    rows: usable,
    columns: [
      {name: 'size', value: (b) => b.size}, {name: 'method', value: (b) => b.method}, {name: 'kind', value: (b) => b.kind},
      {name: label, value: (b) => b.value}, {name: 'error bar', value: (b) => b.error},
    ],
    plot: () => ({
      height: 300,
      marginLeft: 58,
      insetTop: 8, insetBottom: 8,
      x: {label: null, type: 'point', domain: order, axis: null, padding: 0.6},
      fx: {label: null, domain: sizes, padding: 0.1},
      y: {label, grid: true, ...(logarithmic ? {type: 'log' as const} : {})},
      marks: [
        ...levels.map((l) => Plot.ruleY([l.value], {stroke: 'currentColor', strokeDasharray: l.dash})),
        Plot.ruleX(usable.filter((b) => b.error > 0), {x: 'method', fx: 'size', stroke: 'colour', strokeWidth: 1.5,
          y1: (b: Bar) => (logarithmic ? Math.max(b.value - b.error, b.value / 10) : b.value - b.error), y2: (b: Bar) => b.value + b.error}),
        Plot.dot(usable, {x: 'method', fx: 'size', y: 'value', stroke: 'colour', strokeWidth: 2, r: 4.5, className: 'trace',
          fill: (b: Bar) => (b.kind === 'normalised' ? b.colour : 'none'),
          symbol: (b: Bar) => (b.kind === 'raw' ? 'times' : b.kind === 'printed' ? 'diamond' : 'circle'),
          title: (b: Bar) => `${b.method}, ${b.size}\n${formatNumber(b.value)}`}),
      ],
      symbol: {type: 'identity'},
    }),
  });
}

const kTitles: Record<string, string> = {
  'synthetic-hmm': 'Synthetic HMM', 'synthetic-hqmm': 'Synthetic HQMM', splice: 'Splice',
};

/// The errors of each class of splice at the sizes that have them, for the figure of that name.
function classBars(groups: ReproductionGroup[], paper: PaperFigure[]): Bar[] {
  const out: Bar[] = [];
  const sizes = new Set(paper.filter((p) => p.quantity.startsWith('class_error_')).map(sizeOf));
  kClasses.forEach((name, c) => {
    const label = (size: Size) => `${name} ${sizeOf(size)}`;
    for (const group of groups) {
      const errors = group.class_errors as (number | null)[] | undefined;
      const value = errors?.[c] ?? null;
      const printed = sizes.has(sizeOf(group)) || (group.w === 0 && [...sizes].some((s) => s.startsWith(`n=${group.n} `)));
      if (value === null || !printed) continue;
      const style = styleOfMethod(group.method);
      out.push({size: label(group), method: style.name, kind: 'normalised', colour: style.colour, value, error: 0});
    }
    out.push(...barsOf([], '', paper.filter((p) => p.quantity === `class_error_${name.toLowerCase()}`), label));
  });
  return out.some((b) => b.kind === 'normalised') ? out : [];
}

/// The paper's figures of the HMM: by n with w = 1, and by w for each n that has more.
function hmmFigures(title: string, groups: ReproductionGroup[]): {id: string; title: string; of: (group: Size) => boolean; name: (size: Size) => string}[] {
  return [
    {id: '', title, of: (g) => g.w <= 1, name: (s) => `n=${s.n}`},
    ...[...new Set(groups.filter((g) => g.w > 1).map((g) => g.n))].sort((a, b) => a - b).map((n) => ({id: `-n${n}`, title: `${title}, n = ${n} by w`, of: (g: Size) => g.n === n && g.w > 0, name: (s: Size) => `w=${s.w}`})),
  ];
}

export function reproduction(item: Reproduction): HTMLElement {
  const {results} = item;
  const out = element('section', {}, element('h2', {}, 'Reproduction: ', nameOf(item.name)),
    element('p', {class: 'lead'}, nameOf(String(results.provenance.command ?? '')), `, data: ${String(results.provenance.data ?? '–')}.`));
  for (const study of [...new Set(results.summary.map((g) => g.study))]) {
    const groups = results.summary.filter((g) => g.study === study);
    const truth = results.true_models?.[study]?.test_da ?? null;
    const paper = (results.paper ?? []).filter((p) => p.study === study);
    const grid = element('div', {class: 'grid'});
    const add = (one: HTMLElement | null) => { if (one !== null) grid.append(one); };
    const title = kTitles[study] ?? study;
    if (study === 'splice') {
      const clean = groups.filter((g) => g.protocol !== 'peers');
      const peers = groups.filter((g) => g.protocol === 'peers');
      add(chart(`${item.name}-${study}-error`, `${title}: mean class error, clean protocol`,
        'Lower is better. The epoch is chosen inside the training folds; bars are standard errors over folds.', 'mean class error',
        barsOf(clean, 'mean_class_error', [])));
      add(chart(`${item.name}-${study}-peers`, `${title}: epoch picked on the scored fold`,
        'The protocol of the papers, which is too kind: these are the figures to set beside the printed ones (hollow diamonds).', 'mean class error',
        barsOf(peers, 'mean_class_error', paper.filter((p) => p.quantity === 'mean_class_error'))));
      add(chart(`${item.name}-${study}-classes`, `${title}: errors by class, epoch picked on the scored fold`,
        'The errors of each class at the sizes for which the paper printed them (hollow diamonds).', 'error of the class', classBars(peers, paper)));
    } else {
      const rule = truth === null ? '' : ` The long dashes are the model that made the data, ${formatNumber(truth)}: nothing honest lies above them.`;
      const levels = paper.filter((p) => p.n === 0 && p.quantity === 'test')
        .map((p) => ({name: `the paper’s best ${styleOfMethod(p.method).name}, printed`, value: p.value, dash: p.method === 'cosm' ? '1 5' : '1 2'}));
      if (truth !== null) levels.unshift({name: 'true model', value: truth, dash: '6 4'});
      const draw = (id: string, name: string, some: ReproductionGroup[], size: (s: Size) => string) => {
        add(chart(`${item.name}-${study}-da${id}`, `${name}: description accuracy on test`,
          `Filled marks are probabilities; crosses are raw figures of a model that is not one, hollow diamonds or dots what the paper printed.${rule}`,
          'description accuracy', barsOf(some, 'test', id === '' ? paper.filter((p) => p.quantity === 'test') : [], size), levels));
        add(chart(`${item.name}-${study}-seconds${id}`, `${name}: seconds`, 'Training time on a logarithmic scale.', 'seconds',
          barsOf(some, 'seconds', id === '' ? paper.filter((p) => p.quantity === 'seconds') : [], size), [], true));
      };
      if (study !== 'synthetic-hmm') draw('', title, groups, sizeOf);
      else {
        for (const one of hmmFigures(title, groups)) draw(one.id, one.title, groups.filter(one.of), one.name);
      }
    }
    if (study === 'splice') {
      add(chart(`${item.name}-${study}-seconds`, `${title}: seconds`, 'Training time on a logarithmic scale.', 'seconds',
        barsOf(groups, 'seconds', paper.filter((p) => p.quantity === 'seconds')), [], true));
    }
    out.append(element('h3', {}, title), grid);
  }
  return out;
}
