import { ConfigurationError, Fields } from '@apus/identity';
import { intersects, type QoS, validateTopicFilter } from '@apus/mqtt';
import type { BridgeCommon } from './common.ts';
import { countOf, qosOf } from './numbers.ts';
import { type Place, secretOf } from './place.ts';
import { type TlsConfiguration, tlsOf } from './tls.ts';

/** Topics that cross in one direction: the prefix of the one side is replaced by the prefix of the other. */
export interface TopicMapping {
  readonly filter: string;
  readonly localPrefix: string;
  readonly remotePrefix: string;
  /** The highest QoS at which messages cross. */
  readonly qos: QoS;
  /** Whether the RETAIN flag crosses. */
  readonly retain: boolean;
}

/** Limits of the other broker that its CONNACK does not state. */
export interface RemoteTraits {
  /**
   * Whether the other broker supports "no local". Without it a client that subscribes to its own topics gets its own
   * messages back, and the bridge has to recognise them.
   */
  readonly honoursNoLocal: boolean;
  /** Whether 0x97 Quota exceeded concerns the rate: then the bridge sends the message again. */
  readonly isQuotaTemporary: boolean;
  /** Most topic filters in one SUBSCRIBE. */
  readonly topicFiltersMax: number;
  readonly topicSlashesMax: number;
  readonly topicBytesMax: number;
  readonly payloadBytesMax: number;
}

const BY_THE_BOOK: RemoteTraits = {
  honoursNoLocal: true,
  isQuotaTemporary: false,
  topicFiltersMax: Number.POSITIVE_INFINITY,
  topicSlashesMax: Number.POSITIVE_INFINITY,
  topicBytesMax: Number.POSITIVE_INFINITY,
  payloadBytesMax: Number.POSITIVE_INFINITY,
};

/** A bridge to another MQTT broker. */
export interface MqttBridgeConfiguration extends BridgeCommon {
  readonly kind: 'mqtt';
  readonly url: string;
  readonly protocolVersion: 4 | 5;
  /** The client identifier at the other broker, where the session outlives a connection. */
  readonly clientId: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly keepAliveSeconds: number;
  /** How long either broker keeps messages that wait for the other side. */
  readonly sessionExpirySeconds: number;
  /** MQTT 3.1.1 with the bit that asks Mosquitto not to send back the bridge's own messages. */
  readonly isBridgeMode: boolean;
  readonly tls: TlsConfiguration | undefined;
  /** The ALPN protocol for a TLS server that serves several protocols at one port. */
  readonly alpnProtocol: string | undefined;
  /** The WebSocket URL is signed for AWS, with the credentials that the AWS SDK finds. */
  readonly signing: { readonly region: string } | undefined;
  readonly traits: RemoteTraits;
  readonly in: readonly TopicMapping[];
  readonly out: readonly TopicMapping[];
}

const CONNECTION_FIELDS = [
  ...['url', 'version', 'clientId', 'username', 'password', 'keepAliveSeconds', 'sessionExpirySeconds'],
  ...['bridgeMode', 'tls'],
];
const MAPPING_FIELDS = ['filter', 'localPrefix', 'remotePrefix', 'qos', 'retain'];
const PROTOCOLS = ['mqtt:', 'mqtts:', 'ws:', 'wss:'];
const VERSIONS = new Map<unknown, 4 | 5>([
  ['3.1.1', 4],
  ['5', 5],
  [undefined, 5],
]);
/** The broker's own limit, `sessionExpirySecondsMax`, may be lower. */
const EXPIRY_SECONDS = 7 * 24 * 60 * 60;
const SECONDS_MAX = 0xffff_fffe;

export function readMqttBridge(fields: Fields, common: BridgeCommon, place: Place): MqttBridgeConfiguration {
  const connection = new Fields(fields.raw('mqtt'), `${fields.where}.mqtt`, CONNECTION_FIELDS);
  const url = urlOf(connection);
  const protocolVersion = VERSIONS.get(connection.raw('version'));
  const tls = tlsOf(connection, place);
  if (protocolVersion === undefined) return connection.fail('version', 'has to be "3.1.1" or "5".');
  if (tls !== undefined && !/^(mqtts|wss):/.test(url))
    connection.fail('tls', 'is for a URL that begins with mqtts: or wss:.');
  const isBridgeMode = connection.flag('bridgeMode') ?? false;
  if (isBridgeMode && protocolVersion === 5)
    connection.fail('bridgeMode', 'is for MQTT 3.1.1: in MQTT 5 "no local" does the same.');
  const bridge: MqttBridgeConfiguration = {
    ...common,
    kind: 'mqtt',
    ...{
      url,
      protocolVersion,
      isBridgeMode,
      tls,
      alpnProtocol: undefined,
      signing: undefined,
      traits: BY_THE_BOOK,
    },
    clientId: connection.text('clientId') ?? `apus-${common.name}`,
    username: connection.text('username'),
    password: secretOf(connection, 'password', place),
    keepAliveSeconds: countOf(connection, 'keepAliveSeconds', 5, 0xffff, 60),
    sessionExpirySeconds: countOf(connection, 'sessionExpirySeconds', 1, SECONDS_MAX, EXPIRY_SECONDS),
    in: mappingsOf(fields, 'in'),
    out: mappingsOf(fields, 'out'),
  };
  checkMappings(bridge, fields);
  return bridge;
}

function urlOf(fields: Fields): string {
  const text = fields.requiredText('url', 'where the other broker is, as mqtts://broker.example:8883.');
  const url = URL.parse === undefined ? parse(text) : URL.parse(text);
  if (url === null || !PROTOCOLS.includes(url.protocol) || url.hostname === '')
    return fields.fail('url', 'has to be a URL that begins with mqtt:, mqtts:, ws: or wss:.');
  if (url.username !== '' || url.password !== '')
    fields.fail('url', 'has no user and password in it: they have fields of their own.');
  return text;
}

/** Node.js 20 has no `URL.parse`. */
function parse(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

export function mappingsOf(fields: Fields, name: 'in' | 'out'): readonly TopicMapping[] {
  const list = fields.list(name) ?? [];
  return list.map((each, index) =>
    mappingOf(new Fields(each, `${fields.where}.${name}[${index}]`, MAPPING_FIELDS)),
  );
}

function mappingOf(fields: Fields): TopicMapping {
  const mapping = {
    filter: fields.requiredText('filter', 'the topics that cross, as sensors/#.'),
    localPrefix: prefixOf(fields, 'localPrefix'),
    remotePrefix: prefixOf(fields, 'remotePrefix'),
    qos: qosOf(fields, 1),
    retain: fields.flag('retain') ?? true,
  };
  for (const side of [localOf(mapping), remoteOf(mapping)]) {
    const invalid = validateTopicFilter(side);
    if (invalid !== undefined) fields.fail('filter', `cannot be behind its prefix. ${invalid.reason}.`);
    if (side.startsWith('$share/')) fields.fail('filter', 'has to be without $share.');
  }
  if (localOf(mapping).startsWith('$'))
    fields.fail('localPrefix', "leads to a topic that begins with $: these are the broker's own.");
  return mapping;
}

function prefixOf(fields: Fields, name: 'localPrefix' | 'remotePrefix'): string {
  const value = fields.raw(name);
  if (value === undefined || value === '') return '';
  const text = fields.text(name) ?? '';
  if (/[+#\0]/.test(text)) fields.fail(name, 'has no wildcards and no U+0000.');
  return text;
}

export function localOf({ localPrefix, filter }: TopicMapping): string {
  return localPrefix + filter;
}

export function remoteOf({ remotePrefix, filter }: TopicMapping): string {
  return remotePrefix + filter;
}

export function checkMappings(bridge: MqttBridgeConfiguration, fields: Fields): void {
  if (bridge.in.length + bridge.out.length === 0)
    fields.fail('in', 'and "out" are empty: nothing would cross.');
  for (const name of ['in', 'out'] as const) {
    checkApart(bridge[name], `${fields.where}.${name}`, localOf);
    checkApart(bridge[name], `${fields.where}.${name}`, remoteOf);
  }
  if (bridge.protocolVersion === 5 || bridge.isBridgeMode) return;
  for (const [index, out] of bridge.out.entries()) {
    const back = bridge.in.find((mapping) => intersects(remoteOf(mapping), remoteOf(out)));
    if (back === undefined) continue;
    throw new ConfigurationError(
      `${fields.where}.out[${index}] and "in" would send messages round: ${remoteOf(out)} goes there, and ` +
        `${remoteOf(back)} comes back. Use other prefixes, "version": "5", or "bridgeMode": true.`,
    );
  }
}

/**
 * A message that matches two mappings would cross twice. A topic that is the target of two topics could not be mapped
 * back.
 */
export function checkApart(
  mappings: readonly TopicMapping[],
  where: string,
  side: (mapping: TopicMapping) => string,
): void {
  for (const [index, one] of mappings.entries()) {
    const other = mappings.findIndex((each, at) => at < index && intersects(side(each), side(one)));
    if (other === -1) continue;
    const which = side === localOf ? 'here' : 'at the other broker';
    throw new ConfigurationError(
      `${where}[${index}] has topics in common with ${where}[${other}]: ${side(one)} and ` +
        `${side(mappings[other] ?? one)} ${which}.`,
    );
  }
}
