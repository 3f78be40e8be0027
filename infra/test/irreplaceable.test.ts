import { expect, it } from 'vitest';
import { synthApp } from './support/synth.ts';

/**
 * Properties whose change makes CloudFormation replace the resource: clients would be cut for good, since the API's
 * address changes, or sessions and queued messages would be lost.
 */
const REPLACING: Readonly<Record<string, readonly string[]>> = {
  'AWS::ApiGatewayV2::Api': ['ProtocolType'],
  'AWS::ApiGatewayV2::Stage': ['ApiId', 'StageName'],
  'AWS::DynamoDB::Table': ['TableName', 'KeySchema', 'LocalSecondaryIndexes', 'ImportSourceSpecification'],
  'AWS::SQS::Queue': ['QueueName', 'FifoQueue'],
  'AWS::SecretsManager::Secret': ['Name'],
};

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

function irreplaceable(resources: Readonly<Record<string, Resource>>): object {
  const entries = Object.entries(resources).flatMap(([logicalId, { Type, Properties = {} }]) => {
    const names = REPLACING[Type];
    if (names === undefined) return [];
    return [[logicalId, { Type, ...Object.fromEntries(names.map((name) => [name, Properties[name]])) }]];
  });
  return Object.fromEntries(entries);
}

/**
 * A change that fails here would remove the address or the data of all existing deployments. If you want it all the
 * same, update the snapshot (`vitest -u`), and explain in docs/deploy-operations.md how to move.
 */
it('an upgrade replaces neither the API, nor the stage, nor the table, nor a queue, nor a secret', async () => {
  const { Resources } = synthApp().toJSON();
  const text = `${JSON.stringify(irreplaceable(Resources), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('irreplaceable.json');
});
