import { ConfigurationError, Fields } from '@apus/identity';
import { intersects } from '@apus/mqtt';
import type { BridgeCommon } from '../configuration/common.ts';
import { BRIDGES_MAX, COMMON_FIELDS, readCommon } from '../configuration/configuration.ts';
import { checkTopics } from '../configuration/iot-core.ts';
import { checkApart, localOf, mappingsOf, remoteOf, type TopicMapping } from '../configuration/mqtt.ts';

/** A bridge from AWS IoT Core in a deployment: one IoT rule for each mapping. */
export interface IotCoreSource extends BridgeCommon {
  readonly in: readonly TopicMapping[];
}

/** One bridge of a file of bridges, as JSON. Fields that only the node needs are allowed. */
export interface GivenIotCoreBridge {
  readonly name: string;
  readonly tenant?: string;
  readonly hopsMax?: number;
  /** Fields of the node that tell where IoT Core is: a deployment uses the IoT Core of its own account and Region. */
  readonly iotCore: object;
  readonly in: readonly {
    readonly filter: string;
    readonly localPrefix?: string;
    readonly remotePrefix?: string;
    readonly qos?: 0 | 1;
    readonly retain?: boolean;
  }[];
}

/**
 * Reads the bridges of a deployment from AWS IoT Core.
 *
 * @throws {ConfigurationError} that names the place; also for fields that a deployment does not support
 */
export function readIotCoreSources(list: unknown, where: string): readonly IotCoreSource[] {
  if (!Array.isArray(list) || list.length === 0 || list.length > BRIDGES_MAX)
    throw new ConfigurationError(`${where} has to be a list of 1 to ${BRIDGES_MAX} bridges.`);
  const sources = list.map((each, index) => readSource(each, `${where}[${index}]`));
  for (const [index, source] of sources.entries())
    for (const earlier of sources.slice(0, index)) checkDistinct(source, earlier, `${where}[${index}]`);
  return sources;
}

function readSource(value: unknown, where: string): IotCoreSource {
  const fields = new Fields(value, where, [...COMMON_FIELDS, 'iotCore', 'in', 'out']);
  if ((fields.list('out') ?? []).length > 0)
    fields.fail('out', 'is for the node: messages of a deployment leave for IoT Core by a rule.');
  const into = mappingsOf(fields, 'in');
  if (into.length === 0) fields.fail('in', 'is empty: nothing would come.');
  checkApart(into, `${where}.in`, localOf);
  checkApart(into, `${where}.in`, remoteOf);
  checkTopics(fields, 'in', into);
  // The SQL of the rule has the filter in apostrophes.
  const quoted = into.findIndex((mapping) => remoteOf(mapping).includes("'"));
  if (quoted !== -1)
    fields.fail(`in[${quoted}]`, 'has an apostrophe, which the SQL of an IoT rule does not take.');
  return { ...readCommon(fields), in: into };
}

/** A message carries its topic, but not the rule that selected it. */
function checkDistinct(source: IotCoreSource, earlier: IotCoreSource, where: string): void {
  if (source.name === earlier.name)
    throw new ConfigurationError(`${where}.name: there are two "${source.name}".`);
  for (const one of source.in) {
    const other = earlier.in.find((each) => intersects(remoteOf(each), remoteOf(one)));
    if (other === undefined) continue;
    throw new ConfigurationError(
      `${where} has topics of IoT Core in common with "${earlier.name}": ${remoteOf(one)} and ${remoteOf(other)}.`,
    );
  }
}

/**
 * The SQL of the IoT rule of a mapping, of version 2016-03-23. A payload need not be JSON, so the SQL encodes it in
 * base64. The SQL returns only the user properties that it names.
 * https://docs.aws.amazon.com/iot/latest/developerguide/binary-payloads.html and …/iot-sql-functions.html
 */
export function iotRuleSql(mapping: TopicMapping): string {
  const columns = [
    "encode(*, 'base64') AS payload",
    'topic() AS topic',
    "get_user_properties('apus-bridge-hops') AS hops",
    "get_mqtt_property('content_type') AS contentType",
  ];
  return `SELECT ${columns.join(', ')} FROM '${remoteOf(mapping)}'`;
}

/** The event of the function. */
export function iotCoreSourcesJson(bridges: readonly GivenIotCoreBridge[]): string {
  return JSON.stringify(
    bridges.map(({ name, tenant, hopsMax, in: into }) => ({ name, tenant, hopsMax, in: into })),
  );
}
