// Builds what `npm start` runs: the command, and the web client that it serves.
import { existsSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { build as buildPage, createLogger } from 'vite';

const here = dirname(fileURLToPath(import.meta.url));
const webClient = resolve(here, '..', '..', 'web-client');
/** `npm run build` writes to `dist`; the tests build for themselves, elsewhere. */
const dist = resolve(process.argv[2] ?? join(here, 'dist'));
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
    // a bridge to Kafka. The AWS SDK is loaded only by commands that call AWS.
    external: ['bufferutil', 'utf-8-validate', 'lmdb', '@platformatic/kafka', '@aws-sdk/client-*'],
  }),
  // Without this folder the broker runs, and reports that there is no page.
  existsSync(webClient) && buildPages(),
]);

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

/** The web client, and below it the developers' page in a folder of its own. */
async function buildPages() {
  const outDir = join(dist, 'page');
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
}
