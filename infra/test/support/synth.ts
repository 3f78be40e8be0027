import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { App, Stack } from 'aws-cdk-lib/core';
import { scratchFolder } from '../../../test/support/scratch-folder.ts';
import { ApusBroker } from '../../lib/apus-broker.ts';
import { createApp } from '../../lib/create-app.ts';
import type { ApusBrokerProps } from '../../lib/props.ts';

const CDK_JSON = new URL('../../cdk.json', import.meta.url);

/** The context of the real app: the feature flags change the template. No function is bundled. */
export function testContext(): Record<string, unknown> {
  const { context } = JSON.parse(readFileSync(CDK_JSON, 'utf8')) as { context: Record<string, unknown> };
  return { ...context, 'aws:cdk:bundling-stacks': [] };
}

/** Without what CDK writes for its own tools, which takes a quarter of the time of a synthesis. */
export const LEAN = { stackTraces: false, treeMetadata: false, analyticsReporting: false } as const;

/** Where assemblies go until the tests are over; CDK would leave them where it makes them. */
const ASSEMBLIES = scratchFolder('apus-assemblies');

/** A folder of its own for each app. */
export function newOutdir(): string {
  return mkdtempSync(join(ASSEMBLIES, 'cdk-'));
}

/** CDK notes for each resource the lines that made it, which takes another quarter: it gets one line. */
export function withShortStacks<T>(make: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 1;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

export interface Synthesized {
  readonly app: App;
  readonly stack: Stack;
  readonly broker: ApusBroker;
  readonly template: Template;
}

/** An owner's own stack with a broker in it. `more` gets the stack before the broker is made. */
export function synthBroker(
  props: ApusBrokerProps | ((stack: Stack) => ApusBrokerProps) = {},
  use: (broker: ApusBroker, stack: Stack) => void = () => {},
): Synthesized {
  return withShortStacks(() => {
    const app = new App({ ...LEAN, context: testContext(), outdir: newOutdir() });
    const stack = new Stack(app, 'Test');
    const broker = new ApusBroker(stack, 'Broker', typeof props === 'function' ? props(stack) : props);
    use(broker, stack);
    return { app, stack, broker, template: Template.fromStack(stack) };
  });
}

/** A broker with every alarm that there can be. */
export const EVERY_ALARM: ApusBrokerProps = {
  httpPublish: 'keys',
  httpApi: { keysSha256: ['0'.repeat(64)] },
  alarms: { frameMilliseconds: 500, messagesDropped: 100, sweepMissing: true },
  rollbackOnAlarm: true,
  streams: [{ name: 'chat', topicFilter: 'chat/#' }],
  usage: true,
  usageExport: 'csv',
  kafka: [
    {
      name: 'market',
      kafka: { aws: { clusterArn: 'arn:aws:kafka:eu-west-1:123456789012:cluster/market/0a1b-2' } },
      in: [{ topic: 'prices', to: 'prices/{key}' }],
    },
  ],
  iotCore: [{ name: 'things', iotCore: {}, in: [{ filter: 'things/#' }] }],
  rules: [{ name: 'again', filter: 'orders/#', to: { publish: { topic: 'copies/{1}' } } }],
};

/** The app as `cdk deploy -c …` would see it. */
export function synthApp(context: Record<string, unknown> = {}): Template {
  return withShortStacks(() => {
    const { stack } = createApp({ ...LEAN, context: { ...testContext(), ...context }, outdir: newOutdir() });
    return Template.fromStack(stack);
  });
}
