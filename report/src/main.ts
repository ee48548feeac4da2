// Draws the document that stands in the page, and draws it again when a live run sends more.
import type {Document, Item, Run} from './document';
import {element, nameOf, shorten} from './dom';
import {classifier, crossValidation} from './pages/classification';
import {comparison, scoresSection} from './pages/comparison';
import {modelPage} from './pages/model';
import {reproduction} from './pages/reproduction';
import {study} from './pages/study';
import {training} from './pages/training';

function sectionsOf(item: Item): HTMLElement[] {
  switch (item.kind) {
    case 'run': return [training(item), ...(item.model === null ? [] : [modelPage(item.model)])];
    case 'model': return [modelPage(item)];
    case 'reproduction': return [reproduction(item)];
    case 'study': return [study(item)];
    case 'cross-validation': return [crossValidation(item)];
    case 'classifier': return [classifier(item)];
  }
}

const kOpenAtOnce = 3;

/// With many items, each is drawn when it is opened: 200 runs stay usable.
function folded(item: Item): HTMLElement {
  const out = element('details', {}, element('summary', {}, nameOf(item.name)));
  out.addEventListener('toggle', () => {
    if (out.childElementCount === 1) out.append(...sectionsOf(item));
  });
  return out;
}

function draw(page: Document): void {
  const main = document.getElementById('page') as HTMLElement;
  document.title = page.title;
  const runs = page.items.filter((item): item is Run => item.kind === 'run');
  const sections = [
    ...(runs.length > 1 ? [comparison(page)] : []),
    ...(page.scores === null ? [] : [scoresSection(page.scores)]),
    ...(page.items.length <= kOpenAtOnce ? page.items.flatMap(sectionsOf) :
      [element('section', {}, element('h2', {}, 'One by one'), ...page.items.map(folded))]),
  ];
  const list = element('ul');
  sections.forEach((section, index) => {
    section.id = `section-${index}`;
    list.append(element('li', {}, element('a', {href: `#section-${index}`}, shorten(section.querySelector('h2')?.textContent ?? '', 60))));
  });
  main.replaceChildren(element('h1', {}, nameOf(page.title)),
    element('p', {class: 'lead'}, `Written by hqmm ${page.version}. Every figure has its numbers beside it; nothing here is loaded from elsewhere.`),
    sections.length > 1 ? element('nav', {'aria-label': 'Contents'}, list) : element('span'), ...sections);
  main.dataset.drawn = String(Number(main.dataset.drawn ?? 0) + 1);
}

const text = document.getElementById('document')?.textContent ?? '';
const first = JSON.parse(text) as Document;
draw(first);
if (first.live && location.protocol.startsWith('http')) {
  const events = new EventSource('events');
  events.addEventListener('document', (event) => {
    const {scrollX, scrollY} = window;
    draw(JSON.parse((event as MessageEvent<string>).data) as Document);
    window.scrollTo(scrollX, scrollY);
  });
  events.addEventListener('end', () => events.close());
}
