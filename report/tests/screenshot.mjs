// The top of a page as a picture: node screenshot.mjs PAGE.html PICTURE.png
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const require = createRequire(join(process.env.HQMM_BROWSER_PACKAGES, 'package.json'));
const {chromium} = require('playwright-core');
const [page_file, picture] = process.argv.slice(2);

const browser = await chromium.launch({executablePath: process.env.HQMM_CHROMIUM, args: ['--no-sandbox', '--disable-gpu']});
try {
  const page = await browser.newPage({viewport: {width: 1100, height: 700}, colorScheme: 'light', offline: true});
  await page.goto(pathToFileURL(page_file).href);
  await page.waitForSelector('main[data-drawn]');
  await page.waitForFunction(() => [...document.querySelectorAll('figure')].every((f) => f.querySelector('svg[role=img]') !== null));
  await page.screenshot({path: picture});
} finally {
  await browser.close();
}
