// Makes one page of the sources, its script and its style inside, and writes it as a C++ source file.
// usage: node build.mjs OUTPUT.cpp PACKAGES   (the folder that holds node_modules)
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

const sources = join(dirname(fileURLToPath(import.meta.url)), 'src');
const [output, packages] = process.argv.slice(2);
const {build} = createRequire(join(resolve(packages), 'package.json'))('esbuild');

async function bundle(file) {
  const result = await build({
    entryPoints: [join(sources, file)],
    bundle: true,
    minify: true,
    write: false,
    target: 'es2020',
    charset: 'ascii',
    legalComments: 'none',
    nodePaths: [join(resolve(packages), 'node_modules')],
  });
  // Nothing in a script may end it.
  return result.outputFiles[0].text.trim().replaceAll('</script', '<\\/script');
}

const style = await bundle('style.css');
const script = await bundle('main.ts');
// Functions: what is put in may hold a "$".
const page = readFileSync(join(sources, 'page.html'), 'utf8')
    .replace('/* style */', () => style)
    .replace('/* script */', () => script);

// Literals are kept short enough for any compiler.
const kPiece = 12000;
const pieces = [];
for (let from = 0; from < page.length; from += kPiece) pieces.push(`R"~page~(${page.slice(from, from + kPiece)})~page~"`);
if (page.includes(')~page~"')) throw new Error('the page holds the mark that ends its literals');
writeFileSync(output, `#include "hqmm/report/page.hpp"

namespace hqmm::detail::report {

const std::string_view kPage =
${pieces.join('\n')};

}  // namespace hqmm::detail::report
`);
