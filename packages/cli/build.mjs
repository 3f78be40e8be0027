// Builds what `npm start` runs: the command, and the web client that it serves.
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { build } from 'esbuild';
import { build as buildPage, createLogger } from 'vite';
import { LICENSE } from '../../.ci/build-package.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const webClient = resolve(here, '..', '..', 'web-client');
/** `npm run build` writes to `dist`; the tests build for themselves, elsewhere. */
const dist = resolve(process.argv[2] ?? join(here, 'dist'));
const PACKING = join(dist, 'packing');
/** The packages that the developers' page tells its readers to install. */
const CLIENT_PACKAGES = ['packages/client', 'extensions/react'];
/** Below it, compressing saves no packet on the wire. */
const BROTLI_BYTES_MIN = 1_400;
const run = promisify(execFile);
const common = {
  bundle: true,
  minify: true,
  sourcemap: 'linked',
  // Workspace packages are bundled from their sources.
  conditions: ['source'],
  logLevel: 'warning',
};

rmSync(dist, { recursive: true, force: true });
// Vitest sets another NODE_ENV, in which React would be built with its development checks.
process.env.NODE_ENV = 'production';
await Promise.all([
  build({
    ...common,
    entryPoints: { apus: join(here, 'src', 'main.ts') },
    outdir: dist,
    // Modules that a command imports dynamically get files of their own: in one file, every command would load the
    // packages that they import.
    splitting: true,
    chunkNames: 'parts/[name]-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Packages written for CommonJS find `require`; the optional native parts of `ws` are not needed.
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire as apusCreateRequire } from 'node:module';\nconst require = apusCreateRequire(import.meta.url);",
    },
    // `lmdb` is native, and loaded only with `--data`. The Kafka client reads a file beside it, and is loaded only for
    // a bridge to Kafka. The AWS SDK is loaded only by commands that call AWS, and installed by users of these.
    external: ['bufferutil', 'utf-8-validate', 'lmdb', '@platformatic/kafka', '@aws-sdk/client-*'],
  }),
  // Without this folder the broker runs, and reports that there is no page.
  existsSync(webClient) && buildPages(),
]);
copyFileSync(LICENSE, join(dist, 'LICENSE'));

/**
 * Vite warns of its own reading of `composes: … from …`, in which an address (`url()`) would be lost: the composed files
 * have none.
 */
function pageLogger() {
  const logger = createLogger('warn');
  const warnOnce = logger.warnOnce.bind(logger);
  logger.warnOnce = (text, options) => {
    if (!text.includes('the `from` option to `postcss.parse`')) warnOnce(text, options);
  };
  return logger;
}

/** The web client, and below it the developers' page in a folder of its own, with the packages that it names. */
async function buildPages() {
  const outDir = join(dist, 'page');
  const packed = CLIENT_PACKAGES.map((folder) => resolve(here, '..', '..', folder))
    .filter((folder) => existsSync(folder))
    .map(packClient);
  const common = /** @type {const} */ ({ logLevel: 'warn', customLogger: pageLogger() });
  await buildPage({
    ...common,
    root: webClient,
    configFile: join(webClient, 'vite.config.ts'),
    build: { outDir, emptyOutDir: true },
  });
  await buildPage({
    ...common,
    configFile: join(webClient, 'portal', 'vite.config.ts'),
    build: { outDir: join(outDir, 'portal') },
  });
  const packages = join(outDir, 'portal', 'packages');
  mkdirSync(packages);
  for (const tarball of await Promise.all(packed)) copyFileSync(tarball, join(packages, basename(tarball)));
  rmSync(PACKING, { recursive: true });
  await compress(outDir);
}

/**
 * Packs a package of Apus, which no registry has. Its own `dist` stays as it is: another process may use it.
 * @param {string} folder
 * @returns {Promise<string>} the tarball
 */
async function packClient(folder) {
  const copy = join(PACKING, basename(folder));
  mkdirSync(copy, { recursive: true });
  await run(process.execPath, [join(folder, 'build.mjs'), join(copy, 'dist')]);
  for (const name of ['package.json', 'README.md']) copyFileSync(join(folder, name), join(copy, name));
  // `npm pack` of the command runs this program with its own flags in the environment.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  await run('npm', ['pack', '--ignore-scripts', '--loglevel=error'], { cwd: copy, env });
  const [tarball = ''] = readdirSync(copy).filter((name) => name.endsWith('.tgz'));
  return join(copy, tarball);
}

/** Writes FILE.br beside each file that a browser takes compressed. @param {string} folder */
async function compress(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const paths = names.filter((name) => /\.(?:html|js|css|svg)$/.test(name)).map((name) => join(folder, name));
  const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  await Promise.all(
    paths.map(async (path) => {
      const file = readFileSync(path);
      if (file.length < BROTLI_BYTES_MIN) return;
      writeFileSync(`${path}.br`, await promisify(brotliCompress)(file, { params: quality }));
    }),
  );
}
