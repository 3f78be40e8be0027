import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const STUB = fileURLToPath(new URL('../src/no-debug.cjs', import.meta.url));

const DECODER = 'new TextDecoder()';

/**
 * The decoder of `msgpackr` drops U+FEFF at the beginning of a text: a session whose client identifier begins with it would
 * be lost when the object wakes [MQTT-1.5.4-3]. In Node.js another decoder takes its place.
 */
const wholeTexts: Plugin = {
  name: 'whole-texts',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]msgpackr[\\/]unpack\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      if (!source.includes(DECODER)) throw new Error(`${path} decodes texts in another way`);
      return { contents: source.replace(DECODER, "new TextDecoder('utf-8', { ignoreBOM: true })") };
    });
  },
};

/**
 * Builds one module for Cloudflare's runtime.
 *
 * @param alias modules in the place of others
 */
export async function buildWorker(
  entry: string,
  outfile: string,
  alias: Readonly<Record<string, string>> = {},
): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    // Workspace packages are bundled from their sources.
    conditions: ['source', 'module', 'import'],
    // The runtime has Node.js's modules (`nodejs_compat`), with their prefix.
    alias: {
      'readable-stream': 'node:stream',
      debug: STUB,
      buffer: 'node:buffer',
      events: 'node:events',
      stream: 'node:stream',
      util: 'node:util',
      ...alias,
    },
    plugins: [wholeTexts],
    external: ['node:*', 'workerd:*', 'cloudflare:*', 'lmdb'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('/');" },
    legalComments: 'none',
    logLevel: 'warning',
  });
}
