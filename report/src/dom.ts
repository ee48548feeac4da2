// Elements made of tags, attributes and children. Text is always a text node: names from files are never HTML.

export type Child = Node | string | null;

export function element(tag: string, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElement {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) out.setAttribute(name, value);
  for (const child of children) if (child !== null) out.append(child);
  return out;
}

const kLongest = 120;

/// A name from outside: in a direction of its own, cut when it is very long, whole in its tooltip.
export function nameOf(text: string): HTMLElement {
  const shown = shorten(text);
  return element('bdi', shown === text ? {} : {title: text.slice(0, 2000)}, shown);
}

/// Control and direction marks are made visible: text in a plot has no direction of its own.
export function shorten(text: string, longest = kLongest): string {
  const plain = text.replace(/[\u0000-\u001f\u007f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
  const letters = Array.from(plain);
  return letters.length <= longest ? plain : letters.slice(0, longest - 1).join('') + '…';
}

export interface Column<Row> {
  name: string;
  value: (row: Row) => string | number | boolean | null | undefined;
}

export const cell = (value: unknown): string => {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : formatNumber(value);
  if (typeof value === 'string') return value;
  return JSON.stringify(value);
};

export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(3);
  return String(Number(value.toPrecision(6)));
}

const kMostRows = 500;

/// A table that can be scrolled with the keyboard; after 500 rows it says how many more the CSV has.
export function table<Row>(label: string, rows: Row[], columns: Column<Row>[]): HTMLElement {
  const body = element('tbody');
  for (const row of rows.slice(0, kMostRows)) {
    const line = element('tr');
    for (const column of columns) {
      const value = column.value(row);
      line.append(element('td', typeof value === 'number' ? {class: 'number'} : {},
        typeof value === 'string' ? nameOf(value) : cell(value)));
    }
    body.append(line);
  }
  const head = element('tr', {}, ...columns.map((column) => element('th', {scope: 'col'}, nameOf(column.name))));
  return element('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': shorten(label)},
    element('table', {}, element('thead', {}, head), body),
    rows.length > kMostRows ? element('p', {}, `${rows.length - kMostRows} more rows are in the CSV.`) : null);
}

/// As spreadsheets read it. A cell that a spreadsheet would take for a formula is written as text.
export function csv<Row>(rows: Row[], columns: Column<Row>[]): string {
  const quoted = (value: unknown): string => {
    if (value === null || value === undefined) return '';
    let text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    if (typeof value === 'string' && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [columns.map((column) => quoted(column.name)), ...rows.map((row) => columns.map((c) => quoted(c.value(row))))];
  return lines.map((line) => line.join(',')).join('\r\n') + '\r\n';
}

export function download(name: string, type: string, text: string): void {
  const link = element('a', {download: name, href: URL.createObjectURL(new Blob([text], {type}))}) as HTMLAnchorElement;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/// Facts in two columns.
export function facts(pairs: [string, string][]): HTMLElement {
  return table('Facts', pairs, [{name: 'what', value: (p) => p[0]}, {name: 'value', value: (p) => p[1]}]);
}
