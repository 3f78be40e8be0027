import type { DeployedBridge } from '@apus/aws/lambda';
import { remoteOf } from '../configuration/mqtt.ts';
import { type GivenIotCoreBridge, readIotCoreSources } from './iot-core-source.ts';
import { type GivenKafkaBridge, readKafkaSources } from './kafka-source.ts';

/**
 * The bridges of a deployment as the API of operators lists them, as JSON.
 *
 * @throws {ConfigurationError}
 */
export function deployedBridgesJson(
  kafka: readonly GivenKafkaBridge[],
  iotCore: readonly GivenIotCoreBridge[],
): string {
  const sources = kafka.length === 0 ? [] : readKafkaSources(kafka, 'kafka');
  const ofIotCore = iotCore.length === 0 ? [] : readIotCoreSources(iotCore, 'iotCore');
  return JSON.stringify([
    ...sources.map(({ tenant, name, brokers, aws, group }): DeployedBridge => {
      const remote = aws.clusterArn ?? brokers?.join(', ') ?? '';
      return { tenant, name, type: 'kafka', remote, group };
    }),
    ...ofIotCore.map(({ tenant, name, in: into }): DeployedBridge => {
      return { tenant, name, type: 'iot-core', remote: into.map(remoteOf).join(', ') };
    }),
  ]);
}
