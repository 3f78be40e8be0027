import { Queue } from 'aws-cdk-lib/aws-sqs';
import { App, Stack, Validations } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks, type NagPack, ServerlessChecks } from 'cdk-nag';
import { expect, it } from 'vitest';
import { ApusStack } from '../lib/apus-stack.ts';
import type { ApusBrokerProps } from '../lib/props.ts';
import { newOutdir, testContext } from './support/synth.ts';

/** The message of the synthesis that a pack of rules refuses; undefined when it has nothing to say. */
function findingsOf(makePack: (app: App) => NagPack, fill: (app: App) => void): string | undefined {
  const app = new App({ context: testContext(), outdir: newOutdir() });
  fill(app);
  Validations.of(app).addPlugins(makePack(app));
  try {
    app.synth();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const PACKS: readonly [string, (app: App) => NagPack][] = [
  ['AWS Solutions', (app) => new AwsSolutionsChecks(app)],
  ['Serverless', (app) => new ServerlessChecks(app)],
];

it.each(PACKS)('%s finds nothing that is not acknowledged with a reason', (_, makePack) => {
  expect(findingsOf(makePack, (app) => new ApusStack(app, 'Apus'))).toBeUndefined();
});

it.each(PACKS)('%s finds nothing where everything is switched on', (_, makePack) => {
  const broker: ApusBrokerProps = {
    accessLogs: true,
    tracing: true,
    table: { pointInTimeRecovery: true },
  };
  expect(findingsOf(makePack, (app) => new ApusStack(app, 'Apus', { broker }))).toBeUndefined();
});

it.each(
  PACKS.flatMap(([name, makePack]) =>
    (['iam', 'keys'] as const).map((how) => [name, how, makePack] as const),
  ),
)('%s finds nothing in the endpoint of backends with %s', (_, httpPublish, makePack) => {
  const broker: ApusBrokerProps = { httpPublish };
  expect(findingsOf(makePack, (app) => new ApusStack(app, 'Apus', { broker }))).toBeUndefined();
});

it.each(PACKS)('%s is awake', (_, makePack) => {
  const fill = (app: App) => new Queue(new Stack(app, 'Other'), 'Queue');
  expect(findingsOf(makePack, fill)).toContain('Other/Queue/Resource');
});
