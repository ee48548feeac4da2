// One colour, mark and dash for each method, here and in the SVG figures (hqmm/report/palette.cpp has the same). The
// colours are Okabe and Ito's, told apart by colour-blind readers; marks and dashes tell them apart without colour.

export interface Style {
  name: string;
  colour: string;
  symbol: 'circle' | 'square' | 'triangle' | 'diamond' | 'cross' | 'star' | 'wye' | 'times';
  dash: string;
}

const kMethods: Record<string, Style> = {
  'ns-ris': {name: 'NS-RIS, feasible', colour: '#0072b2', symbol: 'circle', dash: ''},
  'ns-ris-literal': {name: 'NS-RIS, literal', colour: '#d55e00', symbol: 'times', dash: '7 4'},
  'ns-ris-paper': {name: 'NS-RIS, feasible, paper’s protocol', colour: '#56b4e9', symbol: 'triangle', dash: '2 3'},
  'ns-ris-paper-small': {name: 'NS-RIS, feasible, paper’s protocol, small steps', colour: '#7f7f7f', symbol: 'wye', dash: '2 3'},
  'ns-ris-literal-small': {name: 'NS-RIS, literal, small steps', colour: '#a0522d', symbol: 'wye', dash: '7 4'},
  'ns-ris-warm': {name: 'NS-RIS, from EM', colour: '#8a63d2', symbol: 'star', dash: '9 3'},
  cosm: {name: 'COSM', colour: '#009e73', symbol: 'square', dash: '5 2 1 2'},
  givens: {name: 'Givens search', colour: '#cc79a7', symbol: 'diamond', dash: '3 2'},
  em: {name: 'HMM, EM', colour: '#e69f00', symbol: 'cross', dash: '9 3 2 3'},
};

const kOthers = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8a63d2', '#7f7f7f'];
const kSymbols: Style['symbol'][] = ['circle', 'times', 'square', 'diamond', 'cross', 'triangle', 'star', 'wye'];
const kDashes = ['', '7 4', '5 2 1 2', '3 2', '9 3 2 3', '2 3', '9 3', '1 3'];

export const styleOfMethod = (method: string): Style =>
  kMethods[method] ?? {name: method, colour: '#7f7f7f', symbol: 'wye', dash: '1 3'};

/// For things that are not methods, by their place in a list.
export const styleAt = (index: number): Omit<Style, 'name'> => ({
  colour: kOthers[index % kOthers.length],
  symbol: kSymbols[(index + Math.floor(index / 8)) % kSymbols.length],
  dash: kDashes[Math.floor(index / 8) % kDashes.length],
});
