// What hqmm writes into the page: one JSON document. The same names stand in hqmm/report/ of the library.

export type Numbers = (number | null)[];

export interface Restart {
  restart: number;
  epoch: number[];
  seconds: Numbers;
  train_bits: Numbers;
  validation_bits: Numbers;
  train_da: Numbers;
  validation_da: Numbers;
  raw_validation_bits: Numbers | null;
  feasibility_residual: Numbers;
  gradient_nuclear_norm: Numbers;
  step_size: Numbers;
}

export interface Truth {
  bits_per_symbol: number | null;
  da: number | null;
}

export interface Run {
  kind: 'run';
  name: string;
  method: string;
  status: string;
  unfinished: boolean;
  seconds: number;
  epochs_done: number;
  epochs_shown: number;
  options: Record<string, unknown>;
  other_than_default: Record<string, unknown>;
  facts: [string, string][];
  restarts: Restart[];
  best: {restart: number; epoch: number; validation_bits: number | null; validation_da: number | null} | null;
  truth: Truth | null;
  stationarity: Stationarity | null;
  model: Model | null;
}

export interface Stationarity {
  terms: Record<string, number | null>;
  measured: number | null;
  bound: number | null;
  holds: boolean;
  assumptions: Record<string, boolean>;
  [key: string]: unknown;
}

export interface Operator {
  name: string;
  re: number[][];
  im: number[][] | null;
}

export interface Eigenvalue {
  re: number;
  im: number;
  modulus: number;
  period: number | null;
}

export interface Model {
  kind: 'model';
  name: string;
  model_kind: string;
  facts: [string, string][];
  alphabet: string[];
  operators: Operator[];
  operators_left_out: number;
  fixed_point: {re: number[][]; im: number[][]} | null;
  choi: {re: number[][]; im: number[][]} | null;
  eigenvalues: Eigenvalue[];
  mixing_rate: number | null;
  bloch: {name: string; x: number; y: number; z: number; weight: number}[] | null;
}

export interface Walk {
  name: string;
  sequence: string;
  tokens: string[];
  came: (number | null)[];
  probabilities: number[][];
}

export interface Scores {
  data: string;
  sequences: string[];
  rows: {name: string; method: string; bits_per_symbol: number | null; da: number | null; per_sequence: Numbers}[];
  walks: Walk[];
}

export interface Spread {
  mean: number | null;
  standard_deviation: number | null;
  standard_error: number | null;
}

export interface ReproductionGroup {
  study: string;
  method: string;
  n: number;
  w: number;
  [key: string]: unknown;
}

export interface Reproduction {
  kind: 'reproduction';
  name: string;
  results: {
    provenance: Record<string, unknown>;
    true_models: Record<string, {test_da: number; validation_da: number; train_da: number}>;
    summary: ReproductionGroup[];
    paired_tests: Record<string, unknown>[];
    paper?: PaperFigure[];
  };
}

export interface PaperFigure {
  study: string;
  method: string;
  n: number;
  w: number;
  quantity: string;
  value: number;
}

export interface StudyRow {
  model: string;
  n: number | null;
  w: number | null;
  seed?: number | null;
  parameters: number | null;
  bits: number | null;
  difference: number | null;
  standard_error: number | null;
  seconds: number | null;
}

export interface Study {
  kind: 'study';
  name: string;
  tables: Record<string, StudyRow[]>;
}

export interface CrossValidation {
  kind: 'cross-validation';
  name: string;
  results: {
    classes: string[];
    folds: {fold: number; mean_class_error: number; overall_error: number; class_error?: Record<string, number | null>}[];
    mean_class_error: number;
    mean_class_error_standard_error: number | null;
    class_error: Record<string, number | null>;
    class_error_standard_error: Record<string, number | null>;
    confusion: number[][];
    calibration: {expected_calibration_error: number | null;
      bins: {from: number; to: number; rows: number; confidence: number | null; accuracy: number | null}[]};
    baselines: {name: string; mean_class_error: number; mean_class_error_standard_error: number | null;
      class_error: Record<string, number | null>}[];
    provenance: Record<string, unknown>;
  };
}

export interface Classifier {
  kind: 'classifier';
  name: string;
  facts: [string, string][];
  classes: string[];
  alphabet: string[];
  logo: {class: string; position: number; symbol: string; log_odds: number; frequency: number}[];
}

export type Item = Run | Model | Reproduction | Study | CrossValidation | Classifier;

export interface Document {
  version: string;
  title: string;
  live: boolean;
  items: Item[];
  scores: Scores | null;
}
