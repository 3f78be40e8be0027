import { gzipSync } from 'node:zlib';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { ALIASES, BANNER, CONDITIONS, MAIN_FIELDS, REPOSITORY, TARGET } from '../lib/bundling.ts';
import { ENTRIES, type EntryName } from '../lib/entries.ts';

export type Format = 'esm' | 'cjs';

const CJS_BANNER = "const moduleUrl = require('node:url').pathToFileURL(__filename).href;";

export interface Bundle {
  readonly code: Uint8Array;
  /** Bytes after compression, as Lambda stores it. */
  readonly gzipBytes: number;
  /** Bytes of each package in it, the largest first. */
  readonly packages: readonly (readonly [name: string, bytes: number])[];
}

/** A function's file as the deployment makes it, or in the other module format, to compare how fast they start. */
export async function bundle(name: EntryName, format: Format = 'esm'): Promise<Bundle> {
  const options: BuildOptions = {
    entryPoints: [`${REPOSITORY}${ENTRIES[name]}`],
    absWorkingDir: REPOSITORY,
    bundle: true,
    minify: true,
    platform: 'node',
    target: TARGET,
    format,
    mainFields: [...MAIN_FIELDS],
    conditions: [...CONDITIONS],
    alias: { ...ALIASES },
    legalComments: 'none',
    write: false,
    metafile: true,
    logLevel: 'silent',
    ...(format === 'esm'
      ? { banner: { js: BANNER } }
      : { banner: { js: CJS_BANNER }, define: { 'import.meta.url': 'moduleUrl' } }),
  };
  const { outputFiles = [], metafile } = await build(options);
  const code = outputFiles[0]?.contents ?? new Uint8Array();
  return { code, gzipBytes: gzipSync(code).length, packages: packagesOf(metafile) };
}

function packagesOf(metafile: Metafile | undefined): Bundle['packages'] {
  const bytes = new Map<string, number>();
  const [output] = Object.values(metafile?.outputs ?? {});
  for (const [path, { bytesInOutput }] of Object.entries(output?.inputs ?? {})) {
    const name = packageOf(path);
    bytes.set(name, (bytes.get(name) ?? 0) + bytesInOutput);
  }
  return [...bytes].sort(([, a], [, b]) => b - a);
}

/** `node_modules/@aws-sdk/core/dist-es/index.js` → `@aws-sdk/core`; `packages/aws/src/x.ts` → `packages/aws`. */
function packageOf(path: string): string {
  const parts = (path.split('node_modules/').at(-1) ?? path).split('/');
  const isTwo = parts[0]?.startsWith('@') || ['packages', 'extensions'].includes(parts[0] ?? '');
  return parts.slice(0, isTwo ? 2 : 1).join('/');
}
