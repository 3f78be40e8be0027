import { codeOf, FILES, type Page } from './repository.ts';

/** Files outside of the repository: the reader's own, and those that a command makes. */
const NOT_HERE = new Set([
  'app.mjs',
  'assets/',
  'dist/',
  'dist/reference/',
  'identity.json',
  'ledgers/',
  'mine.json',
  // Written by `npm run deploy -- --stage`.
  'apus.prod.json',
  'apus.NAME.json',
  'mqtt.js',
  'tenants.json',
  'test/artefacts/web-client/',
  // Made by `apus user add` and `apus import`.
  'users.json',
  'web-client/dist/',
  'web-client/dist/config.json',
]);

/** The name of a file or a folder. `*` stands for a part of it. */
const PATH = /^(?:[\w.@*-]+\/)*[\w.@*-]*(?:\.(?:tsx?|mjs|cjs|js|json|md|py|css|yml)|\/)$/;

/**
 * Files and folders that a page names in code and that do not exist. Pages shorten paths: `aws/src/options.ts` is
 * `packages/aws/src/options.ts`.
 */
export function missingPaths(page: Page): readonly string[] {
  return [...new Set(codeOf(page).flatMap((code) => code.split(/\s+/)))]
    .map((word) => word.replace(/^[('"]+|[)'",;:]+$/g, '').replace(/^(?:\.\.?\/)+/, ''))
    .filter((word) => PATH.test(word) && /\w/.test(word) && !/^\.\w+$/.test(word))
    .filter((word) => !NOT_HERE.has(word) && !isThere(word));
}

function isThere(word: string): boolean {
  const pattern = word.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*');
  const whole = new RegExp(word.endsWith('/') ? `(?:^|/)${pattern}` : `(?:^|/)${pattern}$`);
  return FILES.some((path) => whole.test(path));
}
