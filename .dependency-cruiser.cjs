/** Dependencies point inward: mqtt ← broker ← stores, node ← test. */
const layer = (name, mayNotUse) => ({
  name: `${name}-points-inward`,
  severity: 'error',
  comment: `packages/${name} may not depend on ${mayNotUse.join(', ')}`,
  from: { path: `^packages/${name}/src` },
  to: { path: `^packages/(${mayNotUse.join('|')})/` },
});

module.exports = {
  forbidden: [
    layer('mqtt', ['broker', 'store-memory', 'node']),
    layer('broker', ['store-memory', 'node']),
    layer('store-memory', ['node']),
    {
      name: 'rules-do-no-io',
      severity: 'error',
      comment: 'mqtt and broker hold bytes and rules: no I/O. (Buffer is a value, not I/O.)',
      from: { path: '^packages/(mqtt|broker)/src' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?buffer$' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: { path: '^packages/[^/]+/src' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
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
    enhancedResolveOptions: { conditionNames: ['source', 'import', 'node', 'default'], exportsFields: ['exports'] },
  },
};
