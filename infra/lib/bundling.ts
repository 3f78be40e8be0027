import { type BundlingOptions, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';

/** Node.js of the functions' runtime, in the words of esbuild. */
export const TARGET = 'node24';

/** Parts of the SDK are CommonJS and call `require`, which a module has to make first. */
export const BANNER =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/**
 * One minified module for each function, with the SDK's clients in it: those of the runtime are read from disk in
 * thousands of files at every cold start. `measure-cold-start` says what this is worth.
 */
export const BUNDLING: BundlingOptions = {
  target: TARGET,
  format: OutputFormat.ESM,
  banner: BANNER,
  minify: true,
  bundleAwsSDK: true,
  mainFields: ['module', 'main'],
  // Packages of this repository are read from their sources.
  esbuildArgs: { '--conditions': 'source', '--legal-comments': 'none' },
};
