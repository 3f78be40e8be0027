/**
 * The functions of the bridges and rules of a deployment, and the configuration of both. This entry point does not load
 * the Kafka client.
 */
export { iotCoreRegionOf } from '../rules/configuration/iot-core.ts';
export { deployedBridgesJson } from './deployed-bridges.ts';
export {
  type GivenRule,
  networkOfRules,
  readDeployedRules,
  ruleFiltersJson,
  secretArnsOf,
} from './deployed-rules.ts';
export {
  type GivenIotCoreBridge,
  type IotCoreSource,
  iotCoreSourcesJson,
  iotRuleSql,
  readIotCoreSources,
} from './iot-core-source.ts';
export type { KafkaNetwork } from './kafka-network.ts';
export {
  type GivenKafkaBridge,
  type KafkaSourceConfiguration,
  mappingsJson,
  readKafkaSources,
} from './kafka-source.ts';
export { BRIDGE_VARIABLES } from './variables.ts';
