/** The functions, and the paths of their entry points in the repository. */
export const ENTRIES = {
  gateway: 'packages/cloud/src/lambda/gateway.ts',
  disconnect: 'packages/cloud/src/lambda/disconnect.ts',
  fanOut: 'packages/cloud/src/lambda/fan-out.ts',
  timers: 'packages/cloud/src/lambda/timers.ts',
  sweep: 'packages/cloud/src/lambda/sweep.ts',
  operator: 'packages/cloud/src/lambda/operator.ts',
  publish: 'packages/cloud/src/lambda/publish.ts',
  api: 'packages/cloud/src/lambda/api.ts',
  usageExport: 'packages/cloud/src/lambda/usage-export.ts',
  kafka: 'packages/bridges/src/lambda/kafka.ts',
  iotCore: 'packages/bridges/src/lambda/iot-core.ts',
  rules: 'packages/bridges/src/lambda/rules.ts',
  rulesKafka: 'packages/bridges/src/lambda/rules-kafka.ts',
  breaker: 'infra/functions/breaker-handler.ts',
  rotation: 'infra/functions/rotation-handler.ts',
} as const;

export type EntryName = keyof typeof ENTRIES;
