/** What `npm start` and a deployment run. */
const CORE = [
  'mqtt',
  'broker',
  'identity',
  'api',
  'store-memory',
  'store-disk',
  'store-dynamodb',
  'door',
  'aws',
  'cloudflare',
  'emulator',
  'client',
  'node',
  'cli',
];
const EXTENSIONS = ['bridges', 'cluster', 'cost', 'filters', 'publish', 'react', 'topics'];
const folderOf = (name) => `${EXTENSIONS.includes(name) ? 'extensions' : 'packages'}/${name}`;

/** Dependencies point inward: mqtt ← broker ← stores, door ← aws, node ← cli ← test. */
const layer = (name, mayUse) => {
  const others = [...CORE, ...EXTENSIONS].filter((other) => other !== name && !mayUse.includes(other));
  return {
    name: `${name}-points-inward`,
    severity: 'error',
    comment: `${folderOf(name)} may use ${mayUse.join(', ') || 'no package of ours'}`,
    from: { path: `^${folderOf(name)}/src` },
    to: { path: `^(${others.map(folderOf).join('|')})/` },
  };
};

/** Where a command, a flag or a prop asks for an extension. `await import()` and types may stand elsewhere, too. */
const LOADS_EXTENSIONS = [
  'packages/aws/src/(api/systems|lambda/runtime)',
  'packages/cli/src/commands/(cost|cost-workload|probe|pub|usage)',
  'infra/lib/(cost-metric|described-topics|environment|http-api|iot-core|kafka|payload-checks|rules)',
];

/** engine ← state ← ui ← features ← app */
const webClient = (folder, mayUse) => ({
  name: `web-client-${folder}-points-inward`,
  severity: 'error',
  comment: `web-client/src/${folder} may use ${mayUse.join(', ')}`,
  from: { path: `^web-client/src/${folder}/` },
  to: { path: '^web-client/src/', pathNot: `^web-client/src/(${mayUse.join('|')})/` },
});

/** What measures may be removed: no code of the broker, the deployment or the page uses it. */
const standsOutside = (name, path) => ({
  name: `${name.replace('/', '-')}-stands-outside`,
  severity: 'error',
  comment: `${name} can be left out: only itself and tests may use it`,
  from: { path: '^(packages|extensions|infra|web-client|loadtest)/', pathNot: [path, '/test/'] },
  to: { path },
});

module.exports = {
  forbidden: [
    layer('mqtt', []),
    layer('broker', ['mqtt']),
    layer('identity', ['mqtt', 'broker']),
    layer('api', ['mqtt', 'broker', 'identity']),
    layer('topics', ['mqtt', 'broker']),
    layer('filters', ['mqtt', 'broker']),
    layer('store-memory', ['mqtt', 'broker']),
    layer('store-disk', ['mqtt', 'broker', 'store-memory']),
    layer('store-dynamodb', ['mqtt', 'broker']),
    layer('door', ['mqtt', 'broker', 'identity', 'api', 'filters']),
    layer('aws', ['mqtt', 'broker', 'identity', 'api', 'door', 'topics', 'store-dynamodb']),
    layer('cloudflare', ['mqtt', 'broker', 'identity', 'api', 'door', 'store-memory', 'store-disk']),
    layer('emulator', []),
    layer('client', []),
    layer('react', []),
    layer('cost', []),
    layer('publish', []),
    layer('node', ['mqtt', 'broker', 'identity', 'api', 'door', 'store-memory', 'store-disk']),
    layer('bridges', ['mqtt', 'broker', 'identity', 'door', 'aws', 'node', 'filters']),
    layer('cluster', ['mqtt', 'broker', 'store-memory', 'store-disk', 'node']),
    layer(
      'cli',
      [...CORE, ...EXTENSIONS].filter((name) => name !== 'publish'),
    ),
    {
      name: 'node-knows-no-aws',
      severity: 'error',
      comment: 'packages/cli brings the emulator and the AWS SDK',
      from: { path: '^packages/node/src' },
      to: { path: '^packages/emulator/|node_modules/@(aws-sdk|smithy)/' },
    },
    webClient('engine', ['engine']),
    webClient('state', ['engine', 'state']),
    webClient('ui', ['engine', 'state', 'ui']),
    webClient('features', ['engine', 'state', 'ui', 'features']),
    webClient('portal', ['portal']),
    {
      name: 'portal-stands-outside',
      severity: 'error',
      comment: "the developers' page is built by itself",
      from: { path: '^web-client/src/', pathNot: '^web-client/src/portal/' },
      to: { path: '^web-client/src/portal/' },
    },
    {
      name: 'web-client-uses-what-browsers-can',
      severity: 'error',
      comment:
        'the web client may use the transport, topics, reason codes, paths of the API, and the price book; types of all',
      from: { path: '^web-client/src' },
      to: {
        path: '^(packages|extensions)/',
        dependencyTypesNot: ['type-only'],
        pathNot:
          '^packages/client/|^extensions/cost/|^packages/mqtt/src/(topic|reason-codes).ts$|^packages/api/src/path.ts$',
      },
    },
    {
      name: 'rules-do-no-io',
      severity: 'error',
      comment:
        'mqtt and broker hold bytes and rules, cost holds prices: no I/O. (Buffer is a value, not I/O.)',
      from: { path: '^(packages/(mqtt|broker)|extensions/cost)/src' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?buffer$' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: { path: '^((packages|extensions)/[^/]+|loadtest|loadtest/[^/]+)/src' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'the-core-names-no-extension',
      severity: 'error',
      comment: 'An extension can be left out: a command, a flag or a prop loads it.',
      from: {
        path: '^(packages|infra)/',
        pathNot: ['/test/', '^infra/(e2e|functions)/', `^(${LOADS_EXTENSIONS.join('|')})\\.ts$`],
      },
      to: { path: '^extensions/', dependencyTypesNot: ['type-only', 'dynamic-import'] },
    },
    {
      name: 'no-circles-across-folders',
      severity: 'error',
      comment: 'Folders of a package may not need each other in a circle of files, not even for types',
      // The emulator's options and faults name the types of the parts that they configure.
      from: { path: '^((?:packages|extensions)/[^/]+/src/[^/]+)/', pathNot: '^packages/emulator/' },
      to: { circular: true, via: { pathNot: '^$1/' } },
    },
    {
      name: 'broker-has-no-circles',
      severity: 'error',
      comment:
        'No circle of files in the broker, not even of types: facts stand in model/, below their users',
      from: { path: '^packages/broker/src/' },
      to: { circular: true },
    },
    {
      name: 'ports-know-the-model-alone',
      severity: 'error',
      comment: 'A port says what the broker needs in words of model/, which needs nothing above it',
      from: { path: '^packages/broker/src/(ports|model)/' },
      to: { path: '^packages/broker/src/', pathNot: '^packages/broker/src/($1|model)/' },
    },
    standsOutside('loadtest', '^loadtest/'),
    standsOutside('web-client', '^web-client/'),
    {
      name: 'loadtest-knows-only-clients-and-prices',
      severity: 'error',
      comment:
        'A load test sees a broker as its clients do: it may use client, cost and the packets of mqtt.',
      from: { path: '^loadtest/(?!.*/?test/)' },
      to: {
        path: '^(packages|extensions|infra|web-client|test)/',
        pathNot: '^(packages/(client|mqtt)|extensions/cost)/',
      },
    },
    {
      name: 'benches-stand-outside',
      severity: 'error',
      comment: 'A bench may use all that it measures; nothing but a test or another bench uses a bench.',
      from: { path: '^(packages|extensions|infra|web-client|loadtest)/', pathNot: '/(bench|test)/' },
      to: { path: '^((packages|extensions)/[^/]+|loadtest|test/[^/]+)/bench/' },
    },
    {
      name: 'sources-do-not-use-tests',
      severity: 'error',
      from: { path: '^(packages|extensions)/[^/]+/src' },
      to: { path: '(^test/|/test/|/contract/)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/dist/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      conditionNames: ['source', 'import', 'node', 'default'],
      exportsFields: ['exports'],
    },
  },
};
