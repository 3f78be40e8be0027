import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const STUB = fileURLToPath(new URL('../src/no-debug.cjs', import.meta.url));

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
    external: ['node:*', 'workerd:*', 'cloudflare:*', 'lmdb'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('/');" },
    legalComments: 'none',
    logLevel: 'warning',
  });
}
