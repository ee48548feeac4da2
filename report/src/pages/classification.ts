// Classifiers: a cross-validation's errors, and what a classifier looks at.
import * as Plot from '@observablehq/plot';
import type {Classifier, CrossValidation} from '../document';
import {element, facts, formatNumber, nameOf, shorten} from '../dom';
import {figure} from '../figure';

const kOurs = '#0072b2';
const kBase = '#e69f00';

function confusion(name: string, classes: string[], counts: number[][]): HTMLElement {
  const cells = counts.flatMap((row, i) => {
    const total = row.reduce((a, b) => a + b, 0) || 1;
    return row.map((count, j) => ({truth: classes[i], answer: classes[j], count, share: count / total}));
  });
  return figure({
    id: `${name}-confusion`, title: 'Confusion',
    sentence: 'A row is a true class, a column an answer; the shade is the share of the row. All off the diagonal is error.',
    rows: cells,
    columns: [{name: 'class', value: (c) => c.truth}, {name: 'answer', value: (c) => c.answer}, {name: 'sequences', value: (c) => c.count}, {name: 'share', value: (c) => c.share}],
    plot: (width) => ({
      height: Math.min(width, 60 * classes.length + 60), marginLeft: 90, marginBottom: 40,
      x: {label: 'answer', domain: classes, tickFormat: (c: string) => shorten(c, 10)},
      y: {label: 'class', domain: classes, tickFormat: (c: string) => shorten(c, 10)},
      color: {type: 'linear', scheme: 'Blues', domain: [0, 1]},
      marks: [
        Plot.cell(cells, {x: 'answer', y: 'truth', fill: 'share', inset: 1, className: 'trace'}),
        Plot.text(cells, {x: 'answer', y: 'truth', text: (c) => `${c.count}`, fill: (c) => (c.share > 0.5 ? 'white' : 'black')}),
      ],
    }),
  });
}

function errors(item: CrossValidation): HTMLElement {
  const {results} = item;
  const folds = results.folds.flatMap((fold) => [...Object.entries(fold.class_error ?? {}), ['mean', fold.mean_class_error] as const]
    .flatMap(([name, error]) => (error === null ? [] : [{what: name, who: `this classifier, fold ${fold.fold + 1}`, error, spread: 0}])));
  const rows = [
    ...results.classes.map((name) => ({what: name, who: 'this classifier', error: results.class_error[name], spread: results.class_error_standard_error[name] ?? 0})),
    {what: 'mean', who: 'this classifier', error: results.mean_class_error, spread: results.mean_class_error_standard_error ?? 0},
    ...results.baselines.flatMap((b) => [...results.classes.map((name) => ({what: name, who: b.name, error: b.class_error[name] ?? null, spread: 0})),
      {what: 'mean', who: b.name, error: b.mean_class_error, spread: b.mean_class_error_standard_error ?? 0}]),
  ].flatMap((r) => (r.error === null ? [] : [{...r, error: r.error}]));
  const colour = (r: {who: string}) => (r.who.startsWith('this classifier') ? kOurs : kBase);
  return figure({
    id: `${item.name}-errors`, title: 'Errors by class',
    sentence: 'Lower is better. Blue is this classifier with one standard error, small marks are its folds; orange are the baselines, hollow.',
    legend: [{name: 'this classifier', colour: kOurs}, {name: 'baselines', colour: kBase}],
    rows: [...rows, ...folds],
    columns: [{name: 'class', value: (r) => r.what}, {name: 'who', value: (r) => r.who}, {name: 'error', value: (r) => r.error}, {name: 'standard error', value: (r) => r.spread}],
    plot: () => ({
      height: 300, marginLeft: 58,
      x: {label: null, domain: [...results.classes, 'mean'], padding: 0.4, type: 'point', tickFormat: (c: string) => shorten(c, 12)},
      y: {label: 'error', grid: true, zero: true},
      marks: [
        Plot.ruleX(rows.filter((r) => r.who === 'this classifier'), {x: 'what', stroke: kOurs, y1: (r) => r.error - r.spread, y2: (r) => r.error + r.spread}),
        Plot.dot(folds, {x: 'what', y: 'error', r: 2, fill: kOurs, fillOpacity: 0.6}),
        Plot.dot(rows, {x: 'what', y: 'error', r: 5, stroke: colour, strokeWidth: 2, className: 'trace',
          fill: (r) => (r.who === 'this classifier' ? kOurs : 'none'), title: (r) => `${r.who}, ${r.what}\n${formatNumber(r.error)}`}),
      ],
    }),
  });
}

function calibration(item: CrossValidation): HTMLElement {
  const {calibration: found} = item.results;
  const bins = found.bins.flatMap((b) => (b.confidence === null || b.accuracy === null ? [] : [{...b, confidence: b.confidence, accuracy: b.accuracy}]));
  return figure({
    id: `${item.name}-calibration`, title: 'Calibration',
    sentence: `On the diagonal, answers given with 80 % confidence are right in 80 % of cases. The expected calibration error is ${
      found.expected_calibration_error === null ? '–' : formatNumber(found.expected_calibration_error)}; larger marks are more sequences.`,
    rows: bins,
    columns: [{name: 'confidence', value: (b) => b.confidence}, {name: 'accuracy', value: (b) => b.accuracy}, {name: 'rows', value: (b) => b.rows}],
    plot: (width) => ({
      height: Math.min(width, 360), marginLeft: 58,
      x: {label: 'confidence', domain: [0, 1], grid: true},
      y: {label: 'share right', domain: [0, 1], grid: true},
      r: {range: [2, 14]},
      marks: [
        Plot.line([[0, 0], [1, 1]], {stroke: 'currentColor', strokeDasharray: '6 4', strokeOpacity: 0.6}),
        Plot.dot(bins, {x: 'confidence', y: 'accuracy', r: 'rows', fill: kOurs, fillOpacity: 0.7, className: 'trace'}),
      ],
    }),
  });
}

export function crossValidation(item: CrossValidation): HTMLElement {
  return element('section', {}, element('h2', {}, 'Cross-validation: ', nameOf(item.name)),
    element('div', {class: 'grid'}, errors(item), confusion(item.name, item.results.classes, item.results.confusion), calibration(item)));
}

const kLetters = ['#009e73', '#0072b2', '#e69f00', '#d55e00', '#cc79a7', '#56b4e9', '#8a63d2', '#7f7f7f'];

function logo(item: Classifier, one: string): HTMLElement {
  // Letters are stacked by the size of what they say: up for the class, down against it.
  const heights: {position: number; symbol: string; low: number; high: number; log_odds: number}[] = [];
  const positions = [...new Set(item.logo.filter((l) => l.class === one).map((l) => l.position))].sort((a, b) => a - b);
  for (const position of positions) {
    const here = item.logo.filter((l) => l.class === one && l.position === position)
      .map((l) => ({...l, height: l.frequency * l.log_odds})).sort((a, b) => Math.abs(a.height) - Math.abs(b.height));
    let up = 0;
    let down = 0;
    for (const l of here) {
      const from = l.height >= 0 ? up : down;
      const to = from + l.height;
      if (l.height >= 0) up = to; else down = to;
      heights.push({position, symbol: l.symbol, low: Math.min(from, to), high: Math.max(from, to), log_odds: l.log_odds});
    }
  }
  const colour = (symbol: string) => kLetters[Math.max(0, item.alphabet.indexOf(symbol)) % kLetters.length];
  return figure({
    id: `${item.name}-logo-${one}`, title: `What speaks for ${one}`,
    sentence: 'A letter’s height is its share at the position times its log-odds in bits: high stacks are where the classifier looks.',
    legend: item.alphabet.length <= 24 ? item.alphabet.map((name) => ({name, colour: colour(name)})) : undefined,
    rows: item.logo.filter((l) => l.class === one),
    columns: [{name: 'class', value: (l) => l.class}, {name: 'position', value: (l) => l.position}, {name: 'symbol', value: (l) => l.symbol},
      {name: 'log-odds (bits)', value: (l) => l.log_odds}, {name: 'frequency', value: (l) => l.frequency}],
    plot: (width) => ({
      height: 220, marginLeft: 50,
      x: {label: 'position', type: 'linear', domain: [(positions[0] ?? 1) - 0.5, (positions[positions.length - 1] ?? 1) + 0.5], ticks: Math.floor(width / 60)},
      y: {label: 'bits', grid: true},
      marks: [
        Plot.rect(heights, {x1: (h) => h.position - 0.45, x2: (h) => h.position + 0.45, y1: 'low', y2: 'high', fill: (h) => colour(h.symbol),
          className: 'trace', title: (h) => `${shorten(h.symbol)} at ${h.position}: ${formatNumber(h.log_odds)} bits`}),
        Plot.text(heights.filter((h) => h.high - h.low > 0.08), {x: 'position', y: (h) => (h.low + h.high) / 2, text: (h) => Array.from(shorten(h.symbol))[0] ?? '', fill: 'black',
          fontWeight: 'bold'}),
        Plot.ruleY([0]),
      ],
    }),
  });
}

export function classifier(item: Classifier): HTMLElement {
  return element('section', {}, element('h2', {}, 'Classifier: ', nameOf(item.name)), facts(item.facts),
    element('div', {class: 'grid'}, ...(item.logo.length === 0 ? [] : item.classes.map((one) => logo(item, one)))));
}
