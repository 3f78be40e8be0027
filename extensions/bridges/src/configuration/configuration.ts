import { ConfigurationError, Fields } from '@apus/identity';
import { type BridgeCommon, HOPS_MAX } from './common.ts';
import { readIotCoreBridge } from './iot-core.ts';
import { type KafkaBridgeConfiguration, readKafkaBridge, readWholeKafka } from './kafka.ts';
import { type MqttBridgeConfiguration, readMqttBridge } from './mqtt.ts';
import type { Place } from './place.ts';

/** Each bridge has connections of its own, and a session at the broker. */
export const BRIDGES_MAX = 32;

/** A bridge's name. It is part of a client identifier and of a topic that no client uses, and the API shows it. */
const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

export type BridgeConfiguration = MqttBridgeConfiguration | KafkaBridgeConfiguration;

const KINDS = ['kafka', 'iotCore', 'mqtt'] as const;

const READ = { kafka: readKafkaBridge, iotCore: readIotCoreBridge, mqtt: readMqttBridge } as const;

const HOPS_MAX_MAX = 32;
export const COMMON_FIELDS = ['name', 'tenant', 'hopsMax'];

/**
 * Reads the bridges of a file.
 *
 * @throws {ConfigurationError} that names the place and the expected value
 */
export function readBridges(value: unknown, place: Place): readonly BridgeConfiguration[] {
  if (isOfWholeKafka(value)) return [readWholeKafka(value, place)];
  const list = new Fields(value, place.where, ['bridges']).raw('bridges');
  const where = `${place.where}: bridges`;
  if (!Array.isArray(list) || list.length === 0 || list.length > BRIDGES_MAX)
    throw new ConfigurationError(`${where} has to be a list of 1 to ${BRIDGES_MAX} bridges.`);
  const bridges = list.map((each, index) => readBridge(each, { ...place, where: `${where}[${index}]` }));
  const names = new Set<string>();
  for (const [index, { name }] of bridges.entries()) {
    if (names.has(name)) throw new ConfigurationError(`${where}[${index}].name: there are two "${name}".`);
    names.add(name);
  }
  return bridges;
}

function isOfWholeKafka(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'kafka' in value && !('bridges' in value);
}

function readBridge(value: unknown, place: Place): BridgeConfiguration {
  const given = typeof value === 'object' && value !== null ? value : {};
  const kind = KINDS.find((each) => each in given) ?? 'mqtt';
  const fields = new Fields(value, place.where, [...COMMON_FIELDS, kind, 'in', 'out']);
  if (fields.raw(kind) === undefined)
    fields.fail('mqtt', 'is missing: a bridge has "mqtt", "kafka" or "iotCore".');
  return READ[kind](fields, readCommon(fields), place);
}

export function readCommon(fields: Fields): BridgeCommon {
  const name = fields.requiredText('name', 'the API and the log use it.');
  if (!NAME.test(name)) fields.fail('name', 'has to have 1 to 64 letters, digits, ".", "_" and "-".');
  const hopsMax = fields.raw('hopsMax') ?? HOPS_MAX;
  if (!Number.isInteger(hopsMax) || Number(hopsMax) < 1 || Number(hopsMax) > HOPS_MAX_MAX)
    fields.fail('hopsMax', `has to be a whole number from 1 to ${HOPS_MAX_MAX}.`);
  return { name, tenant: fields.tenant() ?? 'default', hopsMax: Number(hopsMax) };
}
