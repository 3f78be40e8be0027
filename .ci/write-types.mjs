// The types of a package for use outside of this repository, with those of the workspace packages that it bundles.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const IMPORTED = /(?<=from '|import\(["'])[^"']+/g;

/**
 * Writes `types/` with the declarations that the entry reaches, and beside it `NAME.d.ts`, which exports those of the entry `NAME.ts`.
 *
 * @param {string} entry a source file
 * @param {string} dist
 */
export function writeTypes(entry, dist) {
  const ours = sourcesOfOurPackages();
  const scratch = join(dist, 'scratch');
  declare(entry, ours, scratch);
  const types = join(dist, 'types');
  const first = declarationOf(entry);
  const waiting = [first];
  const seen = new Set(waiting);
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const from = file;
    const text = readFileSync(join(scratch, from), 'utf8').replaceAll(IMPORTED, (specifier) => {
      const source = ours[specifier] ?? (specifier.startsWith('.') && join(ROOT, dirname(from), specifier));
      if (!source) return specifier;
      const target = declarationOf(source);
      if (!seen.has(target)) waiting.push(target);
      seen.add(target);
      return specifierOf(relative(dirname(from), target));
    });
    mkdirSync(dirname(join(types, from)), { recursive: true });
    writeFileSync(join(types, from), text);
  }
  rmSync(scratch, { recursive: true });
  writeFileSync(
    join(dist, `${basename(entry, '.ts')}.d.ts`),
    `export * from '${specifierOf(join('types', first))}';\n`,
  );
}

/** @param {string} entry @param {Record<string, string>} ours @param {string} outDir */
function declare(entry, ours, outDir) {
  mkdirSync(outDir, { recursive: true });
  const project = join(outDir, 'tsconfig.json');
  const paths = Object.fromEntries(Object.entries(ours).map(([name, source]) => [name, [source]]));
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        rootDir: ROOT,
        outDir,
        paths,
      },
      include: [],
      files: [resolve(entry)],
    }),
  );
  const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
  execFileSync(process.execPath, [tsc, '-p', project], { stdio: 'inherit', cwd: ROOT });
}

/**
 * The source of each name by which workspace packages are imported.
 * @returns {Record<string, string>}
 */
function sourcesOfOurPackages() {
  const folder = join(ROOT, 'node_modules', '@apus');
  const sources = readdirSync(folder).flatMap((name) => {
    const directory = realpathSync(join(folder, name));
    const { exports = {} } = readJson(join(directory, 'package.json'));
    return Object.entries(exports).flatMap(([path, { source }]) =>
      source === undefined ? [] : [[join('@apus', name, path), join(directory, source)]],
    );
  });
  return Object.fromEntries(sources);
}

/** From the root: `/…/packages/client/src/index.ts` → `packages/client/src/index.d.ts`. @param {string} source */
function declarationOf(source) {
  return relative(ROOT, source).replace(/\.[jt]s$/, '.d.ts');
}

/** @param {string} declaration */
function specifierOf(declaration) {
  const path = declaration.replace(/\.d\.ts$/, '.js');
  return path.startsWith('.') ? path : `./${path}`;
}

/** @param {string} path */
function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
