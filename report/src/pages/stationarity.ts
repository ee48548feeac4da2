// The paper's bound on the mean gradient norm, its terms stacked, beside what was measured.
import * as Plot from '@observablehq/plot';
import type {Stationarity} from '../document';
import {element, formatNumber} from '../dom';
import {figure} from '../figure';

const kTerms: [string, string, string][] = [
  ['descent', 'descent, D/(η(1−ε)K)', '#0072b2'],
  ['smoothness', 'smoothness, L(1+ε)²η/(1−ε)', '#56b4e9'],
  ['retraction', 'retraction, (2G₁ρ̄ + Lq̄)/(η(1−ε))', '#009e73'],
  ['tracking', 'tracking of the momentum, 2𝒯/(1−ε)', '#e69f00'],
];
const kMeasured = '#d55e00';

export function stationarity(name: string, found: Stationarity): HTMLElement {
  const rows = [
    {bar: 'measured', term: 'measured left side', value: found.measured, colour: kMeasured},
    ...kTerms.map(([key, term, colour]) => ({bar: 'bound', term, value: found.terms[key] ?? null, colour})),
  ];
  const finite = rows.filter((r): r is typeof r & {value: number} => r.value !== null && Number.isFinite(r.value));
  const drawn = figure({
    id: `${name}-stationarity`, title: 'The paper’s bound, measured',
    sentence: `The mean nuclear norm of the gradient (${found.measured === null ? '–' : formatNumber(found.measured)}) against the terms of the bound (${
      found.bound === null ? 'infinite' : formatNumber(found.bound)}): it ${found.holds ? 'holds' : 'does not hold'}, and the largest term says why it is loose.`,
    legend: rows.map((r) => ({name: r.term, colour: r.colour})),
    rows,
    columns: [{name: 'side', value: (r) => r.bar}, {name: 'term', value: (r) => r.term}, {name: 'value', value: (r) => r.value}],
    plot: () => ({
      height: 150,
      marginLeft: 80,
      x: {label: 'nuclear norm', grid: true},
      y: {label: null, domain: ['measured', 'bound']},
      marks: [Plot.barX(finite, {x: 'value', y: 'bar', fill: 'colour', order: null, title: (r) => `${r.term}\n${formatNumber(r.value)}`, className: 'trace'}),
        Plot.ruleX([0])],
    }),
  });
  const list = element('ul');
  for (const [key, met] of Object.entries(found.assumptions))
    list.append(element('li', {}, `${key.replaceAll('_', ' ')}: ${met ? 'met' : 'violated'}`));
  return element('div', {}, drawn, element('p', {}, 'What the theorem assumes, and whether this run met it:'), list);
}
