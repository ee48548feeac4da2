// Opens the pages of hqmm report in Chromium, from disk and without a network, and looks at them as a reader would.
// HQMM_BINARY is the executable, HQMM_CHROMIUM the browser, HQMM_BROWSER_PACKAGES the folder with node_modules.
import assert from 'node:assert/strict';
import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';

const require = createRequire(join(process.env.HQMM_BROWSER_PACKAGES, 'package.json'));
const {chromium} = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const folder = mkdtempSync(join(tmpdir(), 'hqmm-report-'));
const at = (name) => join(folder, name);
const hqmm = (...words) => execFileSync(process.env.HQMM_BINARY, words, {cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
// Quotes, tags, an emoji and a mark that turns the direction of text; no file name may hold a slash.
const kHostile = 'run <img src=x onerror="window.hacked=1">\'"&😀\u202e';
const kScript = '</script><script>window.hacked=1</script>';

let browser;

before(async () => {
  const word = (i) => `${i % 2} ${(i * i) % 3} ${i % 3} `;
  writeFileSync(at('train.txt'), Array.from({length: 12}, (_, k) => Array.from({length: 20}, (_, i) => word(i + k)).join('') + '\n').join(''));
  writeFileSync(at('test.txt'), Array.from({length: 6}, (_, k) => Array.from({length: 20}, (_, i) => word(3 * i + k)).join('') + '\n').join(''));
  const train = (name, ...more) => hqmm('train', 'train.txt', '--validation', 'test.txt', '-n', '2', '--epochs', '4', '--run', name, '-o', `${name}.h5`, '--quiet', ...more);
  train('first', '--restarts', '3');
  train('second', '-w', '1', '--schedule', 'constant', '--stationarity');
  renameSync(at('first'), at(kHostile));
  hqmm('train', 'train.txt', '--learner', 'em', '-n', '2', '-o', 'hmm.h5', '--quiet');
  browser = await chromium.launch({executablePath: process.env.HQMM_CHROMIUM, args: ['--no-sandbox', '--disable-gpu']});
});

after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

/// The page in a browser without a network. What it complains of, and what it asks for, is kept.
async function open(file, {width = 1200, scheme = 'light'} = {}) {
  const context = await browser.newContext({viewport: {width, height: 900}, colorScheme: scheme, offline: true, acceptDownloads: true});
  const page = await context.newPage();
  page.setDefaultTimeout(120_000); // other tests keep the machine busy
  const seen = {errors: [], requests: []};
  page.on('console', (message) => { if (message.type() === 'error') seen.errors.push(message.text()); });
  page.on('pageerror', (error) => seen.errors.push(String(error)));
  page.on('request', (request) => { if (!/^(data|blob):/.test(request.url())) seen.requests.push(request.url()); });
  await page.goto(pathToFileURL(at(file)).href);
  await page.waitForSelector('main[data-drawn]');
  // Figures are drawn when their place has a width; a frame later all of them have.
  await page.waitForFunction(() => [...document.querySelectorAll('figure')].every((f) => f.querySelector('svg[role=img]') !== null), null)
      .catch(async () => assert.fail(`${file}: not drawn: ${await page.$$eval('figure', (all) => all.filter((f) => !f.querySelector('svg[role=img]')).map((f) => f.id))}; ${seen.errors}`));
  return {context, page, seen};
}

const kViews = [[360, 'light'], [360, 'dark'], [1280, 'light'], [1280, 'dark']];

async function looksRight(file, views = kViews) {
  for (const [width, scheme] of views) {
    const {context, page, seen} = await open(file, {width, scheme});
    assert.deepEqual(seen.errors, [], `${file} at ${width}`);
    assert.equal(seen.requests.length, 1, `${file} asks for nothing but itself: ${seen.requests}`);
    assert.ok(await page.evaluate(() => document.scrollingElement.scrollWidth) <= width, `${file} fits into ${width} px`);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    const traces = await page.$$eval('figure', (all) => all.map((f) => [f.dataset.figure, f.querySelectorAll('svg .trace').length]));
    for (const [name, count] of traces) assert.ok(count > 0, `${name} of ${file} has a trace`);
    await page.evaluate(axe);
    const found = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
    const serious = found.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical');
    assert.deepEqual(serious.map((v) => `${v.id}: ${v.nodes[0].html}`), [], `${file}, ${scheme}`);
    await context.close();
  }
}

const documentOf = (file) => JSON.parse(/<script type="application\/json" id="document">(.*?)<\/script>/s.exec(readFileSync(at(file), 'utf8'))[1]);

test('the program of the page is well typed', (t) => {
  const packages = join(dirname(process.env.HQMM_BINARY), 'report', 'packages', 'node_modules');
  if (!existsSync(packages)) {
    t.skip('the packages of the page are not beside the executable');
    return;
  }
  const here = join(dirname(fileURLToPath(import.meta.url)), '..');
  writeFileSync(at('tsconfig.json'), JSON.stringify({extends: join(here, 'tsconfig.json'), include: [join(here, 'src')],
    compilerOptions: {paths: {'*': [join(packages, '*')]}}}));
  const done = spawnSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', at('tsconfig.json')], {encoding: 'utf8'});
  assert.equal(done.stdout + done.stderr, '');
});

test('a run: traces, numbers that are those of the document, a file to take along', async () => {
  hqmm('report', kHostile, '--data', 'test.txt', '-o', 'run.html', '--quiet');
  await looksRight('run.html');
  const {context, page} = await open('run.html');
  const bits = page.locator('figure').filter({has: page.getByRole('heading', {name: 'Bits per symbol', exact: true})});
  assert.equal(await bits.locator('svg .trace').count(), 2, 'training and validation');
  assert.equal(await bits.locator('svg .trace').nth(1).locator('path').count(), 3, 'a line for each restart');
  await bits.locator('summary').click();
  await bits.locator('tbody tr').last().waitFor();
  const shown = await bits.locator('tbody tr').evaluateAll((rows) => rows.map((r) => [...r.children].map((c) => c.textContent)));
  const run = documentOf('run.html').items[0];
  const expected = ['train_bits', 'validation_bits'].flatMap((key) => run.restarts.flatMap((r) =>
    r[key].flatMap((value, i) => (value === null ? [] : [[r.restart + 1, r.epoch[i], value]]))));
  assert.equal(shown.length, expected.length);
  expected.forEach(([restart, epoch, value], i) => {
    assert.deepEqual(shown[i].slice(0, 2), [String(restart), String(epoch)]);
    assert.ok(Math.abs(Number(shown[i][3]) - value) <= 1e-5 * Math.abs(value), `${shown[i][3]} is ${value}`);
  });
  const fan = page.locator('figure').filter({has: page.getByRole('heading', {name: 'Restarts as a fan', exact: true})});
  assert.equal(await fan.locator('svg .trace').count(), 3, 'all, half and the middle');
  await fan.locator('summary').click();
  await fan.locator('tbody tr').last().waitFor();
  const last = await fan.locator('tbody tr').last().locator('td').allTextContents();
  const ends = run.restarts.map((r) => r.validation_bits.at(-1)).sort((a, b) => a - b);
  assert.deepEqual(last.slice(0, 2), ['4', '3']);
  [[2, ends[0]], [4, ends[1]], [5, (ends[1] + ends[2]) / 2], [6, ends[2]]].forEach(([column, value]) =>
    assert.ok(Math.abs(Number(last[column]) - value) <= 1e-5 * value, `${last[column]} is ${value}`));
  const [saved] = await Promise.all([page.waitForEvent('download'), bits.getByRole('button', {name: /as CSV/}).click()]);
  const text = readFileSync(await saved.path(), 'utf8');
  assert.equal(text.trim().split('\r\n').length, expected.length + 1);
  assert.ok((await page.locator('h1').textContent()).startsWith('run <img src=x'), 'a name is text');
  await context.close();
});

test('all is reached with the keyboard', async () => {
  const {context, page} = await open('run.html');
  const reached = new Set();
  for (let i = 0; i < 200; ++i) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => document.activeElement?.tagName ?? ''));
  }
  for (const tag of ['BUTTON', 'SUMMARY', 'A']) assert.ok(reached.has(tag), tag);
  await context.close();
});

test('several runs side by side', async () => {
  hqmm('report', kHostile, 'second', '--data', 'test.txt', '-o', 'runs.html', '--quiet');
  await looksRight('runs.html');
  const {context, page} = await open('runs.html');
  assert.equal(await page.locator('[data-figure="comparison-curves"] svg .trace').count(), 2);
  assert.equal(await page.locator('[data-figure="comparison-paired"] svg .trace circle').count(), 1);
  assert.ok(await page.locator('[data-figure="second-stationarity"]').count() === 1);
  await context.close();
});

test('models: an HQMM and an HMM', async () => {
  hqmm('report', 'second.h5', 'hmm.h5', '-o', 'models.html', '--quiet');
  await looksRight('models.html');
  const {context, page} = await open('models.html');
  const model = documentOf('models.html').items[0];
  assert.equal(await page.locator('[data-figure="second.h5-spectrum"] svg .trace circle').count(), model.eigenvalues.length);
  assert.equal(await page.locator('[data-figure="second.h5-choi"] svg .trace rect').count(), 16);
  await context.close();
});

test('a reproduction, a study and a cross-validation', async () => {
  const spread = (mean) => ({mean, standard_deviation: 0.01, standard_error: 0.005});
  writeFileSync(at('results.json'), JSON.stringify({
    provenance: {command: `hqmm reproduce ${kScript}`, data: 'made up'}, cells: [], paired_tests: [],
    true_models: {'synthetic-hqmm': {train_da: 0.13, validation_da: 0.13, test_da: 0.13}},
    paper: [{study: 'synthetic-hqmm', method: 'cosm', n: 2, w: 1, quantity: 'test', value: 0.1292},
      {study: 'synthetic-hmm', method: 'ns-ris-literal', n: 0, w: 0, quantity: 'test', value: 0.2615},
      {study: 'splice', method: 'cosm', n: 6, w: 4, quantity: 'mean_class_error', value: 0.44},
      {study: 'splice', method: 'cosm', n: 6, w: 4, quantity: 'class_error_ie', value: 0.357}],
    summary: [...[[2, 0], [2, 1], [6, 1], [6, 2]].map(([n, w]) => ({study: 'synthetic-hmm', method: w === 0 ? 'em' : 'ns-ris', n, w,
      test: spread(0.2), raw_test: null, seconds: spread(2)})),
    {study: 'splice', protocol: 'peers', method: 'cosm', n: 6, w: 4, mean_class_error: spread(0.4), class_errors: [0.3, 0.4, 0.5], seconds: spread(3)},
    ...['ns-ris', 'ns-ris-literal', 'cosm', 'em'].map((method) => ({study: 'synthetic-hqmm', method, n: 2, w: method === 'em' ? 0 : 1,
      test: spread(0.12), raw_test: method === 'ns-ris-literal' ? spread(0.15) : null, seconds: spread(1.5)}))],
  }));
  const row = (model, k) => ({model, n: 2, w: 2, seed: 1, parameters: 10 * k, bits: 2 - 0.01 * k, difference: 0.1, standard_error: 0.001, seconds: k});
  writeFileSync(at('study.json'), JSON.stringify({tables: {['t' + kScript]: [
    row('HQMM ' + kHostile, 1), row('m'.repeat(10000), 2), row('HMM', 3), {...row('gzip', 4), parameters: null, seconds: null}]}}));
  const classes = ['EI', kScript, 'N'];
  const errors = Object.fromEntries(classes.map((name, i) => [name, 0.03 * (i + 1)]));
  writeFileSync(at('cv.json'), JSON.stringify({classes, folds: [{fold: 0, mean_class_error: 0.05, overall_error: 0.05}],
    mean_class_error: 0.05, mean_class_error_standard_error: 0.01, class_error: errors, class_error_standard_error: errors,
    confusion: [[9, 1, 0], [1, 9, 0], [0, 0, 10]], calibration: {expected_calibration_error: 0.01, bins: [
      {from: 0, to: 0.5, rows: 3, confidence: 0.4, accuracy: 0.5}, {from: 0.5, to: 1, rows: 27, confidence: 0.9, accuracy: 0.95}]},
    baselines: [{name: 'order 1', mean_class_error: 0.1, mean_class_error_standard_error: null, class_error: errors}], provenance: {}}));
  const figures = {'synthetic-hmm-da': 3, 'synthetic-hmm-da-n6': 2, 'synthetic-hmm-seconds-n6': 2, 'synthetic-hqmm-da': 6, 'splice-peers': 2,
    'splice-classes': 4};
  for (const name of ['results', 'study', 'cv']) {
    hqmm('report', `${name}.json`, '-o', `${name}.html`, '--quiet');
    await looksRight(`${name}.html`);
  }
  const drawn = await open('results.html');
  for (const [name, marks] of Object.entries(figures)) {
    const one = drawn.page.locator(`[data-figure="results.json-${name}"]`);
    assert.equal(await one.locator('svg .trace > *').count(), marks, name);
  }
  const levels = await drawn.page.locator('[data-figure="results.json-synthetic-hmm-da"]').textContent();
  assert.match(levels, /the paper’s best .*, printed/);
  await drawn.context.close();
  const {context, page} = await open('study.html');
  assert.equal(await page.locator('figure').first().locator('svg .trace path').count(), 3, 'gzip has no parameters');
  await context.close();
});

test('names in data, models and classifiers are text', async () => {
  const tokens = ['<script>window.hacked=1</script>', '</script>', '"\'&<b>', '😀', '\u202e\u200fabc\u061c', 'm'.repeat(10000)];
  const lines = Array.from({length: 12}, (_, k) => Array.from({length: 8}, (_, i) => tokens[(i * (k % 3 + 1) + k) % tokens.length]));
  writeFileSync(at('names.txt'), lines.map((line) => line.join(' ') + '\n').join(''));
  const classes = ['<img/src=x/onerror=window.hacked=1>', '</script><script>window.hacked=1</script>\u202e', 'c'.repeat(10000)];
  writeFileSync(at('classes.txt'), lines.map((line, k) => `${classes[k % 3]}\t${line.join(' ')}\n`).join(''));
  hqmm('train', 'names.txt', '--alphabet', tokens.join(','), '-n', '2', '--epochs', '2', '--run', 'names', '-o', 'names.h5', '--quiet');
  hqmm('classify', 'fit', 'classes.txt', '--alphabet', tokens.join(','), '-o', 'classifier.h5', '--epochs', '1', '--grid', 'none', '--positions', 'each', '--quiet');
  hqmm('report', 'names', 'names.h5', 'classifier.h5', '--data', 'names.txt', '--alphabet', tokens.join(','), '--title', kScript + 't'.repeat(10000), '-o', 'names.html', '--quiet');
  await looksRight('names.html');
  const {context, page} = await open('names.html');
  assert.equal(await page.$$eval('script', (all) => all.length), 2, 'the document and the program');
  assert.equal(await page.$$eval('main img, main script, main b', (all) => all.length), 0);
  assert.ok((await page.locator('h1').textContent()).startsWith('</script><script>window'));
  const texts = await page.$$eval('svg text', (all) => all.map((t) => [t.closest('figure').dataset.figure.slice(0, 60), t.firstChild?.nodeValue ?? '']));
  assert.ok(texts.length > 0);
  for (const [where, text] of texts) {
    assert.ok(text.length < 200, `labels are cut in ${where}`);
    assert.ok(!/[\u200e\u200f\u202a-\u202e]/.test(text), `marks of direction are shown in ${where}`);
  }
  await context.close();
});

test('the page of the demo is small', async () => {
  hqmm('reproduce', 'all', '--quick', '-o', 'demo', '--quiet');
  hqmm('report', 'demo', '--title', 'hqmm demo', '-o', 'demo.html', '--quiet');
  assert.ok(statSync(at('demo.html')).size < 2e6);
  await looksRight('demo.html');
});

/// A training that shows itself: the process, and where.
async function live(...words) {
  const process = spawn(globalThis.process.env.HQMM_BINARY, ['train', 'train.txt', '-n', '2', '--epochs', '100000000', '--run', 'live', '--live', ...words],
      {cwd: folder, stdio: ['ignore', 'ignore', 'pipe']});
  const ended = new Promise((resolve) => process.on('exit', resolve));
  const told = [];
  for await (const line of createInterface(process.stderr)) {
    told.push(line);
    const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(line);
    if (found) return {process, ended, address: found[0]};
  }
  return {told: told.join('\n')};
}

test('a run that trains is drawn again until it ends', async (t) => {
  const {process, ended, address, told} = await live();
  if (told !== undefined) {
    assert.match(told, /cannot serve a page/);
    t.skip(told);
    return;
  }
  try {
    const page = await browser.newPage();
    const errors = [], elsewhere = [];
    page.on('console', (message) => { if (message.type() === 'error') errors.push(message.text()); });
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('request', (request) => { if (!request.url().startsWith(address) && !/^(data|blob):/.test(request.url())) elsewhere.push(request.url()); });
    await page.goto(address);
    await page.waitForFunction(() => Number(document.querySelector('main').dataset.drawn) >= 3);
    assert.ok((await page.locator('main').textContent()).includes('training now'));
    process.kill('SIGINT');
    await page.waitForFunction(() => document.querySelector('main').textContent.includes('interrupted'));
    assert.equal(await ended, 130);
    assert.deepEqual([errors, elsewhere], [[], []]);
    await page.close();
  } finally {
    process.kill('SIGKILL');
  }
});

test('a long history is thinned, many runs stay usable', async () => {
  const line = (epoch, best) => JSON.stringify({restart: 0, epoch, train: {symbols: 100, log_likelihood: -100 - 50 / (1 + epoch), da: 0.1},
    validation: {symbols: 100, log_likelihood: -100 - 60 / (1 + epoch), da: 0.1}, feasibility_residual: 1e-15,
    gradient_nuclear_norm: 1, step_size: 0.1, halved_steps: 0, seconds: epoch, best: epoch === best});
  const config = readFileSync(join(at('second'), 'config.json'));
  const make = (name, epochs, best) => {
    mkdirSync(at(name));
    writeFileSync(join(at(name), 'config.json'), config);
    writeFileSync(join(at(name), 'history.jsonl'), Array.from({length: epochs}, (_, e) => line(e, best)).join('\n') + '\n');
  };
  make('long', 100000, 77777);
  hqmm('report', 'long', '-o', 'long.html', '--quiet');
  assert.ok(statSync(at('long.html')).size < 5e6);
  const run = documentOf('long.html').items[0];
  assert.ok(run.restarts[0].epoch.length <= 1001 && run.restarts[0].epoch.includes(77777), 'the best epoch is kept');
  const drawn = await open('long.html');
  const line_of = drawn.page.locator('figure').first().locator('svg .trace path').last();
  assert.ok((await line_of.getAttribute('d')).split(/[LMC]/).length > 500);
  assert.deepEqual(drawn.seen.errors, []);
  await drawn.context.close();
  const names = Array.from({length: 200}, (_, i) => `many-${i}`);
  for (const name of names) make(name, 30, 20);
  hqmm('report', ...names, '-o', 'many.html', '--quiet');
  await looksRight('many.html', [[360, 'light']]);
  const {context, page, seen} = await open('many.html');
  assert.equal(await page.locator('[data-figure="comparison-curves"] svg .trace').count(), 200);
  assert.deepEqual(seen.errors, []);
  await context.close();
});
