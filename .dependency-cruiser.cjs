const PACKAGES = [
  'mqtt',
  'broker',
  'identity',
  'api',
  'topics',
  'store-memory',
  'store-disk',
  'store-valkey',
  'store-dynamodb',
  'cloud',
  'emulator',
  'client',
  'react',
  'cost',
  'publish',
  'node',
  'bridges',
  'cluster',
  'cli',
];

/** Dependencies point inward: mqtt ← broker ← stores, cloud ← node ← cli ← test. */
const layer = (name, mayUse) => {
  const others = PACKAGES.filter((other) => other !== name && !mayUse.includes(other));
  return {
    name: `${name}-points-inward`,
    severity: 'error',
    comment: `packages/${name} may use ${mayUse.join(', ') || 'no package of ours'}`,
    from: { path: `^packages/${name}/src` },
    to: { path: `^packages/(${others.join('|')})/` },
  };
};

/** engine ← state ← ui ← features ← app; strings are for all but the engine. */
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
  from: { path: '^(packages|infra|web-client|loadtest)/', pathNot: [path, '/test/'] },
  to: { path },
});

module.exports = {
  forbidden: [
    layer('mqtt', []),
    layer('broker', ['mqtt']),
    layer('identity', ['mqtt', 'broker']),
    layer('api', ['mqtt', 'broker', 'identity']),
    layer('topics', ['mqtt', 'broker']),
    layer('store-memory', ['mqtt', 'broker']),
    layer('store-disk', ['mqtt', 'broker', 'store-memory']),
    layer('store-valkey', ['mqtt', 'broker', 'store-memory', 'store-disk']),
    layer('store-dynamodb', ['mqtt', 'broker']),
    layer('cloud', ['mqtt', 'broker', 'identity', 'api', 'topics', 'store-dynamodb']),
    layer('emulator', []),
    layer('client', []),
    layer('react', []),
    layer('cost', []),
    layer('simulation', ['cost']),
    layer('publish', []),
    layer('node', ['mqtt', 'broker', 'identity', 'api', 'store-memory', 'store-disk', 'cloud']),
    layer('bridges', ['mqtt', 'broker', 'identity', 'cloud', 'node']),
    layer('cluster', ['mqtt', 'broker', 'store-memory', 'store-disk', 'store-valkey', 'node']),
    layer(
      'cli',
      PACKAGES.filter((name) => name !== 'publish'),
    ),
    {
      name: 'node-knows-no-aws',
      severity: 'error',
      comment: 'packages/cli brings the emulator and the AWS SDK',
      from: { path: '^packages/node/src' },
      to: { path: '^packages/emulator/|node_modules/@(aws-sdk|smithy)/' },
    },
    webClient('engine', ['engine']),
    webClient('state', ['engine', 'state', 'i18n']),
    webClient('ui', ['engine', 'state', 'i18n', 'ui']),
    webClient('features', ['engine', 'state', 'i18n', 'ui', 'features']),
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
      comment: 'the web client may use the transport, topics and reason codes, and the price book',
      from: { path: '^web-client/src' },
      to: {
        path: '^packages/',
        pathNot: '^packages/(client|cost)/|^packages/mqtt/src/(topic|reason-codes).ts$',
      },
    },
    {
      name: 'rules-do-no-io',
      severity: 'error',
      comment:
        'mqtt and broker hold bytes and rules, cost holds prices: no I/O. (Buffer is a value, not I/O.)',
      from: { path: '^packages/(mqtt|broker|cost)/src' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?buffer$' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: { path: '^(packages/[^/]+|loadtest|loadtest/[^/]+)/src' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    standsOutside('loadtest', '^loadtest/'),
    standsOutside('packages/simulation', '^packages/simulation/'),
    standsOutside('web-client', '^web-client/'),
    {
      name: 'loadtest-knows-only-clients-and-prices',
      severity: 'error',
      comment:
        'A load test sees a broker as its clients do: it may use client, cost and the packets of mqtt.',
      from: { path: '^loadtest/(?!.*/?test/)' },
      to: { path: '^(packages|infra|web-client|test)/', pathNot: '^packages/(client|cost|mqtt)/' },
    },
    {
      name: 'benches-stand-outside',
      severity: 'error',
      comment: 'A bench may use all that it measures; nothing but a test or another bench uses a bench.',
      from: { path: '^(packages|infra|web-client|loadtest)/', pathNot: '/(bench|test)/' },
      to: { path: '^(packages/[^/]+|loadtest|test/[^/]+)/bench/' },
    },
    {
      name: 'sources-do-not-use-tests',
      severity: 'error',
      from: { path: '^packages/[^/]+/src' },
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
