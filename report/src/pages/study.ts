// A study: bits against parameters and against seconds, and which models nothing else beats.
import * as Plot from '@observablehq/plot';
import type {Study, StudyRow} from '../document';
import {element, formatNumber, nameOf} from '../dom';
import {figure} from '../figure';
import {styleAt} from '../palette';

type Axis = 'parameters' | 'seconds';

/// Models that no other beats in both: the fewest bits for what they cost.
export function frontier(rows: StudyRow[], axis: Axis): StudyRow[] {
  const sorted = rows.filter((r) => (r[axis] ?? 0) > 0 && r.bits !== null)
    .sort((a, b) => (a[axis] as number) - (b[axis] as number) || (a.bits as number) - (b.bits as number));
  const out: StudyRow[] = [];
  for (const row of sorted)
    if (out.length === 0 || (row.bits as number) < (out[out.length - 1].bits as number)) out.push(row);
  return out;
}

/// Markov chains of all orders are of one kind, and so are compressors.
const kindOf = (row: StudyRow) => row.model.replace(/, order \d+$/, '').replace(/, equal parameters$/, '');

const columns = [
  {name: 'model', value: (r: StudyRow) => r.model}, {name: 'n', value: (r: StudyRow) => r.n}, {name: 'w', value: (r: StudyRow) => r.w},
  {name: 'seed', value: (r: StudyRow) => r.seed ?? null}, {name: 'parameters', value: (r: StudyRow) => r.parameters},
  {name: 'bits', value: (r: StudyRow) => r.bits}, {name: 'difference', value: (r: StudyRow) => r.difference},
  {name: 'standard error', value: (r: StudyRow) => r.standard_error}, {name: 'seconds', value: (r: StudyRow) => r.seconds},
];

function scatter(id: string, title: string, rows: StudyRow[], axis: Axis, kinds: string[]): HTMLElement | null {
  const shown = rows.filter((r) => (r[axis] ?? 0) > 0 && r.bits !== null);
  if (shown.length === 0) return null;
  const style = (r: StudyRow) => styleAt(kinds.indexOf(kindOf(r)));
  return figure<StudyRow>({
    id: `${id}-${axis}`, title: `${title}: bits against ${axis}`,
    sentence: `Lower and further left is better. The line joins the models that no other beats in both. Whiskers are two standard errors of the difference from the first row.`,
    legend: kinds.filter((k) => shown.some((r) => kindOf(r) === k)).map((k) => ({name: k, colour: styleAt(kinds.indexOf(k)).colour})),
    rows: shown, columns,
    plot: () => ({
      height: 340,
      marginLeft: 58, inset: 6,
      x: {label: axis, type: 'log', grid: true},
      y: {label: 'bits per symbol', grid: true},
      symbol: {type: 'identity'},
      marks: [
        Plot.line(frontier(shown, axis), {x: axis, y: 'bits', stroke: 'currentColor', strokeOpacity: 0.4, curve: 'step-after'}),
        Plot.ruleX(shown.filter((r) => r.standard_error !== null), {x: axis, stroke: (r: StudyRow) => style(r).colour,
          y1: (r: StudyRow) => (r.bits as number) - 2 * (r.standard_error ?? 0), y2: (r: StudyRow) => (r.bits as number) + 2 * (r.standard_error ?? 0)}),
        Plot.dot(shown, {x: axis, y: 'bits', r: 4, stroke: (r: StudyRow) => style(r).colour, strokeWidth: 2, className: 'trace',
          symbol: (r: StudyRow) => style(r).symbol,
          title: (r: StudyRow) => `${r.model}${r.n === null ? '' : `, n = ${r.n}`}\n${formatNumber(r.bits as number)} bits, ${r.parameters ?? '–'} parameters`}),
      ],
    }),
  });
}

export function study(item: Study): HTMLElement {
  const out = element('section', {}, element('h2', {}, 'Study: ', nameOf(item.name)));
  for (const [name, rows] of Object.entries(item.tables)) {
    const kinds = [...new Set(rows.map(kindOf))];
    const grid = element('div', {class: 'grid'});
    for (const axis of ['parameters', 'seconds'] as Axis[]) {
      const one = scatter(`${item.name}-${name}`, name, rows, axis, kinds);
      if (one !== null) grid.append(one);
    }
    out.append(grid);
  }
  return out;
}
