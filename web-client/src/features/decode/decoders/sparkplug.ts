import type { DecodedObject, DecodedValue } from '../value.ts';
import { protobufDecoder } from './protobuf.ts';
import type { PayloadDecoder } from './rules.ts';
import { SPARKPLUG_SCHEMA, SPARKPLUG_TYPES } from './sparkplug-schema.ts';

/** Edge nodes whose aliases are remembered; above it the oldest are dropped. */
const EDGE_NODES_MAX = 1_000;

/** Aliases of one edge node: more metrics than any has. */
const ALIASES_MAX = 20_000;

/** Bits of the signed types, which travel as unsigned numbers. */
const SIGNED_BITS: Readonly<Record<string, number>> = { Int8: 32, Int16: 32, Int32: 32, Int64: 64 };

/** Names that DATA omits, because BIRTH contains them. */
interface Birth {
  readonly name: string;
  readonly type: string;
}

/** Sparkplug B: metrics by their names, with values of their types. A decoder remembers the births that it has read. */
export function sparkplugDecoder(): PayloadDecoder {
  const read = protobufDecoder([{ name: 'sparkplug_b.proto', text: SPARKPLUG_SCHEMA }], 'sparkplug.Payload');
  const births = new Map<string, Map<string, Birth>>();
  return (payload, topic) => {
    const [, group, type = '', node] = topic.split('/');
    const message = read(payload, topic) as DecodedObject;
    const aliases = aliasesOf(births, `${group}/${node}`);
    const metrics = (message.metrics ?? []) as readonly DecodedObject[];
    if (type.endsWith('BIRTH')) remember(aliases, metrics);
    return { ...timed(message), ...(message.metrics && { metrics: byName(metrics, aliases) }) };
  };
}

function aliasesOf(births: Map<string, Map<string, Birth>>, node: string): Map<string, Birth> {
  const known = births.get(node);
  if (known !== undefined) return known;
  const [oldest] = births.keys();
  if (births.size >= EDGE_NODES_MAX && oldest !== undefined) births.delete(oldest);
  const made = new Map<string, Birth>();
  births.set(node, made);
  return made;
}

function remember(aliases: Map<string, Birth>, metrics: readonly DecodedObject[]): void {
  for (const { alias, name, datatype } of metrics) {
    if (alias === undefined || typeof name !== 'string' || aliases.size >= ALIASES_MAX) continue;
    aliases.set(String(alias), { name, type: typeName(datatype) });
  }
}

/** By name, so that the path to a value is always the same, whichever metrics a message has. */
function byName(
  metrics: readonly DecodedObject[],
  aliases: ReadonlyMap<string, Birth>,
): Record<string, DecodedValue> {
  const named = new Map<string, DecodedValue>();
  for (const metric of metrics) {
    const birth = metric.alias === undefined ? undefined : aliases.get(String(metric.alias));
    const alias = metric.alias === undefined ? '(no name)' : `alias ${metric.alias}`;
    const name = typeof metric.name === 'string' ? metric.name : (birth?.name ?? alias);
    const type = metric.datatype === undefined ? birth?.type : typeName(metric.datatype);
    let key = name;
    // Historical values: several of one metric.
    for (let place = 2; named.has(key); place += 1) key = `${name} (${place})`;
    named.set(key, metricOf(metric, type));
  }
  return Object.fromEntries(named);
}

function metricOf(metric: DecodedObject, type: string | undefined): DecodedObject {
  const { name: _name, datatype: _datatype, timestamp, ...rest } = metric;
  const members = Object.entries(rest).filter(([member]) => !member.endsWith('_value'));
  const value = metric.is_null === true ? null : typedValue(metric, type);
  return {
    value,
    ...(type !== undefined && { type }),
    ...timed({ timestamp }),
    ...Object.fromEntries(members),
  };
}

function typedValue(metric: DecodedObject, type: string | undefined): DecodedValue {
  const [, value] = Object.entries(metric).find(([member]) => member.endsWith('_value')) ?? [];
  const bits = type === undefined ? undefined : SIGNED_BITS[type];
  if (bits !== undefined && (typeof value === 'number' || typeof value === 'bigint'))
    return signed(value, bits);
  return type === 'DateTime' ? dateOf(value) : value;
}

/** Two's complement: Int8 and Int16 travel as 32 bits. */
function signed(value: number | bigint, bits: number): number | bigint {
  const wide = BigInt.asIntN(bits, BigInt(value));
  const narrow = Number(wide);
  return Number.isSafeInteger(narrow) ? narrow : wide;
}

/** Milliseconds since 1970 as a date. */
function timed({ timestamp, ...rest }: DecodedObject): DecodedObject {
  return timestamp === undefined ? rest : { timestamp: dateOf(timestamp), ...rest };
}

function dateOf(milliseconds: DecodedValue): DecodedValue {
  return typeof milliseconds === 'number' ? new Date(milliseconds) : milliseconds;
}

function typeName(datatype: DecodedValue): string {
  return SPARKPLUG_TYPES[Number(datatype)] ?? `type ${String(datatype)}`;
}
