import { fileURLToPath } from 'node:url';
import { type BundlingOptions, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';

/** The repository, as seen from here and from `dist/app.mjs` alike: both are two folders below it. */
export const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

/** Node.js of the functions' runtime, in the words of esbuild. */
export const TARGET = 'node24';

/** Modules first, for packages that have both formats: the bundler can leave out their unused parts. */
export const MAIN_FIELDS = ['module', 'main'] as const;
/** The same for packages that say so by a condition; and those of this repository are read from their sources. */
export const CONDITIONS = ['source', 'module'] as const;

/** Smaller replacements of modules, with the same behaviour here. */
export const ALIASES: Readonly<Record<string, string>> = {
  // A copy of Node's own streams, which functions do not need.
  'readable-stream': 'node:stream',
  debug: `${REPOSITORY}infra/functions/no-debug.cjs`,
  // No function calls an operation that returns an event stream.
  '@smithy/core/event-streams': `${REPOSITORY}infra/functions/no-event-streams.ts`,
  // The module reads a WebAssembly file beside it, which would have to lie beside each bundle.
  '@platformatic/wasm-utils': `${REPOSITORY}infra/functions/no-wasm.ts`,
  '@aws-sdk/credential-provider-node': `${REPOSITORY}infra/functions/lambda-credentials.ts`,
};

/** Some bundled packages are CommonJS and call `require`, which an ES module has to create first. */
export const BANNER =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/**
 * One minified module for each function, including the SDK's clients: the runtime's own clients are read from hundreds
 * of files at every cold start. Sizes and start times: loadtest/results/cold-starts.md.
 */
export const BUNDLING: BundlingOptions = {
  target: TARGET,
  format: OutputFormat.ESM,
  banner: BANNER,
  minify: true,
  bundleAwsSDK: true,
  mainFields: [...MAIN_FIELDS],
  esbuildArgs: {
    '--conditions': CONDITIONS.join(','),
    '--legal-comments': 'none',
    ...Object.fromEntries(Object.entries(ALIASES).map(([from, to]) => [`--alias:${from}`, to])),
  },
};
