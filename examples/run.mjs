// Runs an example: builds its page, serves it on this machine, and starts its other programs (`npm run example chat`).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build, context } from 'esbuild';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const COMMAND = join(HERE, '../packages/cli/dist/apus.js');
const PAGES = readdirSync(HERE).filter((name) => existsSync(join(HERE, name, 'index.html')));
const PROGRAMS = ['backend', 'missed'];
/** Programs that start their own broker, and run without further help. */
const WHOLE = ['iot-bridge'];
/** Programs that run beside a page. */
const BESIDE = { dashboard: 'backend' };
const ALL = [...PAGES, ...PROGRAMS, ...WHOLE];

const HELP = `Runs an example.

Usage: npm run example NAME [-- FLAGS] [-- FLAGS OF apus serve]

With a page, and a broker beside it: ${PAGES.join(', ')}
A program, to a broker that runs: ${PROGRAMS.join(', ')}
A program with all that it needs: ${WHOLE.join(', ')}

  --port PORT        Port of the page, on this machine only; 0 takes a free one. Default: 8090.
  --build DIRECTORY  Writes the page's files there and ends: for any server of static files.
  --no-broker        Serves the page alone: there is a broker already.
  --help
`;

/**
 * The page's files.
 * @param {string} name of the example
 * @param {string} directory is made
 */
async function buildPage(name, directory) {
  mkdirSync(directory, { recursive: true });
  await build({ ...optionsOf(name, directory), minify: true });
  copyFileSync(join(HERE, name, 'index.html'), join(directory, 'index.html'));
}

/** @param {string} name @param {string} directory @returns {import('esbuild').BuildOptions} */
function optionsOf(name, directory) {
  return {
    entryPoints: [join(HERE, name, `${name}.tsx`)],
    outdir: directory,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    conditions: ['source', 'browser'],
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  };
}

/** @param {string} name @param {number} port */
async function servePage(name, port) {
  const directory = mkdtempSync(join(tmpdir(), 'apus-example-'));
  copyFileSync(join(HERE, name, 'index.html'), join(directory, 'index.html'));
  const built = await context(optionsOf(name, directory));
  const { port: taken } = await built.serve({ host: '127.0.0.1', port, servedir: directory });
  const stop = async () => {
    await built.dispose();
    rmSync(directory, { recursive: true, force: true });
  };
  return { url: `http://127.0.0.1:${taken}/`, stop };
}

/**
 * A program of the examples, bundled with the packages that it uses.
 * @param {string} name
 */
async function startProgram(name) {
  const directory = mkdtempSync(join(tmpdir(), 'apus-example-'));
  const outfile = join(directory, `${name}.mjs`);
  const entryPoints = [join(HERE, name, `${name}.mjs`)];
  await build({
    entryPoints,
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    conditions: ['source'],
    // mqtt.js requires modules of Node.js.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  const program = spawn(process.execPath, [outfile], { stdio: 'inherit' });
  program.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return program;
}

/** @param {string} name @param {readonly string[]} flags */
function startBroker(name, flags) {
  const streams = join(HERE, name, 'streams.json');
  const declared = existsSync(streams) ? ['--streams', streams] : [];
  return spawn(process.execPath, [COMMAND, 'serve', ...declared, ...flags], { stdio: 'inherit' });
}

/**
 * Ends with the first program that ends, or at a signal. A terminal sends Ctrl+C to all of them; others send it to this
 * process alone.
 * @param {readonly import('node:child_process').ChildProcess[]} children
 * @param {() => Promise<void>} stopPage
 */
async function runUntilTheEnd(children, stopPage) {
  const ended = children.map((child) => once(child, 'exit'));
  const told = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve([0]));
  });
  const [code] = await Promise.race([told, ...ended]);
  process.exitCode = code ?? 0;
  for (const child of children) child.kill('SIGINT');
  await Promise.all(ended);
  await stopPage();
}

/** @param {string[]} argv */
async function main(argv) {
  const end = argv.indexOf('--');
  const [own, brokerFlags] = end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end + 1)];
  const { values, positionals } = parseArgs({
    args: own,
    allowPositionals: true,
    options: {
      port: { type: 'string', default: '8090' },
      build: { type: 'string' },
      'no-broker': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const [name = ''] = positionals;
  if (values.help) return void process.stdout.write(HELP);
  if (PROGRAMS.includes(name)) return await runUntilTheEnd([await startProgram(name)], async () => {});
  if (WHOLE.includes(name)) {
    const program = spawn(process.execPath, [join(HERE, name, `${name}.mjs`)], { stdio: 'inherit' });
    return await runUntilTheEnd([program], async () => {});
  }
  if (!PAGES.includes(name))
    fail(name === '' ? HELP : `There is no example "${name}": take one of ${ALL.join(', ')}.`);
  if (values.build !== undefined) return await buildPage(name, values.build);
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) fail(`--port: "${values.port}" is no port.`);
  const page = await servePage(name, port).catch((error) =>
    fail(`The page cannot be served: ${error.message}`),
  );
  console.log(`The page of the example "${name}": ${page.url}`);
  const children = [];
  if (!values['no-broker']) children.push(startBroker(name, brokerFlags));
  if (name in BESIDE) children.push(await startProgram(BESIDE[/** @type {keyof typeof BESIDE} */ (name)]));
  await runUntilTheEnd(children, page.stop);
}

/** @param {string} sentence @returns {never} */
function fail(sentence) {
  console.error(sentence);
  process.exit(2);
}

await main(process.argv.slice(2)).catch((error) => fail(error.message));
