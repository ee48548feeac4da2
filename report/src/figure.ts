// A figure: a title, a plot, a sentence that says what to see, the numbers in a table, and both to take along.
import * as Plot from '@observablehq/plot';
import {type Column, csv, download, element, nameOf, shorten, table} from './dom';

export interface LegendEntry {
  name: string;
  colour: string;
  dash?: string;
}

export interface FigureSpec<Row> {
  id: string;
  title: string;
  sentence: string;
  plot: (width: number) => Plot.PlotOptions;
  rows: Row[];
  columns: Column<Row>[];
  legend?: LegendEntry[];
}

let serial = 0;

const fileName = (id: string, ending: string) => `${id.replace(/[^a-z0-9-]+/gi, '-')}.${ending}`;

function legendOf(entries: LegendEntry[]): HTMLElement {
  const list = element('ul', {class: 'legend'});
  for (const entry of entries) {
    const mark = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    mark.setAttribute('viewBox', '0 0 26 10');
    mark.setAttribute('aria-hidden', 'true');
    const line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    line.setAttribute('d', 'M1 5h24');
    line.setAttribute('stroke', entry.colour);
    line.setAttribute('stroke-width', '3');
    if (entry.dash) line.setAttribute('stroke-dasharray', entry.dash);
    mark.append(line);
    list.append(element('li', {}, mark as unknown as Node, element('bdi', {}, shorten(entry.name, 60))));
  }
  return list;
}

/// The plot as a file of its own: what it takes from the page is written into it.
function standalone(svg: SVGSVGElement, title: string): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('style', `color: #1b1f24; background: #ffffff; font-family: sans-serif; font-size: 12px`);
  const heading = document.createElementNS('http://www.w3.org/2000/svg', 'title');
  heading.textContent = title;
  copy.prepend(heading);
  return new XMLSerializer().serializeToString(copy);
}

export function figure<Row>(spec: FigureSpec<Row>): HTMLElement {
  const number = ++serial;
  const place = element('div');
  const caption = `sentence-${number}`;
  const out = element('figure', {id: `figure-${spec.id}`, 'data-figure': spec.id},
    element('h3', {}, nameOf(spec.title)), place, spec.legend && spec.legend.length > 1 ? legendOf(spec.legend) : null,
    element('figcaption', {id: caption}, nameWhole(spec.sentence)));
  let svg: SVGSVGElement | null = null;
  const draw = (width: number) => {
    const drawn = Plot.plot({width, ...spec.plot(width)});
    svg = drawn instanceof SVGSVGElement ? drawn : drawn.querySelector('svg');
    // An image to readers of screens, with the table beside it; its parts have no names of their own.
    for (const part of drawn.querySelectorAll('[aria-label], [aria-description], [aria-hidden]'))
      for (const name of ['aria-label', 'aria-description', 'aria-hidden']) part.removeAttribute(name);
    drawn.setAttribute('role', 'img');
    drawn.setAttribute('aria-label', shorten(spec.title));
    drawn.setAttribute('aria-describedby', caption);
    place.replaceChildren(drawn);
  };
  const saveCsv = element('button', {type: 'button'}, 'CSV');
  saveCsv.setAttribute('aria-label', `Save the numbers of “${shorten(spec.title)}” as CSV`);
  saveCsv.addEventListener('click', () => download(fileName(spec.id, 'csv'), 'text/csv', csv(spec.rows, spec.columns)));
  const saveSvg = element('button', {type: 'button'}, 'SVG');
  saveSvg.setAttribute('aria-label', `Save “${shorten(spec.title)}” as SVG`);
  saveSvg.addEventListener('click', () => {
    if (svg !== null) download(fileName(spec.id, 'svg'), 'image/svg+xml', standalone(svg, spec.title));
  });
  // A table of thousands of rows is made when somebody looks at it.
  const numbers = element('details', {}, element('summary', {}, 'The numbers'));
  numbers.addEventListener('toggle', () => {
    if (numbers.childElementCount === 1) numbers.append(table(spec.title, spec.rows, spec.columns));
  });
  out.append(element('div', {class: 'tools'}, saveCsv, saveSvg, numbers));
  let drawn = 0;
  new ResizeObserver((entries) => {
    const width = Math.max(240, Math.min(1100, Math.floor(entries[0].contentRect.width)));
    if (Math.abs(width - drawn) < 8) return;
    drawn = width;
    draw(width);
  }).observe(place);
  return out;
}

const nameWhole = (text: string) => element('span', {}, shorten(text, 600));
