// One model: its operators, its channel and what they do.
import * as Plot from '@observablehq/plot';
import type {Model} from '../document';
import {element, facts, formatNumber, nameOf, shorten} from '../dom';
import {figure} from '../figure';

interface Cell {
  matrix: string;
  row: number;
  column: number;
  re: number;
  im: number;
}

const cellsOf = (matrix: string, re: number[][], im: number[][] | null): Cell[] =>
  re.flatMap((line, i) => line.map((value, j) => ({matrix, row: i + 1, column: j + 1, re: value, im: im?.[i]?.[j] ?? 0})));

const cellColumns = [
  {name: 'matrix', value: (c: Cell) => c.matrix},
  {name: 'row', value: (c: Cell) => c.row},
  {name: 'column', value: (c: Cell) => c.column},
  {name: 'real part', value: (c: Cell) => c.re},
  {name: 'imaginary part', value: (c: Cell) => c.im},
];

interface HeatSpec {
  id: string;
  title: string;
  sentence: string;
  cells: Cell[];
  part: 're' | 'im' | 'size';
  perRow?: number;
}

function heat(spec: HeatSpec): HTMLElement {
  const value = (c: Cell) => (spec.part === 'size' ? Math.hypot(c.re, c.im) : c[spec.part]);
  const most = spec.cells.reduce((size, c) => Math.max(size, Math.abs(value(c))), 1e-12);
  const names = [...new Set(spec.cells.map((c) => c.matrix))];
  const rows = Math.max(...spec.cells.map((c) => c.row));
  const columns = Math.max(...spec.cells.map((c) => c.column));
  return figure<Cell>({
    id: spec.id, title: spec.title, sentence: `${spec.sentence} The largest is ${formatNumber(most)}.`,
    rows: spec.cells, columns: cellColumns,
    plot: (width) => {
      const across = Math.max(1, Math.min(names.length, spec.perRow ?? Math.floor(width / 90)));
      const down = Math.ceil(names.length / across);
      const side = Math.min(width / across, Math.max(26 * columns + 20, names.length === 1 ? 260 : 0));
      return {
        width: Math.min(width, Math.ceil(side * across) + 16),
        height: Math.max(120, down * (side * rows / columns + 22)),
        marginLeft: 8, marginRight: 8, marginTop: 18, marginBottom: 4,
        axis: null,
        x: {type: 'band', domain: Array.from({length: columns}, (_, i) => i + 1), padding: 0.03},
        y: {type: 'band', domain: Array.from({length: rows}, (_, i) => i + 1), padding: 0.03},
        fx: {domain: Array.from({length: across}, (_, i) => i), padding: 0.08},
        fy: {domain: Array.from({length: down}, (_, i) => i), padding: 0.12},
        color: spec.part === 'size' ? {type: 'linear', scheme: 'Blues', domain: [0, most]} :
          {type: 'diverging', scheme: 'PuOr', domain: [-most, most], pivot: 0},
        marks: [
          Plot.cell(spec.cells, {x: 'column', y: 'row', fill: value, className: 'trace',
            fx: (c: Cell) => names.indexOf(c.matrix) % across, fy: (c: Cell) => Math.floor(names.indexOf(c.matrix) / across),
            title: (c: Cell) => `${shorten(c.matrix)} (${c.row}, ${c.column})\n${formatNumber(c.re)}${c.im !== 0 ? ` + ${formatNumber(c.im)}i` : ''}`}),
          names.length < 2 ? null : Plot.text(names, {text: (n: string) => shorten(n, 12), frameAnchor: 'top', dy: -12,
            fx: (n: string) => names.indexOf(n) % across, fy: (n: string) => Math.floor(names.indexOf(n) / across)}),
        ],
      };
    },
  });
}

function spectrum(model: Model): HTMLElement {
  const circle = Array.from({length: 121}, (_, i) => [Math.cos(i * Math.PI / 60), Math.sin(i * Math.PI / 60)]);
  const named = model.eigenvalues.filter((e) => e.period !== null && Number.isFinite(e.period) && e.modulus > 0.5 && e.im >= -1e-12);
  return figure({
    id: `${model.name}-spectrum`, title: 'Spectrum of the channel',
    sentence: 'The leading eigenvalues in the unit disc. What lies near the circle is long remembered; an angle is a period, written beside it in symbols.',
    rows: model.eigenvalues,
    columns: [
      {name: 're', value: (e) => e.re},
      {name: 'im', value: (e) => e.im},
      {name: 'modulus', value: (e) => e.modulus},
      {name: 'period', value: (e) => e.period},
    ],
    plot: (width) => ({
      width: Math.min(width, 440),
      height: Math.min(width, 440),
      marginLeft: 45, marginRight: 25, marginTop: 30, marginBottom: 40,
      x: {domain: [-1.1, 1.1], label: 'real part', ticks: 5},
      y: {domain: [-1.1, 1.1], label: 'imaginary part', ticks: 5},
      marks: [
        Plot.line(circle, {stroke: 'currentColor', strokeOpacity: 0.5}),
        Plot.ruleX([0], {strokeOpacity: 0.15}), Plot.ruleY([0], {strokeOpacity: 0.15}),
        Plot.dot(model.eigenvalues, {x: 're', y: 'im', r: 4, fill: '#0072b2', className: 'trace',
          title: (e) => `modulus ${formatNumber(e.modulus)}`}),
        Plot.text(named, {x: 're', y: 'im', text: (e) => formatNumber(Math.round((e.period ?? 0) * 100) / 100), dy: -10,
          fill: 'currentColor'}),
      ],
    }),
  });
}

function bloch(model: Model): HTMLElement | null {
  if (model.bloch === null) return null;
  const views = model.bloch.flatMap((p) => [
    {...p, view: 'x–z', across: p.x, up: p.z},
    {...p, view: 'x–y', across: p.x, up: p.y},
  ]);
  const circle = ['x–z', 'x–y'].flatMap((view) => Array.from({length: 61}, (_, i) =>
    ({view, across: Math.cos(i * Math.PI / 30), up: Math.sin(i * Math.PI / 30)})));
  return figure({
    id: `${model.name}-bloch`, title: 'Bloch ball',
    sentence: 'The state of a model with n = 2 is a point in a ball, seen here from two sides: the fixed point, and where each symbol takes it. Pure states lie on the surface.',
    rows: model.bloch,
    columns: [
      {name: 'state', value: (p) => p.name}, {name: 'x', value: (p) => p.x}, {name: 'y', value: (p) => p.y},
      {name: 'z', value: (p) => p.z}, {name: 'probability', value: (p) => p.weight},
    ],
    plot: (width) => ({
      width: Math.min(width, 600),
      height: Math.min(width, 600) / 2 + 25,
      marginLeft: 30, marginRight: 10, marginTop: 30, marginBottom: 25,
      x: {domain: [-1.15, 1.15], label: null, ticks: 3},
      y: {domain: [-1.15, 1.15], label: null, ticks: 3},
      fx: {label: null},
      marks: [
        Plot.line(circle, {x: 'across', y: 'up', fx: 'view', z: 'view', stroke: 'currentColor', strokeOpacity: 0.5}),
        Plot.dot(views, {x: 'across', y: 'up', fx: 'view', fill: (p) => (p.name === 'fixed point' ? '#d55e00' : '#0072b2'),
          className: 'trace', r: (p) => (p.name === 'fixed point' ? 6 : 4), title: (p) => `${shorten(p.name)}: probability ${formatNumber(p.weight)}`}),
        Plot.text(views, {x: 'across', y: 'up', fx: 'view', text: (p) => shorten(p.name, 14), dy: -10}),
      ],
    }),
  });
}

export function modelPage(model: Model): HTMLElement {
  const grid = element('div', {class: 'grid'});
  const id = (what: string) => `${model.name}-${what}`;
  const complex = model.operators.some((o) => o.im !== null);
  const operators = model.operators.flatMap((o) => cellsOf(o.name, o.re, o.im));
  const more = model.operators_left_out > 0 ? ` ${model.operators_left_out} more are not drawn.` : '';
  if (operators.length > 0) {
    grid.append(heat({id: id('operators'), title: complex ? 'Operators, real parts' : 'Operators', cells: operators, part: 're',
      sentence: `A square for each operator; brown is positive, purple negative.${more}`}));
    if (complex)
      grid.append(heat({id: id('operators-im'), title: 'Operators, imaginary parts', cells: operators, part: 'im',
        sentence: `The same operators; all white would be a real model.${more}`}));
  }
  if (model.eigenvalues.length > 0) grid.append(spectrum(model));
  if (model.fixed_point !== null)
    grid.append(heat({id: id('fixed-point'), title: 'Fixed point', part: 'size', perRow: 1,
      cells: cellsOf('fixed point', model.fixed_point.re, model.fixed_point.im),
      sentence: 'Sizes of the entries of the state that the model comes to rest in: the diagonal is the share of time, what lies off it is coherence.'}));
  if (model.choi !== null)
    grid.append(heat({id: id('choi'), title: 'Choi matrix', part: 'size', perRow: 1,
      cells: cellsOf('Choi matrix', model.choi.re, model.choi.im),
      sentence: 'Sizes of the entries of the channel as one positive matrix; each block is what becomes of one entry of the state.'}));
  const ball = bloch(model);
  if (ball !== null) grid.append(ball);
  return element('section', {}, element('h2', {}, 'Model: ', nameOf(model.name)), facts(model.facts), grid);
}
