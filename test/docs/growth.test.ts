import { describe, expect, test } from 'vitest';
import { containersIn } from './growing.ts';
import { FILES, textOf } from './repository.ts';

const page = textOf('docs/security/growth.md');

const SOURCE =
  /^(?:packages\/(?:api|aws|broker|door|emulator|identity|mqtt|node|store-\w+)\/src|extensions\/(?:bridges|cluster|filters|topics)\/src|packages\/cli\/src\/gateway)\/.*\.ts$/;

/** The clock of tests. */
const NO_DOOR = /^packages\/emulator\/src\/clock\//;

/** Containers that no client makes grow, by the reason. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  'of fixed size': [
    'aws/src/http/empty-response.ts responses',
    'aws/src/http/response.ts fieldNames',
    'mqtt/src/reason-code-tables.ts NONE',
    'node/src/metrics/sys-topics.ts #cancels',
    'cluster/src/store/engine.ts #scripts #others',
  ],
  'by the configuration of the operator': [
    'bridges/src/kafka/under-way.ts #partitions',
    'bridges/src/lambda/opened-rules.ts texts',
    'cluster/src/shared-tenants.ts #tenants',
    'node/src/bridges/local-links.ts #links',
    'node/src/listening/doors.ts #servers #listeners',
    'node/src/bridges/node-bridges.ts #running #outlets',
    'node/src/page.ts files',
    'door/src/users-changes.ts #underWay',
  ],
  'for one call, message or connection': [
    'broker/src/model/page.ts entries',
    'cluster/src/fan-out.ts parts',
    'emulator/src/gateway/in-process-socket.ts #listeners',
    'door/src/packets/publish-variants.ts #plain #special',
    'cluster/src/store/journal.ts byKind',
    'topics/src/catalogue.ts shown',
  ],
  'for one event of a function, or one look of the sweep': [
    'aws/src/api/subscriptions.ts entries',
    'aws/src/connections/lost-connections.ts #waiting #closing #enders',
    'aws/src/fan-out/gathered-jobs.ts #shards #jobs',
    'aws/src/fan-out/group.ts #claimed #attemptsBefore',
    'aws/src/fan-out/posts.ts #retried #redirecting #ended',
    'aws/src/frames/packet-sequence.ts #next',
    'aws/src/frames/packets-out.ts #packets',
    'aws/src/outbox.ts #routed #looks #marks #spans',
    'aws/src/posts/gathered-posts.ts #connections #lost #moved',
    'aws/src/rules/rule-outlet.ts #entries',
    'aws/src/sweep/storage.ts byteSeconds',
    'store-dynamodb/src/queue/answered-page.ts entries',
    'store-dynamodb/src/queue/dequeue-page.ts effects',
    'store-dynamodb/src/queue/record-look.ts #unannounced #uncertain',
    'store-dynamodb/src/queue/record-offer.ts #offers',
    'store-dynamodb/src/streams/streams.ts #ends',
    'store-dynamodb/src/subscriptions/placement.ts #wide',
    'store-dynamodb/src/table/batch.ts #items',
    'store-dynamodb/src/table/event-cache.ts #matched',
  ],
  'for one event, at whose end it is committed': ['store-disk/src/gated-writer.ts #operations'],
  'for the start of a process, which reads what it had': [
    'store-disk/src/presence.ts dueTimers',
    'store-disk/src/restore.ts #sessions #messages #timers #exactlyOnce',
  ],
};

const excepted = Object.values(EXCEPTIONS).flat().flatMap(named);

/** The containers of the page: the code spans behind a link to a source. */
const listed = page
  .split('\n')
  .flatMap((line) => [...line.matchAll(/\]\(\.\.\/\.\.\/(?:packages|extensions)\/([^)]+)\)((?: `[^`]+`)*)/g)])
  .flatMap(([, path = '', spans = '']) => named(`${path}${spans.replaceAll('`', '')}`));

function named(line: string): readonly string[] {
  const [path, ...names] = line.split(' ');
  return names.map((name) => `${path} ${name}`);
}

/** Why each container of a source that stands nowhere is wrong. */
function problemsOf(path: string, text: string): readonly string[] {
  const [, file = ''] = path.split(/^(?:packages|extensions)\//);
  return containersIn(path, text)
    .filter((name) => !listed.includes(`${file} ${name}`) && !excepted.includes(`${file} ${name}`))
    .map(
      (name) =>
        `${path}: ${name} can grow, and stands in no row of docs/security/growth.md. Give it a limit, and add \`${name}\` to the row of its state; or add it to the EXCEPTIONS of test/docs/growth.test.ts, with the reason.`,
    );
}

const sources = FILES.filter((path) => SOURCE.test(path) && !NO_DOOR.test(path));

test('each container that lives longer than a call is in the table, or has a reason', () => {
  expect(sources.length).toBeGreaterThan(500);
  expect(sources.flatMap((path) => problemsOf(path, textOf(path)))).toEqual([]);
});

test('the table and the exceptions name no container that is gone', () => {
  const found = sources.flatMap((path) =>
    containersIn(path, textOf(path)).map(
      (name) => `${path.replace(/^(?:packages|extensions)\//, '')} ${name}`,
    ),
  );
  expect([...listed, ...excepted].filter((each) => !found.includes(each))).toEqual([]);
  expect(excepted.filter((each) => listed.includes(each))).toEqual([]);
});

describe('a container that is added is found', () => {
  test.each([
    ['a field', 'class A { readonly #seen = new Map<string, number>(); }', '#seen'],
    ['a list', 'class A { #waiting: Waiting[] = []; }', '#waiting'],
    ['a field that is made later', 'class A { #late: Map<string, string> | undefined; }', '#late'],
    ['containers in an object', 'class A { readonly #by = { tenant: new Map(), name: new Map() }; }', '#by'],
    [
      'counts',
      'class A { readonly counts = new LeakyCounts({ leakMs: 1, countMax: 1, keysMax: 1 }); }',
      'counts',
    ],
    ['a field that the constructor makes', 'class A { readonly #limits: LeakyCounts; }', '#limits'],
    ['a constant of the module', 'const cache = new Map<string, string>();', 'cache'],
    [
      'a variable that a function leaves behind',
      'function make() { const kept = new Set<string>(); const add = (name: string) => { kept.add(name); }; return add; }',
      'kept',
    ],
  ])('%s', (_, text, name) => {
    const [problem, ...others] = problemsOf('packages/broker/src/added.ts', text);
    expect(problem).toContain(`${name} can grow`);
    expect(problem).toContain('docs/security/growth.md');
    expect(others).toEqual([]);
  });

  test.each([
    ['what is declared as read-only', 'class A { readonly #names: readonly string[] = []; }'],
    ['a constant with its content', "const CODES = new Map([['a', 1]]);"],
    [
      'a variable of one call',
      'function sum() { const all = new Map(); return list.map((each) => all.get(each)); }',
    ],
    ['what goes with its keys', 'class A { readonly #of = new WeakMap<object, string>(); }'],
  ])('and no other: %s', (_, text) => {
    expect(problemsOf('packages/broker/src/added.ts', text)).toEqual([]);
  });
});

describe('each kind of key that a store writes stands in the table', () => {
  const chapter = page.split('## What stands in a store\n')[1] ?? '';
  const cells = [...chapter.matchAll(/^\|(.+)\|$/gm)].map(([, cell = '']) => cell.split('|').slice(1));
  const inColumn = (column: number) =>
    cells.flatMap((row) => [...(row[column] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name)).sort();
  const textsBelow = (folder: string) =>
    FILES.filter((path) => path.startsWith(folder) && path.endsWith('.ts'));
  const matchesIn = (paths: readonly string[], pattern: RegExp) =>
    [...new Set(paths.flatMap((path) => [...textOf(path).matchAll(pattern)].map(([, name]) => name)))].sort();

  test.each([
    ['a data directory', 0, ['packages/store-disk/src/keys.ts'], /^ {2}(\w+): '\w',$/gm],
    ['DynamoDB', 1, ['packages/store-dynamodb/src/table/keys.ts'], /(?:(?:partition|join)\(|p: )'([A-Z])'/g],
    [
      'Valkey',
      2,
      textsBelow('extensions/cluster/src/store/').filter((path) => !path.endsWith('scripts.ts')),
      /(?:[.#]key\(|ValkeyRetained\(engine, |engine: Engine, name = |\['members', ')['`]?([a-z]+(?:-[a-z]*)*)(?:['`]|\$)/g,
    ],
  ] as const)('%s', (_, column, paths, pattern) => {
    const kinds = matchesIn(paths, pattern);
    expect(kinds.length).toBeGreaterThan(10);
    expect(inColumn(column)).toEqual(kinds);
  });
});
