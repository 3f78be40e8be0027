/** The functions, and the paths of their entry points in the repository. */
export const ENTRIES = {
  gateway: 'packages/aws/src/lambda/gateway.ts',
  disconnect: 'packages/aws/src/lambda/disconnect.ts',
  fanOut: 'packages/aws/src/lambda/fan-out.ts',
  timers: 'packages/aws/src/lambda/timers.ts',
  sweep: 'packages/aws/src/lambda/sweep.ts',
  operator: 'packages/aws/src/lambda/operator.ts',
  publish: 'packages/aws/src/lambda/publish.ts',
  api: 'packages/aws/src/lambda/api.ts',
  usageExport: 'packages/aws/src/lambda/usage-export.ts',
  kafka: 'extensions/bridges/src/lambda/kafka.ts',
  iotCore: 'extensions/bridges/src/lambda/iot-core.ts',
  rules: 'extensions/bridges/src/lambda/rules.ts',
  rulesKafka: 'extensions/bridges/src/lambda/rules-kafka.ts',
  breaker: 'infra/functions/breaker-handler.ts',
  rotation: 'infra/functions/rotation-handler.ts',
} as const;

export type EntryName = keyof typeof ENTRIES;
